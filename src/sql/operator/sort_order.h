// The order of rows by some columns.
//
// Order: as ORDER BY: of each key ascending or descending, with NULL first or last; NaN is less than all numbers.  Rows whose
//   keys are equal stay in their order.
// Cost: O(rows log rows) comparisons, most of them of 8 bytes of the first key; less where rows come in stretches that are in
//   order already.  16 bytes a row besides the result, while it works.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/column.h"
#include "rows/work_check.h"

namespace sonde::sql {

// What a row takes in SortOrder and its result.
constexpr size_t kOrderBytesOfRow = 40;

struct SortColumn {
  ColumnView values;
  bool descending = false;
  bool nulls_first = true;
};

// Less than 0: row a of `columns_a` comes before row b of `columns_b`; 0: their keys are equal.
int CompareRows(absl::Span<const SortColumn> columns_a, size_t a, absl::Span<const SortColumn> columns_b,
                size_t b);

// Numbers that are ordered as the values of a key are, but that some unequal values share one.
uint64_t PrefixOf(const SortColumn& column, size_t row);

// The rows [0, rows) in their order.  Errors: those of `check`.
absl::StatusOr<std::vector<size_t>> SortOrder(absl::Span<const SortColumn> columns, size_t rows,
                                              rows::WorkCheck* check);

}  // namespace sonde::sql
