#include "series/query/time_buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "absl/time/civil_time.h"
#include "base/bytes.h"

namespace sonde::series {
namespace {

constexpr int kMonthsMax = 1200;
constexpr int64_t kSecondsPerDay = 86'400;

int64_t OffsetMicros(const absl::TimeZone& zone, int64_t micros) {
  return zone.At(absl::FromUnixMicros(micros)).offset * kMicrosPerSecond;
}

int64_t MicrosOf(const absl::TimeZone& zone, const absl::CivilSecond& local) {
  return std::max<int64_t>(0, absl::ToUnixMicros(absl::FromCivil(local, zone)));
}

absl::CivilSecond LocalTime(const absl::TimeZone& zone, int64_t micros) {
  return zone.At(absl::FromUnixMicros(micros)).cs;
}

std::optional<int> MonthsOf(std::string_view text) {
  if (text == "quarter") return 3;
  if (text == "year") return 12;
  int count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit = text.substr(end - text.data());
  if (error != std::errc() || count < 1 || count > kMonthsMax) return std::nullopt;
  if (unit == "mo") return count;
  return unit == "y" && count <= kMonthsMax / 12 ? std::optional(count * 12) : std::nullopt;
}

}  // namespace

absl::StatusOr<std::optional<absl::TimeZone>> FindTimeZone(std::string_view name) {
  if (name.empty() || name == "UTC") return std::nullopt;
  absl::TimeZone zone;
  // A path is no name: only what the system's own list has.
  if (name.front() == '/' || name.front() == '.' || name.find("..") != std::string_view::npos ||
      name.size() > 64 || !absl::LoadTimeZone(std::string(name), &zone)) {
    return absl::InvalidArgumentError(fmt::format(
        "time zone '{}'; allowed: UTC, or a name that this machine knows (package tzdata), such as "
        "Europe/Rome",
        Printable(name)));
  }
  return zone;
}

absl::StatusOr<TimeBuckets> TimeBuckets::Parse(std::string_view text, std::string_view zone_name) {
  const absl::StatusOr<std::optional<absl::TimeZone>> zone = FindTimeZone(zone_name);
  if (!zone.ok()) return zone.status();
  TimeBuckets buckets(BucketWidth{BucketWidth::Kind::kMonth, 0});
  if (const std::optional<int> months = MonthsOf(text)) {
    buckets.months_ = *months;
  } else {
    const absl::StatusOr<BucketWidth> width = ParseBucketWidth(text);
    if (!width.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("'{}'; allowed: minute, hour, day, week, month, quarter, "
                      "year, or a number and a unit, such as 15m, 6h, 3mo",
                      Printable(text)));
    }
    buckets.width_ = *width;
  }
  buckets.zone_ = *zone;
  const BucketWidth& width = buckets.width_;
  if (buckets.zone_ && width.kind == BucketWidth::Kind::kFixed && kMicrosPerDay % width.micros != 0 &&
      width.micros % kMicrosPerDay != 0) {
    return absl::InvalidArgumentError(fmt::format(
        "every {} in zone {}; allowed there: what divides a day, or whole days", width.Name(), zone_name));
  }
  return buckets;
}

int64_t TimeBuckets::MonthStart(int64_t time_micros, int months_later) const {
  const absl::TimeZone zone = zone_.value_or(absl::UTCTimeZone());
  const absl::CivilMonth month(LocalTime(zone, time_micros));
  const int64_t since = month - absl::CivilMonth(1970);
  const int64_t floor = since >= 0 ? since / months_ * months_ : -months_;
  return MicrosOf(zone, absl::CivilSecond(absl::CivilMonth(1970) + floor + months_later));
}

int64_t TimeBuckets::LocalStart(int64_t time_micros) const {
  const absl::TimeZone& zone = *zone_;
  if (width_.kind == BucketWidth::Kind::kFixed && width_.micros <= kMicrosPerHour) {
    const int64_t offset = OffsetMicros(zone, time_micros);
    const int64_t local = time_micros + offset;
    const int64_t rest = (local % width_.micros + width_.micros) % width_.micros;
    return std::max<int64_t>(0, time_micros - rest);
  }
  const absl::CivilSecond local = LocalTime(zone, time_micros);
  const absl::CivilDay day(local);
  if (width_.kind == BucketWidth::Kind::kWeek) {
    return MicrosOf(zone, absl::CivilSecond(absl::PrevWeekday(day + 1, absl::Weekday::monday)));
  }
  if (width_.micros < kMicrosPerDay) {
    const int64_t width_seconds = width_.micros / kMicrosPerSecond;
    const int64_t second = (local - absl::CivilSecond(day)) / width_seconds * width_seconds;
    return MicrosOf(zone, absl::CivilSecond(day) + second);
  }
  const int64_t days = width_.micros / kMicrosPerDay;
  const int64_t since = day - absl::CivilDay(1970);
  const int64_t floor = since >= 0 ? since / days * days : -days;
  return MicrosOf(zone, absl::CivilSecond(absl::CivilDay(1970) + floor));
}

int64_t TimeBuckets::Start(int64_t time_micros) const {
  if (width_.kind == BucketWidth::Kind::kMonth && (zone_ || months_ != 1)) return MonthStart(time_micros, 0);
  return zone_ ? LocalStart(time_micros) : width_.Start(time_micros);
}

int64_t TimeBuckets::End(int64_t time_micros) const {
  if (width_.kind == BucketWidth::Kind::kMonth && (zone_ || months_ != 1)) {
    return MonthStart(time_micros, months_);
  }
  if (!zone_) return width_.End(time_micros);
  const absl::TimeZone& zone = *zone_;
  if (width_.kind == BucketWidth::Kind::kFixed && width_.micros <= kMicrosPerHour) {
    // The clocks may change within: there the bucket ends.
    const int64_t end = LocalStart(time_micros) + width_.micros;
    return LocalStart(end) > time_micros ? LocalStart(end) : end;
  }
  const absl::CivilSecond local = LocalTime(zone, time_micros);
  const absl::CivilDay day(local);
  if (width_.kind == BucketWidth::Kind::kWeek) {
    return MicrosOf(zone, absl::CivilSecond(absl::NextWeekday(day, absl::Weekday::monday)));
  }
  if (width_.micros < kMicrosPerDay) {
    const int64_t width_seconds = width_.micros / kMicrosPerSecond;
    const int64_t second = ((local - absl::CivilSecond(day)) / width_seconds + 1) * width_seconds;
    return MicrosOf(zone,
                    second >= kSecondsPerDay ? absl::CivilSecond(day + 1) : absl::CivilSecond(day) + second);
  }
  const int64_t days = width_.micros / kMicrosPerDay;
  const int64_t since = day - absl::CivilDay(1970);
  const int64_t floor = since >= 0 ? since / days * days : -days;
  return MicrosOf(zone, absl::CivilSecond(absl::CivilDay(1970) + floor + days));
}

int64_t TimeBuckets::MicrosMin() const {
  switch (width_.kind) {
    case BucketWidth::Kind::kMonth:
      return months_ * 28 * kMicrosPerDay;
    case BucketWidth::Kind::kWeek:
      return kMicrosPerWeek - kMicrosPerDay;
    case BucketWidth::Kind::kFixed:
      break;
  }
  return zone_ && width_.micros >= 2 * kMicrosPerHour ? width_.micros / 2 : width_.micros;
}

std::string TimeBuckets::Name() const {
  std::string name = width_.Name();
  if (width_.kind == BucketWidth::Kind::kMonth && months_ != 1) {
    name = months_ == 3 ? "quarter" : months_ == 12 ? "year" : fmt::format("{}mo", months_);
  }
  return zone_ ? fmt::format("{} ({})", name, std::string(zone_->name())) : name;
}

BucketWidth TimeBuckets::Unit() const { return width_; }

std::string TimeTextIn(const std::optional<absl::TimeZone>& zone, int64_t micros) {
  if (!zone) return TimeText(micros);
  const int64_t offset = OffsetMicros(*zone, micros);
  std::string text = TimeText(std::max<int64_t>(0, micros + offset));
  text.pop_back();  // the Z
  const int64_t minutes = (offset < 0 ? -offset : offset) / kMicrosPerMinute;
  return text + fmt::format("{}{:02}:{:02}", offset < 0 ? '-' : '+', minutes / 60, minutes % 60);
}

}  // namespace sonde::series
