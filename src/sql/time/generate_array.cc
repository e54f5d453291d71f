#include "sql/time/generate_array.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/datum.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/time/calendar.h"
#include "sql/time/time_functions.h"
#include "sql/time/time_state.h"

namespace sonde::sql {
namespace {

using List = absl::Span<const Datum>;

absl::Status TooMany() {
  return absl::OutOfRangeError(
      fmt::format("Cannot generate arrays with more than {} elements.", kGeneratedElementsMax));
}
absl::Status ZeroStep() { return absl::OutOfRangeError("Sequence step cannot be 0."); }

absl::Status AskForElements(const Call& call, size_t count) {
  if (count <= kGeneratedElementsFree || call.facts().hold == nullptr) return absl::OkStatus();
  return call.facts().hold(count * sizeof(Datum));
}

absl::StatusOr<List> Kept(Call& call, const std::vector<Datum>& items) {
  if (absl::Status status = AskForElements(call, items.size()); !status.ok()) return status;
  auto* const kept = call.arena()->New<Datum>(items.size());
  std::copy(items.begin(), items.end(), kept);
  return List(kept, items.size());
}

// start, start + step, ... up to end.
absl::StatusOr<List> IntsFromTo(Call& call, int64_t start, int64_t end, int64_t step) {
  if (step == 0) return ZeroStep();
  if (step > 0 ? start > end : start < end) return List();
  const uint64_t distance = step > 0 ? static_cast<uint64_t>(end) - static_cast<uint64_t>(start)
                                     : static_cast<uint64_t>(start) - static_cast<uint64_t>(end);
  const uint64_t width = step > 0 ? static_cast<uint64_t>(step) : -static_cast<uint64_t>(step);
  const uint64_t steps = distance / width;
  if (steps >= kGeneratedElementsMax) return TooMany();
  if (absl::Status status = AskForElements(call, steps + 1); !status.ok()) return status;
  auto* const items = call.arena()->New<Datum>(steps + 1);
  for (uint64_t i = 0; i <= steps; ++i) {
    items[i] =
        Datum::Int(static_cast<int64_t>(static_cast<uint64_t>(start) + i * static_cast<uint64_t>(step)));
  }
  return List(items, steps + 1);
}
absl::StatusOr<List> Ints(Call& call, int64_t start, int64_t end) { return IntsFromTo(call, start, end, 1); }

absl::StatusOr<List> DoublesFromTo(Call& call, double start, double end, double step) {
  if (step == 0) return ZeroStep();
  if (std::isnan(start) || std::isnan(end) || std::isnan(step)) {
    return absl::OutOfRangeError("Sequence start, end, and step cannot be NaN.");
  }
  if (std::isinf(step)) return absl::OutOfRangeError("Sequence step cannot be +/-inf.");
  if (std::isinf(start) && start == end) return Kept(call, {Datum::Double(start)});
  if ((end - start) / step >= static_cast<double>(kGeneratedElementsMax)) return TooMany();
  std::vector<Datum> items;
  for (size_t i = 0;; ++i) {
    const double number = start + static_cast<double>(i) * step;
    if (step > 0 ? number > end : number < end) break;
    if (items.size() == kGeneratedElementsMax) return TooMany();
    items.push_back(Datum::Double(number));
  }
  return Kept(call, items);
}
absl::StatusOr<List> Doubles(Call& call, double start, double end) {
  return DoublesFromTo(call, start, end, 1);
}

absl::StatusOr<List> Dates(Call& call, int64_t start, int64_t end, int64_t count, std::string_view text) {
  const absl::StatusOr<DatePart> part = call.state<TimeState>().Part("GENERATE_DATE_ARRAY", "DATE", text);
  if (!part.ok()) return part.status();
  if (count == 0) return ZeroStep();
  if (part->kind == DatePartKind::kDay) return IntsFromTo(call, start, end, count);
  std::vector<Datum> items;
  // Each date is made of the one before: behind a short month, days stay early.
  for (std::optional<int64_t> date = start; date.has_value(); date = AddToDate(*part, *date, count)) {
    if (count > 0 ? *date > end : *date < end) break;
    if (items.size() == kGeneratedElementsMax) return TooMany();
    items.push_back(Datum::Int(*date));
  }
  return Kept(call, items);
}
absl::StatusOr<List> DaysFrom(Call& call, int64_t start, int64_t end) {
  return IntsFromTo(call, start, end, 1);
}

absl::StatusOr<List> Timestamps(Call& call, int64_t start, int64_t end, int64_t count,
                                std::string_view text) {
  const absl::StatusOr<DatePart> part =
      call.state<TimeState>().Part("GENERATE_TIMESTAMP_ARRAY", "TIMESTAMP", text);
  if (!part.ok()) return part.status();
  int64_t step = 0;
  // A step that 64 bits do not hold leads beyond every end.
  if (__builtin_mul_overflow(count, *FixedMicros(part->kind), &step)) {
    step = count > 0 ? std::numeric_limits<int64_t>::max() : std::numeric_limits<int64_t>::min();
  }
  return IntsFromTo(call, start, end, step);
}

}  // namespace

Function GenerateArrayFunction() {
  return {.name = "GENERATE_ARRAY",
          .overloads = {Scalar("(INT64, INT64) -> ARRAY<INT64>", RowKernel<Ints>),
                        Scalar("(INT64, INT64, INT64) -> ARRAY<INT64>", RowKernel<IntsFromTo>),
                        Scalar("(FLOAT64, FLOAT64) -> ARRAY<FLOAT64>", RowKernel<Doubles>),
                        Scalar("(FLOAT64, FLOAT64, FLOAT64) -> ARRAY<FLOAT64>", RowKernel<DoublesFromTo>)},
          .meaning =
              "The numbers from the first to the second, in steps of the third, or of 1.  At most 1,048,576.",
          .examples = {"GENERATE_ARRAY(1, 5, 2)", "GENERATE_ARRAY(2.0, 1.0, -0.25)"}};
}

Function GenerateDateArrayFunction() {
  return {
      .name = "GENERATE_DATE_ARRAY",
      .overloads = {Scalar("(DATE, DATE) -> ARRAY<DATE>", RowKernel<DaysFrom>),
                    Scalar("(DATE, DATE, INTERVAL) -> ARRAY<DATE>", RowKernel<Dates>)},
      .meaning =
          "The dates from the first to the second, in steps of an interval, or of a day.  At most 1,048,576.",
      .examples = {"GENERATE_DATE_ARRAY(DATE '2020-01-01', DATE '2020-03-01', INTERVAL 1 MONTH)"}};
}

Function GenerateTimestampArrayFunction() {
  return {
      .name = "GENERATE_TIMESTAMP_ARRAY",
      .overloads = {Scalar("(TIMESTAMP, TIMESTAMP, INTERVAL) -> ARRAY<TIMESTAMP>", RowKernel<Timestamps>)},
      .meaning = "The timestamps from the first to the second, in steps of an interval.  At most 1,048,576.",
      .examples = {
          "GENERATE_TIMESTAMP_ARRAY(TIMESTAMP '2020-01-01', TIMESTAMP '2020-01-02', INTERVAL 12 HOUR)"}};
}

}  // namespace sonde::sql
