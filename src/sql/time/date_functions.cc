// DATE, DATE_ADD, DATE_TRUNC, LAST_DAY...: functions whose results are made of days.
#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string_view>
#include <vector>

#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/time/calendar.h"
#include "sql/time/functions.h"
#include "sql/time/time_functions.h"
#include "sql/time/time_state.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

using Days = absl::StatusOr<int64_t>;
constexpr std::string_view kDate = "DATE";

int64_t SameDate(Call&, int64_t days) { return days; }

Days DateOfParts(Call&, int64_t year, int64_t month, int64_t day) {
  const bool is_date = year >= 1 && year <= 9'999 && month >= 1 && month <= 12 && day >= 1 &&
                       day <= DaysInMonth(year, static_cast<int>(month));
  if (!is_date) {
    return absl::OutOfRangeError(fmt::format("Input calculates to invalid date: {:04}-{:02}-{:02}",
                                             static_cast<int32_t>(year), static_cast<int32_t>(month),
                                             static_cast<int32_t>(day)));
  }
  return DaysOf(year, static_cast<int>(month), day);
}

Days DateOfTimestamp(Call& call, int64_t micros) {
  return DateOn(call.state<TimeState>().Clock(call.facts()), micros);
}
Days DateOfTimestampIn(Call& call, int64_t micros, std::string_view zone) {
  const absl::StatusOr<LocalClock*> clock = call.state<TimeState>().Clock(zone);
  if (!clock.ok()) return clock.status();
  return DateOn(*clock, micros);
}

Days CurrentDate(Call& call) { return DateOfTimestamp(call, call.facts().now_micros); }
Days CurrentDateIn(Call& call, std::string_view zone) {
  return DateOfTimestampIn(call, call.facts().now_micros, zone);
}

Days AddInterval(const DatePart& part, int64_t days, int64_t count) {
  const std::optional<int64_t> sum = AddToDate(part, days, count);
  if (sum.has_value()) return *sum;
  return absl::OutOfRangeError(
      fmt::format("Adding {} {} to date {} causes overflow", count, NameOf(part), DateText(days)));
}

Days DateAdd(Call& call, int64_t days, int64_t count, std::string_view text) {
  const absl::StatusOr<DatePart> part = call.state<TimeState>().Part("DATE_ADD", kDate, text);
  if (!part.ok()) return part.status();
  return AddInterval(*part, days, count);
}

Days DateSub(Call& call, int64_t days, int64_t count, std::string_view text) {
  const absl::StatusOr<DatePart> part = call.state<TimeState>().Part("DATE_SUB", kDate, text);
  if (!part.ok()) return part.status();
  if (count == std::numeric_limits<int64_t>::min()) {
    return absl::OutOfRangeError(
        fmt::format("Subtracting {} {} from date {} causes overflow", count, NameOf(*part), DateText(days)));
  }
  return AddInterval(*part, days, -count);
}

absl::StatusOr<int64_t> DateDiff(Call& call, int64_t a, int64_t b, std::string_view text) {
  const absl::StatusOr<DatePart> part = call.state<TimeState>().Part("DATE_DIFF", kDate, text);
  if (!part.ok()) return part.status();
  return DatePartsBetween(*part, a, b);
}

Days DateTrunc(Call& call, int64_t days, std::string_view text) {
  const absl::StatusOr<DatePart> part = call.state<TimeState>().Part("DATE_TRUNC", kDate, text);
  if (!part.ok()) return part.status();
  const int64_t start = StartOf(*part, days);
  if (IsDate(start)) return start;
  return absl::OutOfRangeError(
      fmt::format("Truncating date {} to {} resulted in an out of range date value: {}", DateText(days),
                  NameOf(*part), start));
}

Days LastDayOf(Call& call, int64_t days, std::string_view text) {
  const absl::StatusOr<DatePart> part = call.state<TimeState>().Part("LAST_DAY", kDate, text);
  if (!part.ok()) return part.status();
  const int64_t last = NextStartOf(*part, days) - 1;
  if (IsDate(last)) return last;
  return absl::OutOfRangeError(
      fmt::format("Last day of date {} to {} resulted in an out of range date value: {}", DateText(days),
                  NameOf(*part), last));
}
int64_t LastDayOfMonth(Call&, int64_t days) { return NextStartOf({.kind = DatePartKind::kMonth}, days) - 1; }

Days DateFromUnixDate(Call&, int64_t days) {
  if (IsDate(days)) return days;
  return absl::OutOfRangeError(
      fmt::format("DATE_FROM_UNIX_DATE range is {} to {} but saw {}", kDateMin, kDateMax, days));
}

}  // namespace

std::vector<Function> DateFunctions() {
  std::vector<Function> functions;
  functions.push_back({.name = "CURRENT_DATE",
                       .overloads = {Scalar("() -> DATE", RowKernel<CurrentDate>),
                                     Scalar("(STRING) -> DATE", RowKernel<CurrentDateIn>)},
                       .meaning = "The date on which the statement began, in a time zone.",
                       .examples = {"CURRENT_DATE() = DATE(CURRENT_TIMESTAMP())"}});
  functions.push_back(
      {.name = "DATE",
       .overloads = {Scalar("(INT64, INT64, INT64) -> DATE", RowKernel<DateOfParts>),
                     Scalar("(DATE) -> DATE", RowKernel<SameDate>),
                     Scalar("(TIMESTAMP) -> DATE", RowKernel<DateOfTimestamp>),
                     Scalar("(TIMESTAMP, STRING) -> DATE", RowKernel<DateOfTimestampIn>)},
       .meaning = "The date of a year, month and day, or of a timestamp in a time zone.",
       .examples = {"DATE(2020, 2, 29)", "DATE(TIMESTAMP '2020-01-01 00:00:00', 'America/Los_Angeles')"}});
  functions.push_back(
      {.name = "DATE_ADD",
       .overloads = {Scalar("(DATE, INTERVAL) -> DATE", RowKernel<DateAdd>),
                     Scalar("(TIMESTAMP, INTERVAL) -> TIMESTAMP", TimestampAddKernel())},
       .meaning =
           "A date some days, weeks, months, quarters or years later.  A month that is too short for the "
           "day gives its last day.",
       .examples = {"DATE_ADD(DATE '2020-01-31', INTERVAL 1 MONTH)"}});
  functions.push_back({.name = "DATE_SUB",
                       .overloads = {Scalar("(DATE, INTERVAL) -> DATE", RowKernel<DateSub>),
                                     Scalar("(TIMESTAMP, INTERVAL) -> TIMESTAMP", TimestampSubKernel())},
                       .meaning = "A date some days, weeks, months, quarters or years earlier.",
                       .examples = {"DATE_SUB(DATE '2020-03-31', INTERVAL 1 MONTH)"}});
  functions.push_back(
      {.name = "DATE_DIFF",
       .overloads = {Scalar("(DATE, DATE, PART) -> INT64", RowKernel<DateDiff>),
                     Scalar("(TIMESTAMP, TIMESTAMP, PART) -> INT64", TimestampDiffKernel())},
       .meaning =
           "How many days, weeks, months, quarters or years begin behind the second date, up to the first.",
       .examples = {"DATE_DIFF(DATE '2020-02-01', DATE '2020-01-31', MONTH)"}});
  functions.push_back(
      {.name = "DATE_TRUNC",
       .overloads = {Scalar("(DATE, PART) -> DATE", RowKernel<DateTrunc>),
                     Scalar("(TIMESTAMP, PART) -> TIMESTAMP", TimestampTruncKernel()),
                     Scalar("(TIMESTAMP, PART, STRING) -> TIMESTAMP", TimestampTruncKernel())},
       .meaning = "The first day of the week, month, quarter or year of a date.",
       .examples = {"DATE_TRUNC(DATE '2020-02-29', QUARTER)",
                    "DATE_TRUNC(DATE '2020-02-29', WEEK(MONDAY))"}});
  functions.push_back({.name = "DATE_FROM_UNIX_DATE",
                       .overloads = {Scalar("(INT64) -> DATE", RowKernel<DateFromUnixDate>)},
                       .meaning = "The date so many days after 1970-01-01.",
                       .examples = {"DATE_FROM_UNIX_DATE(18262)"}});
  functions.push_back({.name = "LAST_DAY",
                       .overloads = {Scalar("(DATE) -> DATE", RowKernel<LastDayOfMonth>),
                                     Scalar("(DATE, PART) -> DATE", RowKernel<LastDayOf>)},
                       .meaning = "The last day of the month, or of the week, quarter or year, of a date.",
                       .examples = {"LAST_DAY(DATE '2020-02-01')", "LAST_DAY(DATE '2020-02-01', YEAR)"}});
  functions.push_back({.name = "UNIX_DATE",
                       .overloads = {Scalar("(DATE) -> INT64", RowKernel<SameDate>)},
                       .meaning = "How many days a date lies after 1970-01-01.",
                       .examples = {"UNIX_DATE(DATE '2020-01-01')"}});
  return functions;
}

}  // namespace sonde::sql
