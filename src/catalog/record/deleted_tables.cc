#include "catalog/record/deleted_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

#include "base/bytes.h"

namespace sonde {
namespace {

constexpr int kDeletedRecordVersion = 1;

std::string DeletedKey(TableId id) { return fmt::format("{}{}", DeletedTables::kRecordPrefix, id); }

absl::StatusOr<DeletedTable> DecodeDeletedTable(std::string_view bytes) {
  try {
    const nlohmann::json j = nlohmann::json::parse(bytes);
    if (j.at("version").get<int>() != kDeletedRecordVersion) throw std::invalid_argument("unknown version");
    absl::StatusOr<TableRecord> record = DecodeTableRecord(j.at("table").dump());
    if (!record.ok()) return record.status();
    return DeletedTable{*std::move(record), j.at("deleted_micros").get<int64_t>()};
  } catch (const std::exception& e) {
    return absl::DataLossError(
        fmt::format("The record of a deleted table is damaged ({}): {}", e.what(), Printable(bytes)));
  }
}

// The order of deletions.  Ids break ties: a table that was made later was deleted later.
bool IsDeletedBefore(const DeletedTableRef& a, const DeletedTableRef& b) {
  return std::pair(a->deleted_micros, a->record.schema.id) <
         std::pair(b->deleted_micros, b->record.schema.id);
}

}  // namespace

absl::Status DeletedTables::Load(const std::vector<Record>& records) {
  for (const Record& record : records) {
    absl::StatusOr<DeletedTable> table = DecodeDeletedTable(record.value);
    if (!table.ok()) return table.status();
    Put(std::make_shared<const DeletedTable>(*std::move(table)));
  }
  return absl::OkStatus();
}

DeletedTableRef DeletedTables::FindLast(std::string_view table_name) const {
  // The table with the greatest id of a name was made last, and deleted last: the others of the name must have gone before it could
  // be made.  A clock that is set back does not matter.
  for (auto at = tables_.rbegin(); at != tables_.rend(); ++at) {
    if (at->second->record.schema.name == table_name) return at->second;
  }
  return nullptr;
}

DeletedTableRef DeletedTables::FindById(TableId id) const {
  const auto at = tables_.find(id);
  return at == tables_.end() ? nullptr : at->second;
}

std::vector<DeletedTableRef> DeletedTables::List() const {
  std::vector<DeletedTableRef> all;
  for (const auto& [id, table] : tables_) all.push_back(table);
  std::sort(all.begin(), all.end(), IsDeletedBefore);
  return all;
}

void DeletedTables::Put(DeletedTableRef table) {
  const TableId id = table->record.schema.id;
  tables_[id] = std::move(table);
}

void DeletedTables::Erase(TableId id) { tables_.erase(id); }

RecordChange DeletedTables::RecordOf(const DeletedTable& table) {
  const nlohmann::json record = {{"version", kDeletedRecordVersion},
                                 {"deleted_micros", table.deleted_micros},
                                 {"table", nlohmann::json::parse(EncodeTableRecord(table.record))}};
  return {DeletedKey(table.record.schema.id), record.dump()};
}

RecordChange DeletedTables::NoRecordOf(TableId id) { return {DeletedKey(id), std::nullopt}; }

}  // namespace sonde
