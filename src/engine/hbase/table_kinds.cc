#include "engine/hbase/table_kinds.h"

#include <utility>
#include <vector>

#include "engine/hbase/store_layout.h"

namespace sonde {

TableKinds::TableKinds(hbase::Client* client, std::string space)
    : client_(client), space_(std::move(space)) {}

absl::Status TableKinds::Load(absl::Time deadline) {
  const absl::StatusOr<std::vector<hbase::TableSchema>> schemas = client_->tables()->List(space_, deadline);
  if (!schemas.ok()) return schemas.status();
  const absl::MutexLock lock(&mutex_);
  for (const hbase::TableSchema& schema : *schemas) {
    if (const auto id = CellsTableId(schema.table); id.has_value()) known_[*id] = StorageOf(schema);
  }
  return absl::OkStatus();
}

absl::StatusOr<CellStorage> TableKinds::Of(TableId table, absl::Time deadline) {
  {
    const absl::ReaderMutexLock lock(&mutex_);
    const auto known = known_.find(table);
    if (known != known_.end()) return known->second;
  }
  const absl::StatusOr<hbase::TableSchema> schema =
      client_->tables()->Describe(CellsTable(space_, table), deadline);
  if (!schema.ok()) return schema.status();
  const absl::MutexLock lock(&mutex_);
  return known_[table] = StorageOf(*schema);
}

void TableKinds::Forget(TableId table) {
  const absl::MutexLock lock(&mutex_);
  known_.erase(table);
}

}  // namespace sonde
