// Pieces of time that people ask for: of a calendar (days, weeks, months, quarters, years) in a time zone, or
// of a fixed length.
//
// Pieces of an hour and less begin at multiples of their length in local time, and where the clocks change by
// what is no multiple of it.  Those of hours, days and months begin at local clock times, counted from
// midnight and from 1970-01-01 in both directions: a day of a change of clocks has 23 or 25 hours, and six
// hours of it may last five or seven.  Whole weeks begin on Monday, several of them counted from 1969-12-29.
// Every time lies in one piece, and pieces touch.  Nothing begins before kTimeBeginMicros: what would, begins
// there.
//
// Threads: const functions may be called by several at once.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "series/schema/calendar.h"

namespace sonde::series {

// How exactly people want to see times.
enum class TimeUnit : uint8_t { kYear, kMonth, kDay, kMinute, kSecond, kMillisecond, kMicrosecond };
// The unit of multiples of a fixed width.
TimeUnit TimeUnitOf(int64_t width_micros);

class TimeBuckets {
 public:
  // In UTC.  NOLINTNEXTLINE(google-explicit-constructor): a width is a way to cut time.
  TimeBuckets(const BucketWidth& width) : TimeBuckets(width, 1, std::nullopt) {}

  // `text`: minute, hour, day, week, month, quarter, year, N of mo or y (`3mo`), or a duration (`15m`).
  // `zone`: a name of the tz database (Europe/Rome), or UTC.  INVALID_ARGUMENT: neither; a duration that does
  // not divide the day and is not of whole days, in a zone other than UTC.
  static absl::StatusOr<TimeBuckets> Parse(std::string_view text, std::string_view zone);
  // `months`: of BucketWidth::Kind::kMonth how many; at least 1.  INVALID_ARGUMENT: a width that such a zone does not
  // have, as above.
  static absl::StatusOr<TimeBuckets> Make(const BucketWidth& width, int months,
                                          std::optional<absl::TimeZone> zone);

  struct Piece {
    int64_t start_micros = 0;
    int64_t end_micros = 0;  // the start of the next one
  };
  // The one that holds `time_micros`, which lies in [kTimeBeginMicros, kTimeEndMicros).
  Piece Find(int64_t time_micros) const;
  int64_t Start(int64_t time_micros) const { return Find(time_micros).start_micros; }
  int64_t End(int64_t time_micros) const { return Find(time_micros).end_micros; }
  // About how long one is.
  int64_t MicrosMin() const;
  std::string Name() const;
  // None: UTC.
  const std::optional<absl::TimeZone>& zone() const { return zone_; }
  // How exactly people want to see the starts.
  TimeUnit Unit() const;

 private:
  TimeBuckets(const BucketWidth& width, int months, std::optional<absl::TimeZone> zone);

  Piece FindByClock(int64_t time_micros) const;
  Piece FindByCalendar(int64_t time_micros) const;
  absl::CivilSecond CalendarStart(const absl::CivilSecond& local) const;
  absl::CivilSecond CalendarNext(const absl::CivilSecond& start) const;
  absl::CivilSecond LocalTime(int64_t time_micros) const;
  int64_t MicrosOf(const absl::CivilSecond& local) const;

  BucketWidth width_;
  int months_;  // of BucketWidth::Kind::kMonth
  std::optional<absl::TimeZone> zone_;
  int64_t fixed_micros_;   // the length of weeks, too; 0: of months
  int64_t origin_micros_;  // from where fixed lengths are counted, in local time
};

// INVALID_ARGUMENT: the tz database has no such time zone.  None for UTC.
absl::StatusOr<std::optional<absl::TimeZone>> FindTimeZone(std::string_view name);

// The time that a clock of the zone shows, as if it were UTC; `micros` itself where that is outside
// [kTimeBeginMicros, kTimeEndMicros).  Offsets are rounded to minutes, as RFC 3339 does.
int64_t LocalMicros(const std::optional<absl::TimeZone>& zone, int64_t micros);

// RFC 3339, with the zone's offset at that time; Z for UTC.
std::string TimeTextIn(const std::optional<absl::TimeZone>& zone, int64_t micros);
void AppendTimeTextIn(const std::optional<absl::TimeZone>& zone, int64_t micros, std::string* out);

}  // namespace sonde::series
