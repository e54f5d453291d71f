#include "cli/store/check_cluster.h"

#include <fmt/format.h>

#include <memory>

#include "base/bytes.h"
#include "catalog/record/deleted_tables.h"
#include "catalog/record/record_keys.h"
#include "catalog/record/table_record.h"
#include "hbase/client.h"

namespace sonde {

RecordedTables TablesOfRecords(const std::vector<Record>& records) {
  RecordedTables recorded;
  const auto add = [&](const TableSchema& schema) {
    RecordedTables::Table& table = recorded.tables[schema.id];
    table.name = schema.name;
    for (const FamilySchema& family : schema.families) table.families.insert(family.id);
  };
  for (const Record& record : records) {
    if (record.key.starts_with(kTablePrefix)) {
      const absl::StatusOr<TableRecord> table = DecodeTableRecord(record.value);
      if (table.ok()) {
        add(table->schema);
      } else {
        recorded.faults.push_back(fmt::format("Record '{}' cannot be read: {}", Printable(record.key),
                                              std::string(table.status().message())));
      }
    } else if (record.key.starts_with(DeletedTables::kRecordPrefix)) {
      DeletedTables deleted;
      if (absl::Status status = deleted.Load({record}); !status.ok()) {
        recorded.faults.push_back(fmt::format("Record '{}' cannot be read: {}", Printable(record.key),
                                              std::string(status.message())));
      }
      for (const DeletedTableRef& table : deleted.List()) add(table->record.schema);
    }
  }
  return recorded;
}

absl::StatusOr<StoreCheck> CheckCluster(const std::string& store, const hbase::TlsToServers& tls) {
  const absl::StatusOr<HBaseStoreAddress> address = ParseHBaseStore(store);
  if (!address.ok()) return address.status();
  const absl::StatusOr<std::optional<hbase::TlsToServers>> store_tls = StoreTlsOf("--store-tls", tls);
  if (!store_tls.ok()) return store_tls.status();
  const absl::StatusOr<std::unique_ptr<hbase::Client>> client =
      hbase::Client::Create({.roots = address->masters, .tls = *store_tls});
  if (!client.ok()) return client.status();
  return CheckStore(client->get(), *address, TablesOfRecords, absl::InfiniteFuture());
}

}  // namespace sonde
