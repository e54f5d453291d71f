// Which rows: those of a range of time, those that have a value, all of them by time, the first few.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rows/batch.h"
#include "rows/work_check.h"

namespace sonde::rows {

// Rows [begin, end) of a batch.
struct RowSpan {
  size_t begin = 0;
  size_t end = 0;

  size_t size() const { return end - begin; }
};

// The rows whose times are in [from_micros, to_micros).  `times_micros` descend without repeating, as the
// cells of a column do.
RowSpan RowsInTime(absl::Span<const int64_t> times_micros, int64_t from_micros, int64_t to_micros);

// The rows that have a value in one of the columns from `first_column` on, ascending.
std::vector<size_t> RowsWithValues(const Batch& batch, size_t first_column);

// The rows in the order in which times ascend; rows of one time stay in their order.  Times mostly come in
// stretches that ascend already: these are merged, in O(n log(stretches)).  Errors: those of `check`.
absl::StatusOr<std::vector<size_t>> OrderByTime(absl::Span<const int64_t> times_micros, WorkCheck* check);

// Replaces *out by these rows of `batch`, in this order.  The columns of *out are the columns of `batch` from
// `first_column` on.
void TakeRows(const Batch& batch, absl::Span<const size_t> rows, size_t first_column, HeldBatch* out);

// Lets so many rows through, and no more.  Not for several threads.
class Limit {
 public:
  explicit Limit(size_t rows_max) : left_(rows_max) {}

  // How many of the next `rows` rows come through; these are the first ones.
  size_t Take(size_t rows) {
    const size_t taken = std::min(rows, left_);
    left_ -= taken;
    return taken;
  }
  bool IsReached() const { return left_ == 0; }

 private:
  size_t left_;
};

}  // namespace sonde::rows
