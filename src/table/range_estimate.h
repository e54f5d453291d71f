// About how much lies in ranges of a table, without reading it all.
//
// The first rows are counted by their keys.  Where they are not all, the bytes of the ranges, as the engine measures them
// (engine/range_sizes.h), say how many times as many rows there are.  So the estimate is exact for up to kRowsCounted rows, and
// else as good as the first rows stand for the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "engine/engine.h"
#include "model/cell.h"
#include "model/row_range.h"

namespace sonde {

struct RangeEstimate {
  static constexpr size_t kRowsCounted = 1'000;
  // The ranges of a call that are measured; if there are more, the others count as these do.
  static constexpr size_t kRangesMeasured = 64;
  // Rows take so long to count at most, about.
  static constexpr absl::Duration kCountedFor = absl::Milliseconds(5);

  double rows = 0;        // also of rows whose cells are no longer to be seen
  bool is_exact = false;  // all rows were counted
};

// `ranges`: in normal form.  Nothing: the engine cannot tell sizes, or it tells that there is nothing where rows were counted.
// Errors: those of the engine.
absl::StatusOr<std::optional<RangeEstimate>> EstimateRanges(Engine* engine, TableId table,
                                                            const std::vector<RowRange>& ranges);

}  // namespace sonde
