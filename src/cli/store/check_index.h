// The part of `sonde check` that compares the index of each series that is indexed (open ones, and those declared with `index: yes`) with
// the rows of the series.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "model/table_access.h"

namespace sonde {

struct IndexCheck {
  int64_t series_count = 0;  // that are indexed
  int64_t rows_count = 0;    // of them
  // A line each: what an index lacks though it says that it has all of its series, and cells that are damaged.
  std::vector<std::string> faults;
  // A line each: series of which all rows are read, since their index does not have all of them.
  std::vector<std::string> notices;
};

// Reads all rows of these series.  Nothing is written.  `tell`: a line, now and then.  Errors: those of the tables, but for
// DATA_LOSS, which is a fault.
absl::StatusOr<IndexCheck> CheckIndexes(TableAccess* tables,
                                        const std::function<void(const std::string& line)>& tell);

}  // namespace sonde
