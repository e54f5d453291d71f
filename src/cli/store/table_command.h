// `sonde table`: deleted tables of a data directory that no server uses: which are kept for UndeleteTable, and dropping them now.
//
// Errors: those of the catalog.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "table/tables.h"

namespace sonde {

struct DeletedTableFacts {
  std::string name;  // projects/P/instances/I/tables/T
  TableId id = 0;
  int64_t deleted_micros = 0;  // since 1970
  uint64_t bytes = 0;          // about
};

// Those that were deleted first in front.
absl::StatusOr<std::vector<DeletedTableFacts>> ListDeletedTables(Tables* tables);

// Drops the deleted tables of these names; `is_all`: every one.  Returns how many there were.  NOT_FOUND: none of them has one of
// the names; nothing is dropped then.
absl::StatusOr<size_t> PurgeDeletedTables(Tables* tables, const std::vector<std::string>& names, bool is_all);

}  // namespace sonde
