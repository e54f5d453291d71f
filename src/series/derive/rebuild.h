// Derived tables from the points of their series, written anew.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/schema/schema.h"

namespace sonde::series {

struct RebuildTotals {
  int64_t points = 0;          // that were read
  int64_t rows = 0;            // that were written, of all derived tables but roll-ups
  int64_t pieces = 0;          // of roll-ups
  int64_t pieces_too_old = 0;  // left as they are: a part of their points is forgotten already
};

// Writes the derived tables of `schema` from the points in [from, to).  (To rebuild one table, leave only
// that one in `schema`.)  Existing rows are written over, or stay: a rebuild may be broken off, and begun
// again, at any time, while others write.  A table with rows that the series does not have must be dropped
// first.  `progress` is told now and then what is done.  FAILED_PRECONDITION: as CheckAgainstStored.
absl::StatusOr<RebuildTotals> RebuildDerived(const SeriesSchema& schema, int64_t from_micros,
                                             int64_t to_micros, TableAccess* tables, const Clock& clock,
                                             const std::function<void(const RebuildTotals&)>& progress);

// Roll-ups that writers have left behind when they died; see write/rollup_keeper.h.
absl::StatusOr<RebuildTotals> RefreshStaleRollups(const SeriesSchema& schema, TableAccess* tables,
                                                  const Clock& clock);

}  // namespace sonde::series
