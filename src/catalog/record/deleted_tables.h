// The tables that were deleted and whose rows are kept, so that they can come back: kept as the engine's records and served
// from memory.  They belong to the catalog.  Several of them may have had one name.
//
// Threads: it has no lock of its own; the catalog locks.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "catalog/record/table_record.h"
#include "engine/record_store.h"

namespace sonde {

// Shared and never changed.
struct DeletedTable {
  TableRecord record;          // as it was when the table was deleted
  int64_t deleted_micros = 0;  // since 1970
};
using DeletedTableRef = std::shared_ptr<const DeletedTable>;

class DeletedTables {
 public:
  static constexpr std::string_view kRecordPrefix = "deleted/";  // + table id

  // Loads the tables from all of their records.  DATA_LOSS: a record is damaged.
  absl::Status Load(const std::vector<Record>& records);

  // Returns the one that was deleted last of all that had this name; null: there is none.
  DeletedTableRef FindLast(std::string_view table_name) const;
  // Returns null if there is none.
  DeletedTableRef FindById(TableId id) const;
  // Returns all, those that were deleted first at the front.
  std::vector<DeletedTableRef> List() const;
  size_t size() const { return tables_.size(); }
  // The id that no table here has, nor a greater one.
  TableId NextId() const { return tables_.empty() ? 1 : tables_.rbegin()->first + 1; }

  void Put(DeletedTableRef table);
  void Erase(TableId id);

  static RecordChange RecordOf(const DeletedTable& table);
  static RecordChange NoRecordOf(TableId id);

 private:
  std::map<TableId, DeletedTableRef> tables_;
};

}  // namespace sonde
