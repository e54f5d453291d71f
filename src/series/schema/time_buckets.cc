#include "series/schema/time_buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "absl/strings/ascii.h"
#include "base/bytes.h"
#include "base/format.h"

namespace sonde::series {
namespace {

constexpr int kMonthsMax = 1200;
constexpr size_t kZoneNameBytesMax = 64;
// 1969-12-29, a Monday.
constexpr int64_t kWeeksOriginMicros = -3 * kMicrosPerDay;
constexpr absl::CivilSecond kEpoch(1970);

int64_t OffsetMicros(const absl::TimeZone& zone, int64_t micros) {
  return zone.At(absl::FromUnixMicros(micros)).offset * kMicrosPerSecond;
}

// The offset of a clock as RFC 3339 can say it: the nearest whole minutes.
int64_t ShownOffsetMicros(const absl::TimeZone& zone, int64_t micros) {
  const int64_t offset = FloorMicros(OffsetMicros(zone, micros) + kMicrosPerMinute / 2, kMicrosPerMinute);
  const bool is_writable = micros + offset >= kTimeBeginMicros && micros + offset < kTimeEndMicros;
  return is_writable ? offset : 0;
}

// When the clocks change between two times that have different offsets.
int64_t ChangeOfClocks(const absl::TimeZone& zone, int64_t before_micros, int64_t after_micros) {
  const int64_t offset = OffsetMicros(zone, before_micros);
  while (after_micros - before_micros > 1) {
    const int64_t middle = before_micros + (after_micros - before_micros) / 2;
    (OffsetMicros(zone, middle) == offset ? before_micros : after_micros) = middle;
  }
  return after_micros;
}

// Whether the tz database may have the name.  Whoever loads it takes paths, prefixes and the machine's own
// files for names, too.
bool IsZoneName(std::string_view name) {
  if (name.empty() || name.size() > kZoneNameBytesMax || name.front() == '/') return false;
  if (name == "localtime" || name == "posixrules" || name == "Factory") return false;
  if (name.starts_with("posix/") || name.starts_with("right/")) return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '/' || c == '_' || c == '-' || c == '+';
  });
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
  if (!IsZoneName(name) || !absl::LoadTimeZone(std::string(name), &zone)) {
    return absl::InvalidArgumentError(fmt::format(
        "time zone '{}'; allowed: UTC, or a name that this machine knows (package tzdata), such as "
        "Europe/Rome",
        Printable(name)));
  }
  return zone;
}

TimeUnit TimeUnitOf(int64_t width_micros) {
  if (width_micros % kMicrosPerDay == 0) return TimeUnit::kDay;
  if (width_micros % kMicrosPerMinute == 0) return TimeUnit::kMinute;
  if (width_micros % kMicrosPerSecond == 0) return TimeUnit::kSecond;
  return width_micros % 1'000 == 0 ? TimeUnit::kMillisecond : TimeUnit::kMicrosecond;
}

TimeBuckets::TimeBuckets(const BucketWidth& width, int months, std::optional<absl::TimeZone> zone)
    : width_(width), months_(months), zone_(std::move(zone)) {
  switch (width.kind) {
    case BucketWidth::Kind::kFixed:
      fixed_micros_ = width.micros;
      break;
    case BucketWidth::Kind::kWeek:
      fixed_micros_ = kMicrosPerWeek;
      break;
    case BucketWidth::Kind::kMonth:
      fixed_micros_ = 0;
      break;
  }
  origin_micros_ = fixed_micros_ % kMicrosPerWeek == 0 ? kWeeksOriginMicros : 0;
}

absl::StatusOr<TimeBuckets> TimeBuckets::Parse(std::string_view text, std::string_view zone_name) {
  const absl::StatusOr<std::optional<absl::TimeZone>> zone = FindTimeZone(zone_name);
  if (!zone.ok()) return zone.status();
  BucketWidth width{BucketWidth::Kind::kMonth, 0};
  const std::optional<int> months = MonthsOf(text);
  if (!months) {
    const absl::StatusOr<BucketWidth> parsed = ParseBucketWidth(text);
    if (!parsed.ok()) {
      return absl::InvalidArgumentError(
          fmt::format("'{}'; allowed: minute, hour, day, week, month, quarter, "
                      "year, or a number and a unit, such as 15m, 6h, 3mo",
                      Printable(text)));
    }
    width = *parsed;
  }
  return Make(width, months.value_or(1), *zone);
}

absl::StatusOr<TimeBuckets> TimeBuckets::Make(const BucketWidth& width, int months,
                                              std::optional<absl::TimeZone> zone) {
  if (zone && width.kind == BucketWidth::Kind::kFixed && kMicrosPerDay % width.micros != 0 &&
      width.micros % kMicrosPerDay != 0) {
    return absl::InvalidArgumentError(
        fmt::format("every {} in zone {}; allowed there: what divides a day, or whole days", width.Name(),
                    std::string(zone->name())));
  }
  return TimeBuckets(width, months, std::move(zone));
}

TimeBuckets::Piece TimeBuckets::Find(int64_t time_micros) const {
  Piece piece;
  if (fixed_micros_ != 0 && !zone_) {
    piece.start_micros = FloorMicros(time_micros - origin_micros_, fixed_micros_) + origin_micros_;
    piece.end_micros = piece.start_micros + fixed_micros_;
  } else if (fixed_micros_ != 0 && fixed_micros_ <= kMicrosPerHour) {
    piece = FindByClock(time_micros);
  } else {
    piece = FindByCalendar(time_micros);
  }
  piece.start_micros = std::max(piece.start_micros, kTimeBeginMicros);
  return piece;
}

TimeBuckets::Piece TimeBuckets::FindByClock(int64_t time_micros) const {
  const int64_t offset = OffsetMicros(*zone_, time_micros);
  Piece piece;
  piece.start_micros = FloorMicros(time_micros + offset, fixed_micros_) - offset;
  piece.end_micros = piece.start_micros + fixed_micros_;
  const auto counts_otherwise = [&](int64_t micros) {
    return (OffsetMicros(*zone_, micros) - offset) % fixed_micros_ != 0;
  };
  if (counts_otherwise(piece.start_micros)) {
    piece.start_micros = ChangeOfClocks(*zone_, piece.start_micros, time_micros);
  }
  if (counts_otherwise(piece.end_micros - 1)) {
    piece.end_micros = ChangeOfClocks(*zone_, time_micros, piece.end_micros - 1);
  }
  return piece;
}

TimeBuckets::Piece TimeBuckets::FindByCalendar(int64_t time_micros) const {
  absl::CivilSecond start = CalendarStart(LocalTime(time_micros));
  absl::CivilSecond next = CalendarNext(start);
  Piece piece{MicrosOf(start), MicrosOf(next)};
  // Clocks that are set back over the start of a piece show the time before it again.
  while (piece.end_micros <= time_micros) {
    start = next;
    next = CalendarNext(start);
    piece = {piece.end_micros, MicrosOf(next)};
  }
  return piece;
}

absl::CivilSecond TimeBuckets::CalendarStart(const absl::CivilSecond& local) const {
  if (fixed_micros_ == 0) {
    const int64_t since = absl::CivilMonth(local) - absl::CivilMonth(kEpoch);
    return absl::CivilSecond(absl::CivilMonth(kEpoch) + FloorMicros(since, months_));
  }
  const absl::CivilDay day(local);
  if (fixed_micros_ < kMicrosPerDay) {
    const int64_t second = local - absl::CivilSecond(day);
    return absl::CivilSecond(day) + FloorMicros(second, fixed_micros_ / kMicrosPerSecond);
  }
  const absl::CivilDay origin = absl::CivilDay(kEpoch) + origin_micros_ / kMicrosPerDay;
  return absl::CivilSecond(origin + FloorMicros(day - origin, fixed_micros_ / kMicrosPerDay));
}

absl::CivilSecond TimeBuckets::CalendarNext(const absl::CivilSecond& start) const {
  if (fixed_micros_ == 0) return absl::CivilSecond(absl::CivilMonth(start) + months_);
  return start + fixed_micros_ / kMicrosPerSecond;
}

absl::CivilSecond TimeBuckets::LocalTime(int64_t time_micros) const {
  if (zone_) return zone_->At(absl::FromUnixMicros(time_micros)).cs;
  return kEpoch + FloorMicros(time_micros, kMicrosPerSecond) / kMicrosPerSecond;
}

int64_t TimeBuckets::MicrosOf(const absl::CivilSecond& local) const {
  return zone_ ? absl::ToUnixMicros(absl::FromCivil(local, *zone_)) : (local - kEpoch) * kMicrosPerSecond;
}

int64_t TimeBuckets::MicrosMin() const {
  if (fixed_micros_ == 0) return months_ * 28 * kMicrosPerDay;
  return zone_ && fixed_micros_ >= 2 * kMicrosPerHour ? fixed_micros_ / 2 : fixed_micros_;
}

std::string TimeBuckets::Name() const {
  std::string name = width_.Name();
  if (width_.kind == BucketWidth::Kind::kMonth && months_ != 1) {
    name = months_ == 3 ? "quarter" : months_ == 12 ? "year" : fmt::format("{}mo", months_);
  }
  return zone_ ? fmt::format("{} ({})", name, std::string(zone_->name())) : name;
}

TimeUnit TimeBuckets::Unit() const {
  if (fixed_micros_ == 0) return months_ % 12 == 0 ? TimeUnit::kYear : TimeUnit::kMonth;
  return TimeUnitOf(fixed_micros_);
}

int64_t LocalMicros(const std::optional<absl::TimeZone>& zone, int64_t micros) {
  return zone ? micros + ShownOffsetMicros(*zone, micros) : micros;
}

std::string TimeTextIn(const std::optional<absl::TimeZone>& zone, int64_t micros) {
  std::string text;
  AppendTimeTextIn(zone, micros, &text);
  return text;
}

void AppendTimeTextIn(const std::optional<absl::TimeZone>& zone, int64_t micros, std::string* out) {
  if (!zone) return AppendTimeText(micros, out);
  const int64_t offset = ShownOffsetMicros(*zone, micros);
  AppendTimeText(micros + offset, out);
  out->pop_back();  // the Z
  const int64_t minutes = (offset < 0 ? -offset : offset) / kMicrosPerMinute;
  fmt::format_to(std::back_inserter(*out), "{}{:02}:{:02}", offset < 0 ? '-' : '+', minutes / 60,
                 minutes % 60);
}

}  // namespace sonde::series
