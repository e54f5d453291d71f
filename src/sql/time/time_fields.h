// What the elements of a format say of a time, and the time that they come to.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde::sql {

// A number, and behind how many elements of the format it came; 0: it did not.
struct PlacedNumber {
  int64_t number = 0;
  int place = 0;
  explicit operator bool() const { return place > 0; }
};

struct TimeFields {
  // The year is `year`, or where `has_century` 100 * `century` + `year_of_century`.
  int64_t year = 1970;
  int64_t century = 0;
  int64_t year_of_century = 0;
  bool has_century = false;
  bool is_century_named = false;  // by %C
  int64_t month = 1;
  int64_t day = 1;
  int64_t hour = 0;
  bool is_twelve_hour = false;
  bool is_afternoon = false;
  int64_t minute = 0;
  int64_t second = 0;  // 60: the second behind 59
  int64_t micros = 0;
  absl::TimeZone zone;
  std::optional<int64_t> offset_minutes;  // counts more than the zone
  std::optional<int64_t> unix_seconds;    // count more than everything else

  int year_place = 0;
  int month_place = 0;
  int day_place = 0;
  bool has_date = false;  // elements that are not of ISO's weeks; those of ISO's weeks do not count then
  PlacedNumber day_of_year;
  PlacedNumber week;  // of `week_start`
  int week_start = 0;
  PlacedNumber weekday;
  PlacedNumber iso_year;
  PlacedNumber iso_week;
  PlacedNumber iso_day_of_year;
};

// OUT_OF_RANGE: the fields are no time, or GoogleSQL has not built their combination.
absl::StatusOr<int64_t> TimestampOf(TimeFields fields);

}  // namespace sonde::sql
