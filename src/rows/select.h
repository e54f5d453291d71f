// Which rows: those of a range of time, those that have a value, all of them by time, the first few.
#pragma once

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

// The rows whose times are in [from_micros, to_micros).  `times_micros` descend, each once: as cells of a
// column do.
RowSpan RowsInTime(absl::Span<const int64_t> times_micros, int64_t from_micros, int64_t to_micros);

// The rows that have a value in one of the columns from `first_column` on, ascending.
std::vector<size_t> RowsWithValues(const Batch& batch, size_t first_column);

// The rows in the order in which times ascend; rows of one time stay in their order.  Times mostly come in
// stretches that ascend already, which are merged.  An error of `check` ends it.
absl::StatusOr<std::vector<size_t>> OrderByTime(absl::Span<const int64_t> times_micros, WorkCheck* check);

// Takes these rows of `batch`, in this order.  Replaces *out, whose columns are those of `batch` from
// `first_column` on.
void TakeRows(const Batch& batch, absl::Span<const size_t> rows, size_t first_column, HeldBatch* out);

// Lets the first rows through.  Not for several threads.
class Limit {
 public:
  explicit Limit(size_t rows_max) : left_(rows_max) {}

  // Cuts off what is too much.  False: it has all rows that it wants.
  bool Take(Batch* batch) {
    if (batch->rows > left_) batch->Cut(0, left_);
    left_ -= batch->rows;
    return left_ > 0;
  }

 private:
  size_t left_;
};

}  // namespace sonde::rows
