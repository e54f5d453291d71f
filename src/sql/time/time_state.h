// What calls of functions of dates and times keep from row to row: the part and the time zone, which hardly ever change.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/call.h"
#include "sql/time/calendar.h"
#include "sql/time/time_zone.h"

namespace sonde::sql {

class TimeState : public CallState {
 public:
  // The part of a call of `function` for a value of `type` ("DATE").  INVALID_ARGUMENT: the function does not take it.
  absl::StatusOr<DatePart> Part(std::string_view function, std::string_view type, std::string_view text) {
    if (!part_.has_value() || text != part_text_) ReadPart(function, type, text);
    if (!part_status_.ok()) return part_status_;
    return *part_;
  }
  // The clock of a zone by name.  OUT_OF_RANGE: there is no such zone.
  absl::StatusOr<LocalClock*> Clock(std::string_view zone) {
    if (!has_clock_ || zone != zone_name_) ReadZone(zone);
    if (!zone_status_.ok()) return zone_status_;
    return &clock_;
  }
  // The clock of the statement.
  LocalClock* Clock(const StatementFacts& facts) {
    if (!has_clock_) {
      clock_ = LocalClock(facts.time_zone);
      has_clock_ = true;
    }
    return &clock_;
  }

 private:
  void ReadPart(std::string_view function, std::string_view type, std::string_view text);
  void ReadZone(std::string_view name);

  std::string part_text_;
  std::optional<DatePart> part_;
  absl::Status part_status_;
  std::string zone_name_;
  bool has_clock_ = false;
  absl::Status zone_status_;
  LocalClock clock_;
};

// The sum of a timestamp and an interval, as TIMESTAMP_ADD.  OUT_OF_RANGE: it leaves the range.
absl::StatusOr<int64_t> AddToTimestamp(const DatePart& part, int64_t micros, int64_t count);
// The timestamp `value` units of `micros_of_one` after 1970-01-01.  OUT_OF_RANGE: it leaves the range.
absl::StatusOr<int64_t> CheckedTimestamp(int64_t value, int64_t micros_of_one);
// DATE(timestamp) on a clock.  OUT_OF_RANGE: the clock's date is none of GoogleSQL.
absl::StatusOr<int64_t> DateOn(LocalClock* clock, int64_t micros);
// TIMESTAMP(date) on a clock.
absl::StatusOr<int64_t> MidnightOn(LocalClock* clock, int64_t days);

}  // namespace sonde::sql
