// TIMESTAMP_TRUNC: the start of the hour, day, month, ... of a zone that a time lies in.
//
//   TimestampTruncation truncation(part, zone);
//   for (int64_t time : sorted) starts.push_back(*truncation.Start(time));
//
// Parts of an hour and less are cut by the offset that the zone has at that time; days and longer ones begin when the
// zone's clocks show midnight (LocalClock::Midnight).  Where clocks are put back over midnight, a day comes in pieces.
// Threads: not for several threads.
// Cost: two comparisons for a time in the same part as the one before.
#pragma once

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "sql/time/calendar.h"
#include "sql/time/time_zone.h"

namespace sonde::sql {

class TimestampTruncation {
 public:
  TimestampTruncation(const DatePart& part, const LocalClock& clock) : part_(part), clock_(clock) {}

  // OUT_OF_RANGE: the part begins before the first timestamp.
  absl::StatusOr<int64_t> Start(int64_t micros) {
    if (micros >= from_ && micros < to_) return start_;
    return Find(micros);
  }
  // The same without a status, for times that TryStart answers: true.
  bool TryStart(int64_t micros, int64_t* start) {
    if (micros < from_ || micros >= to_) return false;
    *start = start_;
    return true;
  }

 private:
  absl::StatusOr<int64_t> Find(int64_t micros);
  absl::Status LeavesRange(int64_t micros, int64_t days, int64_t start_days) const;

  DatePart part_;
  LocalClock clock_;
  // Times [from, to) lie in the part that begins at start.
  int64_t from_ = 0;
  int64_t to_ = 0;
  int64_t start_ = 0;
};

}  // namespace sonde::sql
