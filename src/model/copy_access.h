// Tables as `sonde copy` uses them: TableAccess, and what a table is beside its rows.
//
// Threads and errors: as TableAccess.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "model/table_schema.h"

namespace sonde {

class CopyAccess : public TableAccess {
 public:
  struct Described {
    TableSchema schema;                 // with its short name, and without ids
    std::vector<std::string> left_out;  // settings that `schema` does not have, in words: "its change stream"
  };
  // NOT_FOUND: there is no such table.
  virtual absl::StatusOr<Described> Describe(const std::string& table) = 0;

  // Makes a table as Describe gave it, under the schema's name.  Returns the settings that this place cannot take from here, in
  // words.  ALREADY_EXISTS: there is such a table.
  virtual absl::StatusOr<std::vector<std::string>> Create(const TableSchema& schema) = 0;

  // As MutateRows, but cells of the families of `merged`, which are aggregates, are states that are merged into what is there.  So a
  // row with such cells gives the same result when it is written again only if it deletes their columns first.
  virtual absl::StatusOr<std::vector<absl::Status>> MergeRows(const std::string& table,
                                                              const std::vector<RowWrite>& rows,
                                                              const std::set<std::string>& merged) = 0;

 protected:
  using TableAccess::TableAccess;
};

}  // namespace sonde
