// Times and durations of the series layer: microseconds since 1970-01-01T00:00:00Z, and the calendar in UTC.
//
// A time of a point lies in [kTimeBeginMicros, kTimeEndMicros): years 0001 to 9999 of the Gregorian calendar,
// which is counted back to before it was introduced, as ISO 8601 does.  Leap seconds do not exist.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sonde::series {

constexpr int64_t kMicrosPerSecond = 1'000'000;
constexpr int64_t kMicrosPerMinute = 60 * kMicrosPerSecond;
constexpr int64_t kMicrosPerHour = 60 * kMicrosPerMinute;
constexpr int64_t kMicrosPerDay = 24 * kMicrosPerHour;
constexpr int64_t kMicrosPerWeek = 7 * kMicrosPerDay;
// 0001-01-01T00:00:00Z, a Monday.
constexpr int64_t kTimeBeginMicros = -62'135'596'800 * kMicrosPerSecond;
// 10000-01-01T00:00:00Z.
constexpr int64_t kTimeEndMicros = 253'402'300'800 * kMicrosPerSecond;

struct CivilTime {
  int year = 1970;
  int month = 1;  // 1 to 12
  int day = 1;    // 1 to 31
  int hour = 0;
  int minute = 0;
  int second = 0;
  int micros = 0;

  bool operator==(const CivilTime&) const = default;
};

// The largest multiple of `width_micros` (> 0) up to `micros`; before 1970, too.
constexpr int64_t FloorMicros(int64_t micros, int64_t width_micros) {
  const int64_t rest = micros % width_micros;
  return micros - (rest < 0 ? rest + width_micros : rest);
}

// `micros` must be in [kTimeBeginMicros, kTimeEndMicros].
CivilTime CivilFromMicros(int64_t micros);
// Nothing when a part is out of range (February 30, hour 24) or the year is not in 1 to 9999.
std::optional<int64_t> MicrosFromCivil(const CivilTime& civil);

// Weeks as ISO 8601 counts them: Monday to Sunday; week 1 holds the first Thursday of the year.
struct IsoWeek {
  int year = 1970;
  int week = 1;  // 1 to 53
};
IsoWeek IsoWeekFromMicros(int64_t micros);
// The Monday.  Nothing when that year has no such week.
std::optional<int64_t> MicrosFromIsoWeek(IsoWeek week);

// Pieces of the time line: fixed widths counted from 1970-01-01T00:00:00Z in both directions, ISO weeks (from
// Monday), months.
struct BucketWidth {
  enum class Kind : uint8_t { kFixed, kWeek, kMonth };
  Kind kind = Kind::kFixed;
  int64_t micros = 0;  // of kFixed; > 0

  // The start of the bucket that holds `time_micros`.  A bucket that would begin before kTimeBeginMicros
  // begins there.
  int64_t Start(int64_t time_micros) const;
  // The start of the next bucket.
  int64_t End(int64_t time_micros) const;
  // About how long one is: a month counts 31 days.
  int64_t MicrosMax() const;
  // minute, hour, day, week, month, or a duration.
  std::string Name() const;
  // Whether each of these buckets starts where one of `unit` starts.
  bool IsMultipleOf(const BucketWidth& unit) const;

  bool operator==(const BucketWidth&) const = default;
};

// `minute`, `hour`, `day`, `week`, `month`, `1mo`, `1w`, or a duration.
absl::StatusOr<BucketWidth> ParseBucketWidth(std::string_view text);

// A whole number and a unit: us, ms, s, m, h, d, w, y (365 days), as in `15m`.  INVALID_ARGUMENT otherwise,
// and for 0.
absl::StatusOr<int64_t> ParseDurationMicros(std::string_view text);
// The shortest such text.
std::string DurationText(int64_t micros);

// 2021-03-05T12:04:00Z, with as many digits of the second's fraction (0, 3 or 6) as the time needs.
std::string TimeText(int64_t micros);
void AppendTimeText(int64_t micros, std::string* out);

}  // namespace sonde::series
