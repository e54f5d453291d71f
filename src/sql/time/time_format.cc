// FORMAT_DATE, FORMAT_TIMESTAMP, PARSE_DATE, PARSE_TIMESTAMP.
//
// Formats are carried out by absl::FormatTime, but for a few elements that GoogleSQL writes otherwise.
#include <fmt/format.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/time/calendar.h"
#include "sql/time/time_functions.h"
#include "sql/time/time_parse.h"
#include "sql/time/time_state.h"

namespace sonde::sql {
namespace {

// UTC, UTC+5, UTC-0330.
std::string ZoneText(int offset_minutes) {
  if (offset_minutes == 0) return "UTC";
  const int minutes = std::abs(offset_minutes);
  const char sign = offset_minutes < 0 ? '-' : '+';
  if (minutes % 60 == 0) return fmt::format("UTC{}{}", sign, minutes / 60);
  return fmt::format("UTC{}{:02}{:02}", sign, minutes / 60, minutes % 60);
}

bool IsOfTime(char element) { return kElementsOfTime.find(element) != std::string_view::npos; }

// The bytes of an element of times behind its %, with E, O and digits; 0: it is none.
size_t BytesOfTimeElement(std::string_view element) {
  if (IsOfTime(element[0])) return 1;
  if ((element[0] != 'E' && element[0] != 'O') || element.size() < 2) return 0;
  if (IsOfTime(element[1])) return 2;
  const bool has_digits =
      element[0] == 'E' && (element[1] == '*' || (element[1] >= '0' && element[1] <= '9'));
  return has_digits && element.size() > 2 && element[2] == 'S' ? 3 : 0;
}

// The format for absl::FormatTime.
absl::StatusOr<std::string> ForLibrary(std::string_view format, bool is_date, int month, int offset_minutes) {
  std::string changed;
  for (size_t i = 0; i < format.size(); ++i) {
    changed += format[i];
    if (format[i] != '%') continue;
    if (++i == format.size()) {
      changed += '%';
      break;
    }
    const size_t kept = is_date ? BytesOfTimeElement(format.substr(i)) : 0;
    if (kept > 0) {
      changed += '%';
      changed += format.substr(i, kept);
      i += kept - 1;
    } else if (format[i] == 'Q') {
      changed.back() = static_cast<char>('0' + (month + 2) / 3);
    } else if (format[i] == 'Z') {
      changed.pop_back();
      changed += ZoneText(offset_minutes);
    } else if (format[i] == 'F') {
      changed.pop_back();
      changed += "%E4Y-%m-%d";
    } else if (format[i] == 'J') {
      return absl::OutOfRangeError("Format element %J not supported yet");
    } else {
      changed += format[i];
    }
  }
  return changed;
}

absl::StatusOr<std::string_view> Format(Call& call, std::string_view format, bool is_date, int64_t micros,
                                        absl::TimeZone zone) {
  const absl::Time time = absl::FromUnixMicros(micros);
  const int offset = zone.At(time).offset;
  // Offsets of old times have seconds, which are not shown: their clocks show the minutes that the text says.
  if (offset % 60 != 0) zone = absl::FixedTimeZone(offset / 60 * 60);
  const int month = CivilOf(FloorDivide(micros + offset / 60 * kMicrosPerMinute, kMicrosPerDay)).month;
  const absl::StatusOr<std::string> changed = ForLibrary(format, is_date, month, offset / 60);
  if (!changed.ok()) return changed.status();
  return call.arena()->Copy(absl::FormatTime(*changed, time, zone));
}

absl::StatusOr<std::string_view> FormatDate(Call& call, std::string_view format, int64_t days) {
  return Format(call, format, /*is_date=*/true, days * kMicrosPerDay, absl::UTCTimeZone());
}
absl::StatusOr<std::string_view> FormatTimestamp(Call& call, std::string_view format, int64_t micros) {
  return Format(call, format, /*is_date=*/false, micros, call.facts().time_zone);
}
absl::StatusOr<std::string_view> FormatTimestampIn(Call& call, std::string_view format, int64_t micros,
                                                   std::string_view zone) {
  const absl::StatusOr<LocalClock*> clock = call.state<TimeState>().Clock(zone);
  if (!clock.ok()) return clock.status();
  return Format(call, format, /*is_date=*/false, micros, (*clock)->zone());
}

absl::StatusOr<int64_t> ParseDateKernel(Call&, std::string_view format, std::string_view text) {
  return ParseDateAs(format, text);
}
absl::StatusOr<int64_t> ParseTimestampKernel(Call& call, std::string_view format, std::string_view text) {
  return ParseTimestampAs(format, text, call.facts().time_zone);
}
absl::StatusOr<int64_t> ParseTimestampInKernel(Call& call, std::string_view format, std::string_view text,
                                               std::string_view zone) {
  const absl::StatusOr<LocalClock*> clock = call.state<TimeState>().Clock(zone);
  if (!clock.ok()) return clock.status();
  return ParseTimestampAs(format, text, (*clock)->zone());
}

}  // namespace

std::vector<Function> TimeFormatFunctions() {
  std::vector<Function> functions;
  functions.push_back(
      {.name = "FORMAT_DATE",
       .overloads = {Scalar("(STRING, DATE) -> STRING", RowKernel<FormatDate>),
                     Scalar("(STRING, TIMESTAMP) -> STRING", RowKernel<FormatTimestamp>),
                     Scalar("(STRING, TIMESTAMP, STRING) -> STRING", RowKernel<FormatTimestampIn>)},
       .meaning = "A date as a text, by a format with elements such as %Y, %m and %d.",
       .examples = {"FORMAT_DATE('%b %d, %Y', DATE '2020-01-31')"}});
  functions.push_back(
      {.name = "FORMAT_TIMESTAMP",
       .overloads = {Scalar("(STRING, TIMESTAMP) -> STRING", RowKernel<FormatTimestamp>),
                     Scalar("(STRING, TIMESTAMP, STRING) -> STRING", RowKernel<FormatTimestampIn>)},
       .meaning = "A timestamp in a time zone as a text, by a format with elements such as %Y, %H and %E*S.",
       .examples = {
           "FORMAT_TIMESTAMP('%Y-%m-%dT%H:%M:%E*S%Ez', TIMESTAMP '2020-01-31 12:00:00.5', 'Asia/Kolkata')"}});
  functions.push_back(
      {.name = "PARSE_DATE",
       .overloads = {Scalar("(STRING, STRING) -> DATE", RowKernel<ParseDateKernel>)},
       .meaning = "The date that a text says, by a format with elements such as %Y, %m and %d.",
       .examples = {"PARSE_DATE('%d.%m.%Y', '31.01.2020')"}});
  functions.push_back(
      {.name = "PARSE_TIMESTAMP",
       .overloads = {Scalar("(STRING, STRING) -> TIMESTAMP", RowKernel<ParseTimestampKernel>),
                     Scalar("(STRING, STRING, STRING) -> TIMESTAMP", RowKernel<ParseTimestampInKernel>)},
       .meaning = "The timestamp that a text says, by a format with elements such as %Y, %H and %E*S, in a "
                  "time zone "
                  "if the text has none.",
       .examples = {"PARSE_TIMESTAMP('%d.%m.%Y %H:%M:%S', '31.01.2020 12:00:00', 'Europe/Rome')"}});
  return functions;
}

}  // namespace sonde::sql
