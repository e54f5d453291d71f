// Arithmetic of days and of the parts of dates and times, without time zones.
//
//   *ParseDatePart("WEEK(MONDAY)")
//   StartOf(*ParseDatePart("MONTH"), days)     // the first day of the month of a day
//
// Dates are days since 1970-01-01 in the proleptic Gregorian calendar, times microseconds since then.  The functions of days
// take days far outside of GoogleSQL's range, too; callers check results by IsDate and IsTimestamp.
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace sonde::sql {

constexpr int64_t kMicrosPerMillisecond = 1'000;
constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kMicrosPerMinute = 60 * kMicrosPerSecond;
constexpr int64_t kMicrosPerHour = 60 * kMicrosPerMinute;
constexpr int64_t kMicrosPerDay = 24 * kMicrosPerHour;

// 0001-01-01 to 9999-12-31, both included.
constexpr int64_t kDateMin = -719'162;
constexpr int64_t kDateMax = 2'932'896;
constexpr int64_t kTimestampMin = kDateMin * kMicrosPerDay;
constexpr int64_t kTimestampMax = (kDateMax + 1) * kMicrosPerDay - 1;
constexpr bool IsDate(int64_t days) { return days >= kDateMin && days <= kDateMax; }
constexpr bool IsTimestamp(int64_t micros) { return micros >= kTimestampMin && micros <= kTimestampMax; }

constexpr int64_t FloorDivide(int64_t a, int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }
constexpr int64_t FloorModulo(int64_t a, int64_t b) { return a % b < 0 ? a % b + b : a % b; }

// --- Parts.

enum class DatePartKind : uint8_t {
  kYear,
  kIsoYear,
  kQuarter,
  kMonth,
  kWeek,  // of `first_weekday`
  kIsoWeek,
  kDay,
  kDayOfWeek,
  kDayOfYear,
  kHour,
  kMinute,
  kSecond,
  kMillisecond,
  kMicrosecond,
  kDate,
  kNanosecond,  // of EXTRACT only
  // Of GoogleSQL; no function here takes them.
  kTime,
  kDatetime,
};

struct DatePart {
  DatePartKind kind = DatePartKind::kDay;
  int first_weekday = 0;          // of kWeek; Sunday is 0
  bool is_weekday_named = false;  // WEEK(SUNDAY), not WEEK
};

// `text` as kernels get it, in upper case.  Nothing: GoogleSQL has no such part.
std::optional<DatePart> ParseDatePart(std::string_view text);
// As people write it: WEEK(MONDAY).
std::string NameOf(const DatePart& part);
// Microseconds of a part that always has the same length, a day at most; nothing: of others.
std::optional<int64_t> FixedMicros(DatePartKind kind);

// Whether a function takes a part of a type of value ("DATE", "TIMESTAMP").  INVALID_ARGUMENT in GoogleSQL's words: it does not.
// Binders ask, so that the error comes before the query runs; kernels ask, too.
absl::Status CheckDatePart(std::string_view function, std::string_view type, const DatePart& part);

// --- Days.

struct CivilDate {
  int64_t year = 1970;
  int month = 1;
  int day = 1;
};
CivilDate CivilOf(int64_t days);
// `month` in [1, 12]; `day` may be any.
int64_t DaysOf(int64_t year, int month, int64_t day);
int DaysInMonth(int64_t year, int month);
bool IsLeapYear(int64_t year);
// Sunday is 0.
constexpr int WeekdayOf(int64_t days) { return static_cast<int>(FloorModulo(days + 4, 7)); }
// From 1 on.
int DayOfYear(int64_t days);
// The year that most of the week from Monday on lies in.
int64_t IsoYearOf(int64_t days);
int64_t IsoYearStart(int64_t iso_year);

// The first day of the year, week, ... that a day lies in; and of the one behind that.  `part`: of a day or more.
int64_t StartOf(const DatePart& part, int64_t days);
int64_t NextStartOf(const DatePart& part, int64_t days);
// EXTRACT(part FROM date).  `part`: of a day or more.
int64_t ExtractFromDate(const DatePart& part, int64_t days);
// EXTRACT(part FROM a local time), of parts within a day.
int64_t ExtractFromTimeOfDay(DatePartKind kind, int64_t micros_of_day);
// DATE_ADD; months that are too short for a day take their last.  Nothing: the result is no date.
std::optional<int64_t> AddToDate(const DatePart& part, int64_t days, int64_t count);
// DATE_DIFF(a, b, part): how many starts of parts lie in (b, a].
int64_t DatePartsBetween(const DatePart& part, int64_t a, int64_t b);

}  // namespace sonde::sql
