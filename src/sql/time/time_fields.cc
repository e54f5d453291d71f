#include "sql/time/time_fields.h"

#include <fmt/format.h>

#include "absl/time/civil_time.h"
#include "sql/time/calendar.h"

namespace sonde::sql {
namespace {

absl::Status NotBuilt(const char* what) {
  return absl::OutOfRangeError(fmt::format("{} parse elements are not supported yet", what));
}

// The first day of a week of a year.
absl::StatusOr<int64_t> DayOfWeek(int64_t year, const TimeFields& fields) {
  const DatePart week = {DatePartKind::kWeek, fields.week_start, true};
  const int64_t january = DaysOf(year, 1, 1);
  const int64_t number = fields.week.number;
  if (number < ExtractFromDate(week, january) || number > ExtractFromDate(week, DaysOf(year, 12, 31))) {
    return absl::OutOfRangeError(fmt::format("Week number {} is invalid for year {}", number, year));
  }
  if (fields.weekday) return NotBuilt("Weekday");
  return StartOf(week, january + 6) + 7 * (number - 1);
}

absl::StatusOr<int64_t> DayOfDayOfYear(int64_t year, int64_t day_of_year) {
  if (day_of_year == 366 && !IsLeapYear(year)) {
    return absl::OutOfRangeError(
        fmt::format("Year {} has 365 days, but the specified day of year was {}", year, day_of_year));
  }
  return DaysOf(year, 1, 1) + day_of_year - 1;
}

// Weeks and days of the year change what stands before them in the format.
absl::Status UseWeekOrDayOfYear(TimeFields* fields) {
  const bool by_day =
      fields->day_of_year && (fields->day_of_year.place > fields->week.place || !fields->weekday);
  if (!by_day && !fields->week) return absl::OkStatus();
  const absl::StatusOr<int64_t> days =
      by_day ? DayOfDayOfYear(fields->year, fields->day_of_year.number) : DayOfWeek(fields->year, *fields);
  if (!days.ok()) return days.status();
  const int place = by_day ? fields->day_of_year.place : fields->week.place;
  const CivilDate date = CivilOf(*days);
  if (fields->year_place < place) fields->year = date.year;
  if (fields->month_place < place) fields->month = date.month;
  if (fields->day_place < place) fields->day = date.day;
  if (fields->day > DaysInMonth(fields->year, static_cast<int>(fields->month))) {
    return absl::OutOfRangeError(
        fmt::format("Out-of-range datetime field in parsing function; year: {}, month: {}, day: {}",
                    fields->year, fields->month, fields->day));
  }
  return absl::OkStatus();
}

absl::Status UseIsoYear(TimeFields* fields) {
  const int64_t year = fields->iso_year.number;
  const bool by_day =
      fields->iso_day_of_year && (fields->iso_day_of_year.place > fields->iso_week.place || !fields->weekday);
  const int64_t start = IsoYearStart(year);
  const int64_t length = IsoYearStart(year + 1) - start;
  if (!by_day && fields->iso_week) {
    if (fields->iso_week.number * 7 > length) {
      return absl::OutOfRangeError(
          fmt::format("Invalid ISO week {} specified for ISO year {}", fields->iso_week.number, year));
    }
    return NotBuilt("ISO");
  }
  const int64_t day = by_day ? fields->iso_day_of_year.number : 1;
  if (day > length) {
    return absl::OutOfRangeError(
        fmt::format("ISO Year {} has {} days, but the specified day of year was {}", year, length, day));
  }
  const CivilDate date = CivilOf(start + day - 1);
  fields->year = date.year;
  fields->month = date.month;
  fields->day = date.day;
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<int64_t> TimestampOf(TimeFields fields) {
  const absl::Status no_timestamp = absl::OutOfRangeError("Invalid result from parsing function");
  if (fields.unix_seconds.has_value()) {
    const int64_t micros = *fields.unix_seconds * kMicrosPerSecond;
    if (!IsTimestamp(micros)) return no_timestamp;
    return micros;
  }
  if (fields.has_century) fields.year = fields.century * 100 + fields.year_of_century;
  if (fields.is_twelve_hour && fields.is_afternoon) fields.hour += 12;
  const absl::Status status =
      fields.iso_year && !fields.has_date ? UseIsoYear(&fields) : UseWeekOrDayOfYear(&fields);
  if (!status.ok()) return status;
  if (fields.day > DaysInMonth(fields.year, static_cast<int>(fields.month))) {
    return absl::OutOfRangeError("Out-of-range datetime field in parsing function");
  }
  const bool is_leap_second = fields.second == 60;
  const absl::CivilSecond civil(fields.year, fields.month, fields.day, fields.hour, fields.minute,
                                is_leap_second ? 59 : fields.second);
  const absl::TimeZone zone = fields.offset_minutes.has_value() ? absl::UTCTimeZone() : fields.zone;
  const int64_t micros = absl::ToUnixMicros(zone.At(civil).pre) -
                         fields.offset_minutes.value_or(0) * kMicrosPerMinute +
                         (is_leap_second ? kMicrosPerSecond : fields.micros);
  if (!IsTimestamp(micros)) return no_timestamp;
  return micros;
}

}  // namespace sonde::sql
