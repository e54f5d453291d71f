// Time zones by the names that GoogleSQL takes, and the clock of a zone.
//
// Threads: FindTimeZone may be called at once; a clock is not for several threads.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string_view>

#include "absl/status/statusor.h"
#include "absl/time/time.h"

namespace sonde::sql {

// `name`: of the tz database (Europe/Rome), UTC, or an offset up to 14 hours: +2, -02:30, +0530, UTC+5.
// OUT_OF_RANGE: there is no such zone.
absl::StatusOr<absl::TimeZone> FindTimeZone(std::string_view name);
// The zone of an offset as above; nothing: the text is none, or leads beyond 14 hours.
std::optional<absl::TimeZone> ZoneOfOffset(std::string_view text);

// Tells the local times of a zone.
// Cost: a comparison as long as times lie between the same changes of the zone's clocks as those before.
class LocalClock {
 public:
  LocalClock() = default;  // of UTC
  explicit LocalClock(const absl::TimeZone& zone);

  const absl::TimeZone& zone() const { return zone_; }
  bool is_utc() const { return is_utc_; }
  // What a clock of the zone shows, as if it were UTC.  `micros`: a TIMESTAMP.
  int64_t Local(int64_t micros) { return micros + Offset(micros); }
  int64_t Offset(int64_t micros) {
    if (micros < from_ || micros >= to_) Load(micros);
    return offset_;
  }
  // Times [from, to), of which the last time asked for is one, have the same offset.
  int64_t from() const { return from_; }
  int64_t to() const { return to_; }
  // The time when the clocks show midnight before a day; of two such times the first; where the clocks skip it, the
  // time that it would have been with the offset before.
  int64_t Midnight(int64_t days) const;

 private:
  void Load(int64_t micros);

  absl::TimeZone zone_ = absl::UTCTimeZone();
  bool is_utc_ = true;
  bool is_fixed_ = true;
  int64_t from_ = std::numeric_limits<int64_t>::min();
  int64_t to_ = std::numeric_limits<int64_t>::max();
  int64_t offset_ = 0;
};

}  // namespace sonde::sql
