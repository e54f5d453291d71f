// Pieces of time that people ask for: of a calendar (days, weeks, months, quarters, years) in a time zone, or
// of a fixed length.
//
// Pieces of an hour and less begin at multiples of their length in local time; those of hours and days at
// local clock times counted from midnight and from 1970-01-01, so that a day of a change of clocks has 23 or
// 25 hours and six hours of it may last five or seven.  Weeks begin on Monday.  Nothing begins before 1970 in
// UTC: what would, begins there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "series/schema/calendar.h"

namespace sonde::series {

class TimeBuckets {
 public:
  // In UTC.  NOLINTNEXTLINE(google-explicit-constructor): a width is a way to cut time.
  TimeBuckets(const BucketWidth& width) : width_(width) {}

  // `text`: minute, hour, day, week, month, quarter, year, N of mo or y (`3mo`), or a duration (`15m`).
  // `zone`: an IANA name (Europe/Rome), or UTC.  INVALID_ARGUMENT: neither; a duration that does not divide
  // the day and is not of whole days, in a zone other than UTC.
  static absl::StatusOr<TimeBuckets> Parse(std::string_view text, std::string_view zone);

  // Of the bucket that holds `time_micros`, which lies in [0, kTimeEndMicros).
  int64_t Start(int64_t time_micros) const;
  // The start of the next bucket.
  int64_t End(int64_t time_micros) const;
  // About how long one is.
  int64_t MicrosMin() const;
  std::string Name() const;
  // None: UTC.
  const std::optional<absl::TimeZone>& zone() const { return zone_; }
  // How exactly people want to see the starts.
  BucketWidth Unit() const;

 private:
  int64_t LocalStart(int64_t time_micros) const;
  int64_t MonthStart(int64_t time_micros, int months_later) const;

  BucketWidth width_;
  int months_ = 1;  // of BucketWidth::Kind::kMonth
  std::optional<absl::TimeZone> zone_;
};

// INVALID_ARGUMENT: no such time zone.  None for UTC.
absl::StatusOr<std::optional<absl::TimeZone>> FindTimeZone(std::string_view name);

// RFC 3339, with the zone's offset at that time; Z for UTC.
std::string TimeTextIn(const std::optional<absl::TimeZone>& zone, int64_t micros);

}  // namespace sonde::series
