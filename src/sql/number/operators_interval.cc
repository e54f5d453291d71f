// TIMESTAMP plus or minus INTERVAL.  An interval has months, days and micros, each within bounds of its own.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <optional>
#include <sstream>
#include <string_view>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/number/operator_families.h"
#include "sql/time/calendar.h"
#include "sql/time/time_state.h"

namespace sonde::sql {
namespace {

constexpr int64_t kIntervalMonthsMax = 120'000;
constexpr int64_t kIntervalDaysMax = 3'660'000;
constexpr int64_t kIntervalMicrosMax = 316'224'000'000'000'000;

absl::Status BeyondInterval(std::string_view field, absl::int128 value, absl::int128 most) {
  const auto text = [](absl::int128 number) {
    std::ostringstream out;
    out << number;
    return out.str();
  };
  return absl::OutOfRangeError(fmt::format("Interval field {} '{}' is out of range {} to {}", field,
                                           text(value), text(-most), text(most)));
}

struct Interval {
  int64_t months = 0;
  int64_t micros = 0;  // of the days and the time
};

// `product`: how an error writes the two factors, in GoogleSQL's order.
absl::StatusOr<Interval> OfMonths(int64_t count, int64_t months_of_one, std::string_view product) {
  int64_t months = 0;
  if (__builtin_mul_overflow(count, months_of_one, &months)) {
    return absl::OutOfRangeError(
        fmt::format("int64 overflow: {}", fmt::format(fmt::runtime(product), count, months_of_one)));
  }
  if (months < -kIntervalMonthsMax || months > kIntervalMonthsMax) {
    return BeyondInterval("months", months, kIntervalMonthsMax);
  }
  return Interval{.months = months};
}

absl::StatusOr<Interval> OfDays(int64_t count, int64_t days_of_one) {
  int64_t days = 0;
  if (__builtin_mul_overflow(count, days_of_one, &days)) {
    return absl::OutOfRangeError(fmt::format("int64 overflow: {} * {}", days_of_one, count));
  }
  if (days < -kIntervalDaysMax || days > kIntervalDaysMax)
    return BeyondInterval("days", days, kIntervalDaysMax);
  return Interval{.micros = days * kMicrosPerDay};
}

absl::StatusOr<Interval> OfTime(DatePartKind kind, int64_t count) {
  const int64_t width = *FixedMicros(kind);
  const absl::int128 micros = absl::int128(count) * width;
  const bool fits = micros >= -kIntervalMicrosMax && micros <= kIntervalMicrosMax;
  if (fits) return Interval{.micros = static_cast<int64_t>(micros)};
  if (width >= kMicrosPerSecond) {
    return BeyondInterval("nanoseconds", micros * 1'000, absl::int128(kIntervalMicrosMax) * 1'000);
  }
  if (micros < std::numeric_limits<int64_t>::min() || micros > std::numeric_limits<int64_t>::max()) {
    return absl::OutOfRangeError(fmt::format("int64 overflow: {} * {}", width, count));
  }
  return BeyondInterval("microseconds", micros, kIntervalMicrosMax);
}

absl::StatusOr<Interval> MakeInterval(int64_t count, std::string_view text) {
  const std::optional<DatePart> part = ParseDatePart(text);
  if (!part.has_value()) {
    return absl::InvalidArgumentError(fmt::format("A valid date part name is required but found {}", text));
  }
  switch (part->kind) {
    case DatePartKind::kYear:
      return OfMonths(count, 12, "{0} * {1}");
    case DatePartKind::kQuarter:
      return OfMonths(count, 3, "{1} * {0}");
    case DatePartKind::kMonth:
      return OfMonths(count, 1, "{0} * {1}");
    case DatePartKind::kWeek:
      return OfDays(count, 7);
    case DatePartKind::kDay:
      return OfDays(count, 1);
    default:
      if (FixedMicros(part->kind).has_value()) return OfTime(part->kind, count);
      return absl::OutOfRangeError(fmt::format("Invalid interval datetime field {}", NameOf(*part)));
  }
}

absl::StatusOr<int64_t> CheckedSum(int64_t micros) {
  if (IsTimestamp(micros)) return micros;
  return absl::OutOfRangeError(
      "Unix picoseconds value is out of allowed range between -62135596800000000000000 to "
      "253402300799999999999999");
}

// An interval that there cannot be is an error, also where the timestamp is NULL.  An interval with months is an error only
// where the timestamp is not NULL.
template <bool kMinus>
absl::StatusOr<std::optional<int64_t>> ShiftByInterval(Call&, std::optional<int64_t> micros,
                                                       std::optional<int64_t> count, std::string_view part) {
  if (!count.has_value()) return std::optional<int64_t>();
  const absl::StatusOr<Interval> shift = MakeInterval(*count, part);
  if (!shift.ok()) return shift.status();
  if (!micros.has_value()) return std::optional<int64_t>();
  if (shift->months != 0) {
    return absl::OutOfRangeError(
        "TIMESTAMP +/- INTERVAL is not supported for intervals with non-zero MONTH or YEAR part.");
  }
  // Both are far from the ends of int64_t.
  const absl::StatusOr<int64_t> sum = CheckedSum(kMinus ? *micros - shift->micros : *micros + shift->micros);
  if (!sum.ok()) return sum.status();
  return std::optional<int64_t>(*sum);
}

}  // namespace

Overload TimestampPlusInterval() {
  return Scalar("(TIMESTAMP, INTERVAL) -> TIMESTAMP", RowKernel<ShiftByInterval<false>>);
}
Overload TimestampMinusInterval() {
  return Scalar("(TIMESTAMP, INTERVAL) -> TIMESTAMP", RowKernel<ShiftByInterval<true>>);
}

}  // namespace sonde::sql
