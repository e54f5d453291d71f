// TIMESTAMP, TIMESTAMP_ADD, UNIX_SECONDS, STRING(timestamp)...: functions whose results are made of timestamps.
#include <fmt/format.h>

#include <iterator>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/time/calendar.h"
#include "sql/time/functions.h"
#include "sql/time/time_functions.h"
#include "sql/time/time_state.h"
#include "sql/time/time_text.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

using Micros = absl::StatusOr<int64_t>;
constexpr std::string_view kTimestamp = "TIMESTAMP";

int64_t Same(Call&, int64_t micros) { return micros; }
int64_t CurrentTimestamp(Call& call) { return call.facts().now_micros; }

Micros OfText(Call& call, std::string_view text) { return ParseTimestamp(text, call.facts().time_zone); }
Micros OfTextIn(Call& call, std::string_view text, std::string_view zone) {
  const absl::StatusOr<LocalClock*> clock = call.state<TimeState>().Clock(zone);
  if (!clock.ok()) return clock.status();
  return ParseTimestampWithoutZone(text, (*clock)->zone());
}
Micros TimestampOfDate(Call& call, int64_t days) {
  return MidnightOn(call.state<TimeState>().Clock(call.facts()), days);
}
Micros OfDateIn(Call& call, int64_t days, std::string_view zone) {
  const absl::StatusOr<LocalClock*> clock = call.state<TimeState>().Clock(zone);
  if (!clock.ok()) return clock.status();
  return MidnightOn(*clock, days);
}

std::string_view TextOfTimestamp(Call& call, int64_t micros) {
  return call.arena()->Copy(TimestampTextIn(call.facts().time_zone, micros));
}
absl::StatusOr<std::string_view> TextOfTimestampIn(Call& call, int64_t micros, std::string_view zone) {
  const absl::StatusOr<LocalClock*> clock = call.state<TimeState>().Clock(zone);
  if (!clock.ok()) return clock.status();
  return call.arena()->Copy(TimestampTextIn((*clock)->zone(), micros));
}
std::string_view TextOfDate(Call& call, int64_t days) { return call.arena()->Copy(DateText(days)); }

Micros Add(Call& call, int64_t micros, int64_t count, std::string_view text) {
  const absl::StatusOr<DatePart> part = call.state<TimeState>().Part("TIMESTAMP_ADD", kTimestamp, text);
  if (!part.ok()) return part.status();
  return AddToTimestamp(*part, micros, count);
}

Micros Subtract(Call& call, int64_t micros, int64_t count, std::string_view text) {
  const absl::StatusOr<DatePart> part = call.state<TimeState>().Part("TIMESTAMP_SUB", kTimestamp, text);
  if (!part.ok()) return part.status();
  if (count == std::numeric_limits<int64_t>::min()) {
    return absl::OutOfRangeError(fmt::format("Subtracting {} {} from timestamp {} causes overflow", count,
                                             NameOf(*part), TimestampTextWithMicros(micros)));
  }
  return AddToTimestamp(*part, micros, -count);
}

// Whole units between two times, not starts of units: a minute less than an hour is no hour.
absl::StatusOr<int64_t> Difference(Call& call, int64_t a, int64_t b, std::string_view text) {
  const absl::StatusOr<DatePart> part = call.state<TimeState>().Part("TIMESTAMP_DIFF", kTimestamp, text);
  if (!part.ok()) return part.status();
  return (a - b) / FixedMicros(part->kind).value_or(1);
}

template <int64_t kMicrosOfOne>
Micros OfUnix(Call&, int64_t count) {
  return CheckedTimestamp(count, kMicrosOfOne);
}
template <int64_t kMicrosOfOne>
int64_t ToUnix(Call&, int64_t micros) {
  return FloorDivide(micros, kMicrosOfOne);
}

template <int64_t kMicrosOfOne>
void AppendUnixFunctions(std::string_view unit, std::string_view counted, std::vector<Function>* functions) {
  functions->push_back(
      {.name = fmt::format("TIMESTAMP_{}", unit),
       .overloads = {Scalar("(INT64) -> TIMESTAMP", RowKernel<OfUnix<kMicrosOfOne>>)},
       .meaning = fmt::format("The timestamp so many {} after 1970-01-01 00:00:00 UTC.", counted),
       .examples = {fmt::format("TIMESTAMP_{}(1)", unit)}});
  functions->push_back(
      {.name = fmt::format("TIMESTAMP_FROM_UNIX_{}", unit),
       .overloads = {Scalar("(INT64) -> TIMESTAMP", RowKernel<OfUnix<kMicrosOfOne>>),
                     Scalar("(TIMESTAMP) -> TIMESTAMP", RowKernel<Same>)},
       .meaning = fmt::format(
           "The timestamp so many {} after 1970-01-01 00:00:00 UTC; a timestamp stays as it is.", counted),
       .examples = {fmt::format("TIMESTAMP_FROM_UNIX_{}(1)", unit)}});
  functions->push_back(
      {.name = fmt::format("UNIX_{}", unit),
       .overloads = {Scalar("(TIMESTAMP) -> INT64", RowKernel<ToUnix<kMicrosOfOne>>)},
       .meaning =
           fmt::format("How many {} a timestamp lies after 1970-01-01 00:00:00 UTC, rounded down.", counted),
       .examples = {fmt::format("UNIX_{}(TIMESTAMP '1969-12-31 23:59:59.9999')", unit)}});
}

void AppendConstructors(std::vector<Function>* functions) {
  functions->push_back({.name = "CURRENT_TIMESTAMP",
                        .overloads = {Scalar("() -> TIMESTAMP", RowKernel<CurrentTimestamp>)},
                        .meaning = "The time when the statement began.",
                        .examples = {"CURRENT_TIMESTAMP() = CURRENT_TIMESTAMP()"}});
  functions->push_back({.name = "TIMESTAMP",
                        .overloads = {Scalar("(STRING) -> TIMESTAMP", RowKernel<OfText>),
                                      Scalar("(STRING, STRING) -> TIMESTAMP", RowKernel<OfTextIn>),
                                      Scalar("(DATE) -> TIMESTAMP", RowKernel<TimestampOfDate>),
                                      Scalar("(DATE, STRING) -> TIMESTAMP", RowKernel<OfDateIn>),
                                      Scalar("(TIMESTAMP) -> TIMESTAMP", RowKernel<Same>)},
                        .meaning = "The timestamp that a text says, or when a date begins, in a time zone.",
                        .examples = {"TIMESTAMP('2020-01-01 12:00:00', 'Europe/Rome')",
                                     "TIMESTAMP(DATE '2020-01-01', '-08')"}});
  functions->push_back({.name = "STRING",
                        .overloads = {Scalar("(TIMESTAMP) -> STRING", RowKernel<TextOfTimestamp>),
                                      Scalar("(TIMESTAMP, STRING) -> STRING", RowKernel<TextOfTimestampIn>),
                                      Scalar("(DATE) -> STRING", RowKernel<TextOfDate>)},
                        .meaning = "A timestamp in a time zone, or a date, as a text.",
                        .examples = {"STRING(TIMESTAMP '2020-01-01 00:00:00.5', 'Asia/Kolkata')"}});
}

void AppendArithmetic(std::vector<Function>* functions) {
  functions->push_back(
      {.name = "TIMESTAMP_ADD",
       .overloads = {Scalar("(TIMESTAMP, INTERVAL) -> TIMESTAMP", TimestampAddKernel())},
       .meaning =
           "A timestamp some microseconds, milliseconds, seconds, minutes, hours or days of 24 hours later.",
       .examples = {"TIMESTAMP_ADD(TIMESTAMP '2020-01-01 00:00:00', INTERVAL 90 MINUTE)"}});
  functions->push_back({.name = "TIMESTAMP_SUB",
                        .overloads = {Scalar("(TIMESTAMP, INTERVAL) -> TIMESTAMP", TimestampSubKernel())},
                        .meaning = "A timestamp some microseconds, milliseconds, seconds, minutes, hours or "
                                   "days of 24 hours earlier.",
                        .examples = {"TIMESTAMP_SUB(TIMESTAMP '2020-01-01 00:00:00', INTERVAL 1 DAY)"}});
  functions->push_back(
      {.name = "TIMESTAMP_DIFF",
       .overloads = {Scalar("(TIMESTAMP, TIMESTAMP, PART) -> INT64", TimestampDiffKernel())},
       .meaning = "How many whole units the first timestamp lies behind the second.",
       .examples = {
           "TIMESTAMP_DIFF(TIMESTAMP '2020-01-01 01:00:00', TIMESTAMP '2020-01-01 00:00:01', HOUR)"}});
  functions->push_back(
      {.name = "TIMESTAMP_TRUNC",
       .overloads = {Scalar("(TIMESTAMP, PART) -> TIMESTAMP", TimestampTruncKernel()),
                     Scalar("(TIMESTAMP, PART, STRING) -> TIMESTAMP", TimestampTruncKernel())},
       .meaning = "When the minute, hour, day, week, month, ... of a timestamp begins, in a time zone.",
       .examples = {"TIMESTAMP_TRUNC(TIMESTAMP '2020-01-01 12:34:56', HOUR)",
                    "TIMESTAMP_TRUNC(TIMESTAMP '2020-01-01 12:34:56', DAY, 'Asia/Kolkata')"}});
}

}  // namespace

Kernel TimestampAddKernel() { return RowKernel<Add>; }
Kernel TimestampSubKernel() { return RowKernel<Subtract>; }
Kernel TimestampDiffKernel() { return RowKernel<Difference>; }

std::vector<Function> TimestampFunctions() {
  std::vector<Function> functions;
  AppendConstructors(&functions);
  AppendArithmetic(&functions);
  AppendUnixFunctions<kMicrosPerSecond>("SECONDS", "seconds", &functions);
  AppendUnixFunctions<kMicrosPerMillisecond>("MILLIS", "milliseconds", &functions);
  AppendUnixFunctions<1>("MICROS", "microseconds", &functions);
  functions.push_back(ExtractFunction());
  functions.push_back(TimestampBucketFunction());
  functions.push_back(DateBucketFunction());
  functions.push_back(TimeBucketFunction());
  functions.push_back(DateBinFunction());
  functions.push_back(GenerateDateArrayFunction());
  functions.push_back(GenerateTimestampArrayFunction());
  std::vector<Function> formats = TimeFormatFunctions();
  std::move(formats.begin(), formats.end(), std::back_inserter(functions));
  return functions;
}

}  // namespace sonde::sql
