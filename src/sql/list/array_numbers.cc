// Sums, means and extremes of the elements of an array.
#include <cmath>
#include <optional>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/statusor.h"
#include "base/wide_int.h"
#include "model/column.h"
#include "sql/function/column_of_datums.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/list/array_families.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

absl::StatusOr<std::optional<int64_t>> SumOfInts(Call&, List array) {
  absl::int128 sum = 0;
  bool is_there = false;
  for (const Datum& item : array) {
    if (!item.is_there) continue;
    sum += item.integer;
    is_there = true;
  }
  if (!is_there) return std::optional<int64_t>();
  if (!IsInt(sum)) return absl::OutOfRangeError("ARRAY_SUM int64 overflow");
  return std::optional<int64_t>(static_cast<int64_t>(sum));
}

absl::StatusOr<std::optional<double>> SumOfDoubles(Call&, List array) {
  long double sum = 0;
  bool is_there = false;
  for (const Datum& item : array) {
    if (!item.is_there) continue;
    sum += item.number;
    is_there = true;
  }
  if (!is_there) return std::optional<double>();
  const auto rounded = static_cast<double>(sum);
  if (std::isfinite(sum) && !std::isfinite(rounded))
    return absl::OutOfRangeError("ARRAY_SUM double overflow");
  return std::optional<double>(rounded);
}

std::optional<double> MeanOfInts(Call&, List array) {
  absl::int128 sum = 0;
  int64_t count = 0;
  for (const Datum& item : array) {
    if (!item.is_there) continue;
    sum += item.integer;
    ++count;
  }
  if (count == 0) return std::nullopt;
  return static_cast<double>(static_cast<long double>(sum) / static_cast<long double>(count));
}

// The mean moves from element to element, so that no sum leaves the range.
std::optional<double> MeanOfDoubles(Call&, List array) {
  long double mean = 0;
  int64_t count = 0;
  for (const Datum& item : array) {
    if (!item.is_there) continue;
    ++count;
    mean += (item.number - mean) / static_cast<long double>(count);
  }
  if (count == 0) return std::nullopt;
  return static_cast<double>(mean);
}

bool IsNan(const Datum& item) {
  return item.is_there && item.kind == Datum::Kind::kDouble && std::isnan(item.number);
}

// NULL does not count; NaN is both the least and the greatest.
template <bool kGreatest>
ColumnView Extreme(Call& call, absl::Span<const ColumnView> arguments) {
  const ColumnView& arrays = arguments[0];
  const size_t rows = call.rows();
  auto* const extremes = call.arena()->New<Datum>(rows);
  for (size_t row = 0; row < rows; ++row) {
    Datum extreme = Datum::Missing();
    if (arrays.IsThere(row)) {
      for (const Datum& item : arrays.lists()[arrays.PlaceOf(row)].list()) {
        if (!item.is_there || IsNan(extreme)) continue;
        const bool is_further = !extreme.is_there || IsNan(item) ||
                                (kGreatest ? Compare(item, extreme) > 0 : Compare(item, extreme) < 0);
        if (is_further) extreme = item;
      }
    }
    extremes[row] = extreme;
  }
  return ColumnOfDatums(call.result_type(), {extremes, rows}, call.arena());
}

}  // namespace

std::vector<Function> ArrayNumberFunctions() {
  std::vector<Function> functions;
  functions.push_back({.name = "ARRAY_AVG",
                       .overloads = {Scalar("(ARRAY<INT64>) -> FLOAT64", RowKernel<MeanOfInts>),
                                     Scalar("(ARRAY<FLOAT32>) -> FLOAT64", RowKernel<MeanOfDoubles>),
                                     Scalar("(ARRAY<FLOAT64>) -> FLOAT64", RowKernel<MeanOfDoubles>)},
                       .meaning = "The mean of the elements that are not NULL; NULL if there is none.",
                       .examples = {"ARRAY_AVG([1, NULL, 2])"}});
  functions.push_back(
      {.name = "ARRAY_MAX",
       .overloads = {Scalar("(ARRAY<T1:ORDERABLE>) -> T1", Extreme<true>)},
       .meaning = "The greatest element that is not NULL; NaN if one is; NULL if there is none.",
       .examples = {"ARRAY_MAX([3, NULL, 1])"}});
  functions.push_back({.name = "ARRAY_MIN",
                       .overloads = {Scalar("(ARRAY<T1:ORDERABLE>) -> T1", Extreme<false>)},
                       .meaning = "The least element that is not NULL; NaN if one is; NULL if there is none.",
                       .examples = {"ARRAY_MIN([3, NULL, 1])"}});
  functions.push_back({.name = "ARRAY_SUM",
                       .overloads = {Scalar("(ARRAY<INT64>) -> INT64", RowKernel<SumOfInts>),
                                     Scalar("(ARRAY<FLOAT32>) -> FLOAT64", RowKernel<SumOfDoubles>),
                                     Scalar("(ARRAY<FLOAT64>) -> FLOAT64", RowKernel<SumOfDoubles>)},
                       .meaning = "The sum of the elements that are not NULL; NULL if there is none.",
                       .examples = {"ARRAY_SUM([1, NULL, 2])"}});
  return functions;
}

}  // namespace sonde::sql
