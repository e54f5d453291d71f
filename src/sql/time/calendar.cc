#include "sql/time/calendar.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"

namespace sonde::sql {
namespace {

constexpr std::array<std::pair<std::string_view, DatePartKind>, 18> kPartNames = {{
    {"YEAR", DatePartKind::kYear},
    {"ISOYEAR", DatePartKind::kIsoYear},
    {"QUARTER", DatePartKind::kQuarter},
    {"MONTH", DatePartKind::kMonth},
    {"WEEK", DatePartKind::kWeek},
    {"ISOWEEK", DatePartKind::kIsoWeek},
    {"DAY", DatePartKind::kDay},
    {"DAYOFWEEK", DatePartKind::kDayOfWeek},
    {"DAYOFYEAR", DatePartKind::kDayOfYear},
    {"HOUR", DatePartKind::kHour},
    {"MINUTE", DatePartKind::kMinute},
    {"SECOND", DatePartKind::kSecond},
    {"MILLISECOND", DatePartKind::kMillisecond},
    {"MICROSECOND", DatePartKind::kMicrosecond},
    {"DATE", DatePartKind::kDate},
    {"NANOSECOND", DatePartKind::kNanosecond},
    {"TIME", DatePartKind::kTime},
    {"DATETIME", DatePartKind::kDatetime},
}};

constexpr std::array<std::string_view, 7> kWeekdays = {"SUNDAY",   "MONDAY", "TUESDAY", "WEDNESDAY",
                                                       "THURSDAY", "FRIDAY", "SATURDAY"};
constexpr int kMonday = 1;
constexpr int kThursday = 4;

}  // namespace

std::optional<DatePart> ParseDatePart(std::string_view text) {
  DatePart part;
  constexpr std::string_view kWeekOf = "WEEK(";
  if (text.substr(0, kWeekOf.size()) == kWeekOf && text.back() == ')') {
    const std::string_view day = text.substr(kWeekOf.size(), text.size() - kWeekOf.size() - 1);
    const auto* const found = std::find(kWeekdays.begin(), kWeekdays.end(), day);
    if (found == kWeekdays.end()) return std::nullopt;
    return DatePart{DatePartKind::kWeek, static_cast<int>(found - kWeekdays.begin()), true};
  }
  for (const auto& [name, kind] : kPartNames) {
    if (name == text) return DatePart{.kind = kind};
  }
  return std::nullopt;
}

std::string NameOf(const DatePart& part) {
  if (part.kind == DatePartKind::kWeek && part.is_weekday_named) {
    return fmt::format("WEEK({})", kWeekdays[part.first_weekday]);
  }
  for (const auto& [name, kind] : kPartNames) {
    if (kind == part.kind) return std::string(name);
  }
  return "";
}

std::optional<int64_t> FixedMicros(DatePartKind kind) {
  switch (kind) {
    case DatePartKind::kDay:
      return kMicrosPerDay;
    case DatePartKind::kHour:
      return kMicrosPerHour;
    case DatePartKind::kMinute:
      return kMicrosPerMinute;
    case DatePartKind::kSecond:
      return kMicrosPerSecond;
    case DatePartKind::kMillisecond:
      return kMicrosPerMillisecond;
    case DatePartKind::kMicrosecond:
      return 1;
    default:
      return std::nullopt;
  }
}

namespace {

using Parts = uint32_t;
constexpr Parts Bit(DatePartKind kind) { return Parts{1} << static_cast<int>(kind); }
constexpr Parts kOfDay = Bit(DatePartKind::kHour) | Bit(DatePartKind::kMinute) | Bit(DatePartKind::kSecond) |
                         Bit(DatePartKind::kMillisecond) | Bit(DatePartKind::kMicrosecond);
constexpr Parts kFixed = kOfDay | Bit(DatePartKind::kDay);
constexpr Parts kOfCalendar =
    Bit(DatePartKind::kYear) | Bit(DatePartKind::kQuarter) | Bit(DatePartKind::kMonth);
constexpr Parts kIso = Bit(DatePartKind::kIsoYear) | Bit(DatePartKind::kIsoWeek);
constexpr Parts kPlainWeek = Bit(DatePartKind::kWeek);

// What a function takes, and how its error goes on behind the name of the part.
struct PartRule {
  std::string_view function;
  std::string_view type;
  Parts parts;
  bool takes_weekday;  // WEEK(MONDAY)
  std::string_view error_tail;
};

constexpr std::string_view kWhenDate = " when the argument is DATE type";
constexpr std::string_view kWhenTimestamp = " when the argument is TIMESTAMP type";
constexpr Parts kAddToDate = kOfCalendar | kPlainWeek | Bit(DatePartKind::kDay);
constexpr Parts kPieces = kOfCalendar | kPlainWeek | kIso;
constexpr Parts kExtract =
    kPieces | Bit(DatePartKind::kDay) | Bit(DatePartKind::kDayOfWeek) | Bit(DatePartKind::kDayOfYear);

constexpr PartRule kRules[] = {
    {"DATE_ADD", "DATE", kAddToDate, false, kWhenDate},
    {"DATE_SUB", "DATE", kAddToDate, false, kWhenDate},
    {"TIMESTAMP_ADD", "DATE", kAddToDate, false, kWhenDate},
    {"TIMESTAMP_SUB", "DATE", kAddToDate, false, kWhenDate},
    {"DATE_ADD", "TIMESTAMP", kFixed, false, kWhenTimestamp},
    {"DATE_SUB", "TIMESTAMP", kFixed, false, kWhenTimestamp},
    {"TIMESTAMP_ADD", "TIMESTAMP", kFixed, false, kWhenTimestamp},
    {"TIMESTAMP_SUB", "TIMESTAMP", kFixed, false, kWhenTimestamp},
    {"DATE_DIFF", "DATE", kPieces | Bit(DatePartKind::kDay), true, kWhenDate},
    {"DATE_DIFF", "TIMESTAMP", kFixed, false, kWhenTimestamp},
    {"TIMESTAMP_DIFF", "TIMESTAMP", kFixed, false, kWhenTimestamp},
    {"DATE_TRUNC", "DATE", kPieces | Bit(DatePartKind::kDay), true, ""},
    {"DATE_TRUNC", "TIMESTAMP", kPieces | kFixed, true, ""},
    {"TIMESTAMP_TRUNC", "TIMESTAMP", kPieces | kFixed, true, ""},
    {"LAST_DAY", "DATE", kPieces, true, ""},
    {"GENERATE_DATE_ARRAY", "DATE", kAddToDate, false, ""},
    {"GENERATE_TIMESTAMP_ARRAY", "TIMESTAMP", kFixed, false, ""},
    {"EXTRACT", "DATE", kExtract, true, ""},
    {"EXTRACT", "TIMESTAMP", kExtract | kOfDay | Bit(DatePartKind::kNanosecond) | Bit(DatePartKind::kDate),
     true, ""},
};

}  // namespace

absl::Status CheckDatePart(std::string_view function, std::string_view type, const DatePart& part) {
  for (const PartRule& rule : kRules) {
    if (rule.function != function || rule.type != type) continue;
    const bool takes = (rule.parts & Bit(part.kind)) != 0 && (!part.is_weekday_named || rule.takes_weekday);
    if (takes) return absl::OkStatus();
    const std::string of_type = function == "EXTRACT" ? fmt::format(" from {}", type) : "";
    return absl::InvalidArgumentError(fmt::format("{}{} does not support the {} date part{}", function,
                                                  of_type, NameOf(part), rule.error_tail));
  }
  return absl::OkStatus();
}

// Years that begin in March have their leap day at their end; 400 of them are an era of 146,097 days.
CivilDate CivilOf(int64_t days) {
  constexpr int64_t kEraDays = 146'097;
  constexpr int64_t kFromMarchOfYear0 = 719'468;
  const int64_t shifted = days + kFromMarchOfYear0;
  const int64_t era = FloorDivide(shifted, kEraDays);
  const int64_t day_of_era = shifted - era * kEraDays;
  const int64_t year_of_era =
      (day_of_era - day_of_era / 1'460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const int64_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const int64_t month_from_march = (5 * day_of_year + 2) / 153;
  CivilDate date;
  date.day = static_cast<int>(day_of_year - (153 * month_from_march + 2) / 5 + 1);
  date.month = static_cast<int>(month_from_march < 10 ? month_from_march + 3 : month_from_march - 9);
  date.year = year_of_era + era * 400 + (date.month <= 2 ? 1 : 0);
  return date;
}

int64_t DaysOf(int64_t year, int month, int64_t day) {
  DCHECK(month >= 1 && month <= 12);
  const int64_t year_from_march = year - (month <= 2 ? 1 : 0);
  const int64_t era = FloorDivide(year_from_march, 400);
  const int64_t year_of_era = year_from_march - era * 400;
  const int64_t day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719'468;
}

bool IsLeapYear(int64_t year) { return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0); }

int DaysInMonth(int64_t year, int month) {
  static constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  return month == 2 && IsLeapYear(year) ? 29 : kDays[month - 1];
}

int DayOfYear(int64_t days) { return static_cast<int>(days - DaysOf(CivilOf(days).year, 1, 1) + 1); }

namespace {

int64_t WeekStart(int64_t days, int first_weekday) {
  return days - FloorModulo(WeekdayOf(days) - first_weekday, 7);
}

int64_t MonthsOf(const CivilDate& date) { return date.year * 12 + date.month - 1; }
int64_t DaysOfMonths(int64_t months) {
  return DaysOf(FloorDivide(months, 12), static_cast<int>(FloorModulo(months, 12)) + 1, 1);
}

}  // namespace

int64_t IsoYearOf(int64_t days) { return CivilOf(WeekStart(days, kMonday) + kThursday - kMonday).year; }
// The week of January 4 is the first one.
int64_t IsoYearStart(int64_t iso_year) { return WeekStart(DaysOf(iso_year, 1, 4), kMonday); }

int64_t StartOf(const DatePart& part, int64_t days) {
  switch (part.kind) {
    case DatePartKind::kYear:
      return DaysOf(CivilOf(days).year, 1, 1);
    case DatePartKind::kIsoYear:
      return IsoYearStart(IsoYearOf(days));
    case DatePartKind::kQuarter:
      return DaysOfMonths(MonthsOf(CivilOf(days)) / 3 * 3);
    case DatePartKind::kMonth:
      return days - CivilOf(days).day + 1;
    case DatePartKind::kWeek:
      return WeekStart(days, part.first_weekday);
    case DatePartKind::kIsoWeek:
      return WeekStart(days, kMonday);
    default:
      return days;
  }
}

int64_t NextStartOf(const DatePart& part, int64_t days) {
  switch (part.kind) {
    case DatePartKind::kYear:
      return DaysOf(CivilOf(days).year + 1, 1, 1);
    case DatePartKind::kIsoYear:
      return IsoYearStart(IsoYearOf(days) + 1);
    case DatePartKind::kQuarter:
      return DaysOfMonths(MonthsOf(CivilOf(days)) / 3 * 3 + 3);
    case DatePartKind::kMonth:
      return DaysOfMonths(MonthsOf(CivilOf(days)) + 1);
    case DatePartKind::kWeek:
    case DatePartKind::kIsoWeek:
      return StartOf(part, days) + 7;
    default:
      return days + 1;
  }
}

int64_t ExtractFromDate(const DatePart& part, int64_t days) {
  switch (part.kind) {
    case DatePartKind::kYear:
      return CivilOf(days).year;
    case DatePartKind::kIsoYear:
      return IsoYearOf(days);
    case DatePartKind::kQuarter:
      return (CivilOf(days).month - 1) / 3 + 1;
    case DatePartKind::kMonth:
      return CivilOf(days).month;
    case DatePartKind::kWeek:
      // Days before the first such weekday of the year are in week 0.
      return (DayOfYear(days) + 6 - FloorModulo(WeekdayOf(days) - part.first_weekday, 7)) / 7;
    case DatePartKind::kIsoWeek:
      return (WeekStart(days, kMonday) - IsoYearStart(IsoYearOf(days))) / 7 + 1;
    case DatePartKind::kDay:
      return CivilOf(days).day;
    case DatePartKind::kDayOfWeek:
      return WeekdayOf(days) + 1;
    case DatePartKind::kDayOfYear:
      return DayOfYear(days);
    default:
      return days;
  }
}

int64_t ExtractFromTimeOfDay(DatePartKind kind, int64_t micros_of_day) {
  switch (kind) {
    case DatePartKind::kHour:
      return micros_of_day / kMicrosPerHour;
    case DatePartKind::kMinute:
      return micros_of_day / kMicrosPerMinute % 60;
    case DatePartKind::kSecond:
      return micros_of_day / kMicrosPerSecond % 60;
    case DatePartKind::kMillisecond:
      return micros_of_day / kMicrosPerMillisecond % 1'000;
    case DatePartKind::kNanosecond:
      return micros_of_day % kMicrosPerSecond * 1'000;
    default:
      return micros_of_day % kMicrosPerSecond;
  }
}

namespace {

// Nothing: more months than from the first date to the last.
std::optional<int64_t> AddMonths(int64_t days, int64_t count) {
  constexpr int64_t kMonthsMax = 12 * 10'000;
  if (count < -kMonthsMax || count > kMonthsMax) return std::nullopt;
  const CivilDate date = CivilOf(days);
  const int64_t months = MonthsOf(date) + count;
  const int64_t first = DaysOfMonths(months);
  const int length = DaysInMonth(FloorDivide(months, 12), static_cast<int>(FloorModulo(months, 12)) + 1);
  const int64_t sum = first + std::min(date.day, length) - 1;
  if (!IsDate(sum)) return std::nullopt;
  return sum;
}

}  // namespace

std::optional<int64_t> AddToDate(const DatePart& part, int64_t days, int64_t count) {
  const bool is_week = part.kind == DatePartKind::kWeek || part.kind == DatePartKind::kIsoWeek;
  int64_t unit = 1;
  if (part.kind == DatePartKind::kYear) unit = 12;
  if (part.kind == DatePartKind::kQuarter) unit = 3;
  if (is_week) unit = 7;
  int64_t units = 0;
  if (__builtin_mul_overflow(count, unit, &units)) return std::nullopt;
  if (part.kind != DatePartKind::kDay && !is_week) return AddMonths(days, units);
  int64_t sum = 0;
  if (__builtin_add_overflow(days, units, &sum) || !IsDate(sum)) return std::nullopt;
  return sum;
}

int64_t DatePartsBetween(const DatePart& part, int64_t a, int64_t b) {
  switch (part.kind) {
    case DatePartKind::kYear:
      return CivilOf(a).year - CivilOf(b).year;
    case DatePartKind::kIsoYear:
      return IsoYearOf(a) - IsoYearOf(b);
    case DatePartKind::kQuarter:
      return MonthsOf(CivilOf(a)) / 3 - MonthsOf(CivilOf(b)) / 3;
    case DatePartKind::kMonth:
      return MonthsOf(CivilOf(a)) - MonthsOf(CivilOf(b));
    case DatePartKind::kWeek:
    case DatePartKind::kIsoWeek:
      return (StartOf(part, a) - StartOf(part, b)) / 7;
    default:
      return a - b;
  }
}

}  // namespace sonde::sql
