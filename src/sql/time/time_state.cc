#include "sql/time/time_state.h"

#include <fmt/format.h>

#include "sql/time/time_text.h"
#include "sql/value/value_text.h"

namespace sonde::sql {

void TimeState::ReadPart(std::string_view function, std::string_view type, std::string_view text) {
  part_text_ = text;
  const std::optional<DatePart> part = ParseDatePart(text);
  part_ = part.value_or(DatePart());
  part_status_ =
      part.has_value()
          ? CheckDatePart(function, type, *part)
          : absl::InvalidArgumentError(fmt::format("A valid date part name is required but found {}", text));
}

void TimeState::ReadZone(std::string_view name) {
  zone_name_ = name;
  has_clock_ = true;
  const absl::StatusOr<absl::TimeZone> zone = FindTimeZone(name);
  zone_status_ = zone.status();
  if (zone.ok()) clock_ = LocalClock(*zone);
}

namespace {

absl::Status AddOverflows(const DatePart& part, int64_t micros, int64_t count) {
  return absl::OutOfRangeError(fmt::format("Adding {} {} to timestamp {} causes overflow", count,
                                           NameOf(part), TimestampTextWithMicros(micros)));
}

// Microseconds of so many parts.
absl::StatusOr<int64_t> MicrosOf(const DatePart& part, int64_t count) {
  const int64_t width = FixedMicros(part.kind).value_or(1);
  int64_t seconds = 0;
  int64_t micros = 0;
  if (width > kMicrosPerSecond) {
    if (__builtin_mul_overflow(count, width / kMicrosPerSecond, &seconds)) {
      return absl::OutOfRangeError(fmt::format(
          "TIMESTAMP_ADD interval value  {} at {} precision causes overflow", count, NameOf(part)));
    }
    if (!__builtin_mul_overflow(seconds, kMicrosPerSecond, &micros)) return micros;
  } else {
    seconds = count;
    if (!__builtin_mul_overflow(count, width, &micros)) return micros;
  }
  return absl::OutOfRangeError(fmt::format(
      "Converting timestamp interval {} at TIMESTAMP_{} scale to TIMESTAMP_MICROSECOND scale causes overflow",
      seconds, width < kMicrosPerSecond ? "MILLISECOND" : "SECOND"));
}

}  // namespace

absl::StatusOr<int64_t> AddToTimestamp(const DatePart& part, int64_t micros, int64_t count) {
  const absl::StatusOr<int64_t> added = MicrosOf(part, count);
  if (!added.ok()) return added.status();
  int64_t sum = 0;
  if (__builtin_add_overflow(micros, *added, &sum) || !IsTimestamp(sum))
    return AddOverflows(part, micros, count);
  return sum;
}

absl::StatusOr<int64_t> CheckedTimestamp(int64_t value, int64_t micros_of_one) {
  int64_t micros = 0;
  if (__builtin_mul_overflow(value, micros_of_one, &micros) || !IsTimestamp(micros)) {
    return absl::OutOfRangeError(fmt::format(
        "Input value {} cannot be converted into a TIMESTAMP, because it would be out of the allowed "
        "range between {} to {} (microseconds)",
        value, kTimestampMin, kTimestampMax));
  }
  return micros;
}

absl::StatusOr<int64_t> DateOn(LocalClock* clock, int64_t micros) {
  const int64_t days = FloorDivide(clock->Local(micros), kMicrosPerDay);
  if (!IsDate(days)) {
    return absl::OutOfRangeError(
        fmt::format("Invalid date extracted from timestamp {}", TimestampTextIn(clock->zone(), micros)));
  }
  return days;
}

absl::StatusOr<int64_t> MidnightOn(LocalClock* clock, int64_t days) {
  const int64_t micros = clock->Midnight(days);
  if (!IsTimestamp(micros)) {
    return absl::OutOfRangeError(fmt::format("Cannot convert date {} to timestamp", DateText(days)));
  }
  return micros;
}

}  // namespace sonde::sql
