#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "sql/function/column_of_datums.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/math_families.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

bool IsNanDatum(const Datum& value) { return value.kind == Datum::Kind::kDouble && std::isnan(value.number); }

// The greatest or least of the values of a row.  A NULL or, if there is none, a NaN among them is the result; of equal values the
// first.
template <bool kGreatest>
Datum ExtremeInRow(absl::Span<const ColumnView> arguments, size_t row) {
  Datum best;
  bool is_first = true;
  for (const ColumnView& column : arguments) {
    const Datum value = DatumAt(column, row);
    if (!value.is_there) return value;
    if (is_first || (!IsNanDatum(best) && IsNanDatum(value))) {
      best = value;
    } else if (!IsNanDatum(best)) {
      const int order = Compare(value, best);
      if (kGreatest ? order > 0 : order < 0) best = value;
    }
    is_first = false;
  }
  return best;
}

template <bool kGreatest>
ColumnView ExtremeOfRow(Call& call, absl::Span<const ColumnView> arguments) {
  auto* const results = call.arena()->New<Datum>(call.rows());
  for (size_t row = 0; row < call.rows(); ++row) results[row] = ExtremeInRow<kGreatest>(arguments, row);
  return ColumnOfDatums(call.result_type(), {results, call.rows()}, call.arena());
}

// How many values of the array, which ascend, are not greater than the point.
absl::StatusOr<std::optional<int64_t>> RangeBucket(Call&, Datum point, absl::Span<const Datum> bounds) {
  if (IsNanDatum(point)) return std::optional<int64_t>();
  for (size_t i = 0; i < bounds.size(); ++i) {
    const bool ascends =
        bounds[i].is_there && !IsNanDatum(bounds[i]) && (i == 0 || Compare(bounds[i - 1], bounds[i]) <= 0);
    if (!ascends && i == 0) {
      const bool is_null = !bounds[i].is_there;
      return absl::OutOfRangeError(
          fmt::format("Elements in input array to RANGE_BUCKET cannot be {}. {} element found at position 1",
                      is_null ? "null" : "NaN", is_null ? "Null" : "NaN"));
    }
    if (!ascends) {
      return absl::OutOfRangeError(
          fmt::format("Elements in input array to RANGE_BUCKET must be in ascending order. "
                      "Nonconforming elements found at position {} and {}",
                      i, i + 1));
    }
  }
  int64_t count = 0;
  while (count < static_cast<int64_t>(bounds.size()) && Compare(bounds[count], point) <= 0) ++count;
  return std::optional<int64_t>(count);
}

}  // namespace

std::vector<Function> ExtremeFunctions() {
  return {
      {.name = "GREATEST",
       .overloads = {Scalar("(T1:ORDERABLE, T1...) -> T1", ExtremeOfRow<true>)},
       .meaning =
           "The greatest of several values.  NULL if one of them is NULL, else NaN if one of them is NaN.",
       .examples = {"GREATEST(3, 5, 1)"}},
      {.name = "LEAST",
       .overloads = {Scalar("(T1:ORDERABLE, T1...) -> T1", ExtremeOfRow<false>)},
       .meaning =
           "The least of several values.  NULL if one of them is NULL, else NaN if one of them is NaN.",
       .examples = {"LEAST('b', 'a')"}},
      {.name = "RANGE_BUCKET",
       .overloads = {Scalar("(T1:ORDERABLE, ARRAY<T1>) -> INT64", RowKernel<RangeBucket>)},
       .meaning = "How many elements of an array, which ascend, are not greater than the value.",
       .examples = {"RANGE_BUCKET(20, [0, 10, 20, 30])"}},
  };
}

}  // namespace sonde::sql
