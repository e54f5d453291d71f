// Which rows of a table have changed since a position of its change log (engine/row_log.h).
//
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "engine/row_log.h"
#include "model/cell.h"
#include "sql/view/definition.h"

namespace sonde::sql {

struct ChangedRows {
  std::set<std::string> keys;
  std::set<std::string> deleted;  // some of `keys`: `columns` were deleted whole in one change
  // All changes after `after` and up to here are of these keys.
  int64_t through = 0;
  bool has_more = false;  // there may be more at once
};

// Looks at a bounded number of records, and gives at most `keys_max` keys.  `now_micros`: as RowLog::FindEnd's frontier_min.
// `columns`: of which it is to be known whether people delete them all, as with their row; none: nothing is.
// Errors: those of the log; DATA_LOSS: a record is damaged.
absl::StatusOr<ChangedRows> ReadChangedRows(RowLog* log, TableId table, int64_t after, size_t keys_max,
                                            int64_t now_micros,
                                            absl::Span<const ViewDefinition::SourceColumn> columns = {});

}  // namespace sonde::sql
