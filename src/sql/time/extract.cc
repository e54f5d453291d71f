// EXTRACT(part FROM value [AT TIME ZONE zone]).
#include <string_view>

#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/time/calendar.h"
#include "sql/time/time_functions.h"
#include "sql/time/time_state.h"

namespace sonde::sql {
namespace {

absl::StatusOr<int64_t> OfDate(Call& call, std::string_view text, int64_t days) {
  const absl::StatusOr<DatePart> part = call.state<TimeState>().Part("EXTRACT", "DATE", text);
  if (!part.ok()) return part.status();
  return ExtractFromDate(*part, days);
}

absl::StatusOr<int64_t> OfTimestampOn(LocalClock* clock, const DatePart& part, int64_t micros) {
  if (part.kind == DatePartKind::kDate) return DateOn(clock, micros);
  const int64_t local = clock->Local(micros);
  const int64_t days = FloorDivide(local, kMicrosPerDay);
  const bool is_of_day = part.kind == DatePartKind::kNanosecond ||
                         (part.kind != DatePartKind::kDay && FixedMicros(part.kind).has_value());
  return is_of_day ? ExtractFromTimeOfDay(part.kind, local - days * kMicrosPerDay)
                   : ExtractFromDate(part, days);
}

absl::StatusOr<int64_t> OfTimestamp(Call& call, std::string_view text, int64_t micros) {
  auto& state = call.state<TimeState>();
  const absl::StatusOr<DatePart> part = state.Part("EXTRACT", "TIMESTAMP", text);
  if (!part.ok()) return part.status();
  return OfTimestampOn(state.Clock(call.facts()), *part, micros);
}

absl::StatusOr<int64_t> OfTimestampIn(Call& call, std::string_view text, int64_t micros,
                                      std::string_view zone) {
  auto& state = call.state<TimeState>();
  const absl::StatusOr<DatePart> part = state.Part("EXTRACT", "TIMESTAMP", text);
  if (!part.ok()) return part.status();
  const absl::StatusOr<LocalClock*> clock = state.Clock(zone);
  if (!clock.ok()) return clock.status();
  return OfTimestampOn(*clock, *part, micros);
}

}  // namespace

Function ExtractFunction() {
  return {
      .name = "$extract",
      .overloads = {Scalar("(PART, DATE) -> INT64", RowKernel<OfDate>),
                    Scalar("(PART, TIMESTAMP) -> INT64", RowKernel<OfTimestamp>),
                    Scalar("(PART, TIMESTAMP, STRING) -> INT64", RowKernel<OfTimestampIn>)},
      .meaning = "A part of a date, or of a timestamp in a time zone: YEAR, ISOWEEK, DAYOFYEAR, HOUR, ...",
      .examples = {"EXTRACT(DAYOFWEEK FROM DATE '2020-01-01')",
                   "EXTRACT(HOUR FROM TIMESTAMP '2020-01-01 00:00:00' AT TIME ZONE 'Asia/Tokyo')"}};
}

}  // namespace sonde::sql
