// TIMESTAMP_BUCKET over the calendar of a time zone: the buckets of series (series/schema/time_buckets.h), or those that
// begin with the date of an origin.
#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "series/schema/time_buckets.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/time/calendar.h"
#include "sql/time/time_bucket.h"
#include "sql/time/time_state.h"
#include "sql/time/time_text.h"
#include "sql/time/time_zone.h"

namespace sonde::sql {
namespace {

using series::BucketWidth;
using series::TimeBuckets;

// Of a call: the width and the zone, which hardly ever change from row to row.
class ZoneBucketState : public CallState {
 public:
  absl::Status Set(int64_t count, std::string_view part, std::string_view zone) {
    if (is_set_ && count == count_ && part == part_ && zone == zone_) return status_;
    is_set_ = true;
    count_ = count;
    part_ = part;
    zone_ = zone;
    piece_ = {};
    buckets_.reset();
    status_ = Read();
    return status_;
  }

  const BucketInterval& width() const { return width_; }
  LocalClock& clock() { return clock_; }

  absl::StatusOr<int64_t> Start(int64_t micros) {
    if (!buckets_) {
      if (absl::Status status = MakeBuckets(); !status.ok()) return status;
    }
    if (micros < piece_.start_micros || micros >= piece_.end_micros) piece_ = buckets_->Find(micros);
    return piece_.start_micros;
  }

 private:
  absl::Status Read() {
    const absl::StatusOr<BucketInterval> width = BucketIntervalOf(count_, part_);
    if (!width.ok()) return width.status();
    width_ = *width;
    const int64_t size = width_.months + width_.days + width_.micros;
    if (size == 0) return absl::OutOfRangeError("Zero bucket width INTERVAL is not allowed");
    if (size < 0) return absl::OutOfRangeError("Negative bucket width INTERVAL is not allowed");
    const absl::StatusOr<absl::TimeZone> zone = FindTimeZone(zone_);
    if (!zone.ok()) return zone.status();
    clock_ = LocalClock(*zone);
    return absl::OkStatus();
  }

  absl::Status MakeBuckets() {
    BucketWidth width{BucketWidth::Kind::kMonth, 0};
    if (width_.months == 0) width = {BucketWidth::Kind::kFixed, width_.days * kMicrosPerDay + width_.micros};
    const std::optional<absl::TimeZone> zone = clock_.is_utc() ? std::nullopt : std::optional(clock_.zone());
    absl::StatusOr<TimeBuckets> buckets =
        TimeBuckets::Make(width, width_.months == 0 ? 1 : static_cast<int>(width_.months), zone);
    if (!buckets.ok()) {
      return absl::OutOfRangeError(fmt::format(
          "Bucket width INTERVAL {} {} is neither whole days nor a part of a day, which buckets in "
          "time zone {} have to be",
          count_, part_, zone_));
    }
    buckets_ = *std::move(buckets);
    return absl::OkStatus();
  }

  bool is_set_ = false;
  int64_t count_ = 0;
  std::string part_;
  std::string zone_;
  absl::Status status_;
  BucketInterval width_;
  LocalClock clock_;
  std::optional<TimeBuckets> buckets_;
  TimeBuckets::Piece piece_;
};

absl::StatusOr<int64_t> BucketInZone(Call& call, int64_t micros, int64_t count, std::string_view part,
                                     std::string_view zone) {
  auto& state = call.state<ZoneBucketState>();
  if (absl::Status status = state.Set(count, part, zone); !status.ok()) return status;
  return state.Start(micros);
}

absl::StatusOr<int64_t> BucketInZoneFrom(Call& call, int64_t micros, int64_t count, std::string_view part,
                                         int64_t origin, std::string_view zone) {
  auto& state = call.state<ZoneBucketState>();
  if (absl::Status status = state.Set(count, part, zone); !status.ok()) return status;
  const BucketInterval& width = state.width();
  if (width.micros != 0) {
    return absl::OutOfRangeError(
        "Only MONTH and DAY parts are allowed in bucket width INTERVAL with an origin in a time zone");
  }
  LocalClock& clock = state.clock();
  const int64_t origin_days = FloorDivide(clock.Local(origin), kMicrosPerDay);
  int64_t days = FloorDivide(clock.Local(micros), kMicrosPerDay);
  // Clocks that were set back over midnight show the day before again.
  if (!clock.is_utc() && clock.Midnight(days + 1) <= micros) ++days;
  const std::optional<int64_t> start = width.months != 0 ? StartOfMonths(days, width.months, origin_days)
                                                         : days - FloorModulo(days - origin_days, width.days);
  if (start.has_value() && IsDate(*start)) return MidnightOn(&clock, *start);
  return absl::OutOfRangeError(fmt::format("Bucket for {} is outside of timestamp range",
                                           TimestampTextIn(absl::UTCTimeZone(), micros)));
}

}  // namespace

std::vector<Overload> TimestampBucketInZoneOverloads() {
  Overload by_name =
      Extension(Scalar("(TIMESTAMP, INTERVAL, time_zone => STRING) -> TIMESTAMP", RowKernel<BucketInZone>));
  // A third argument without a name is the origin, also as a text.
  by_name.needs_name = true;
  return {by_name, Extension(Scalar("(TIMESTAMP, INTERVAL, TIMESTAMP, time_zone => STRING) -> TIMESTAMP",
                                    RowKernel<BucketInZoneFrom>))};
}

}  // namespace sonde::sql
