// TIMESTAMP_BUCKET and DATE_BUCKET: the start of the piece that a time lies in, of pieces of one width around an origin.
#include "sql/time/time_bucket.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <string_view>

#include "absl/numeric/int128.h"
#include "base/wide_int.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/time/calendar.h"
#include "sql/time/time_functions.h"
#include "sql/time/time_text.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

constexpr int64_t kOriginDays = -7'305;                      // 1950-01-01, a Sunday
constexpr int64_t kOriginDaysOfTimeBucket = 10'959;          // 2000-01-03, a Monday
constexpr int64_t kOriginDaysOfMonthsOfTimeBucket = 10'957;  // 2000-01-01

absl::Status LeavesInterval(std::string_view field, absl::int128 value, absl::int128 bound) {
  return absl::OutOfRangeError(fmt::format("Interval field {} '{}' is out of range -{} to {}", field,
                                           IntText(value), IntText(bound), IntText(bound)));
}

// Multiplies, in the order of GoogleSQL's error.
absl::StatusOr<int64_t> Multiply(int64_t a, int64_t b) {
  int64_t product = 0;
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return absl::OutOfRangeError(fmt::format("int64 overflow: {} * {}", a, b));
}

absl::StatusOr<BucketInterval> InField(const absl::StatusOr<int64_t>& value, int64_t BucketInterval::* field,
                                       std::string_view name, int64_t bound) {
  if (!value.ok()) return value.status();
  if (*value < -bound || *value > bound) return LeavesInterval(name, *value, bound);
  BucketInterval width;
  width.*field = *value;
  return width;
}

}  // namespace

absl::StatusOr<BucketInterval> BucketIntervalOf(int64_t count, std::string_view text) {
  constexpr int64_t kMonthsMax = 120'000;
  constexpr int64_t kDaysMax = 3'660'000;
  constexpr int64_t kMicrosMax = 316'224'000'000'000'000;
  const std::optional<DatePart> part = ParseDatePart(text);
  switch (part.has_value() && !part->is_weekday_named ? part->kind : DatePartKind::kDate) {
    case DatePartKind::kYear:
      return InField(Multiply(count, 12), &BucketInterval::months, "months", kMonthsMax);
    case DatePartKind::kQuarter:
      return InField(Multiply(3, count), &BucketInterval::months, "months", kMonthsMax);
    case DatePartKind::kMonth:
      return InField(count, &BucketInterval::months, "months", kMonthsMax);
    case DatePartKind::kWeek:
      return InField(Multiply(7, count), &BucketInterval::days, "days", kDaysMax);
    case DatePartKind::kDay:
      return InField(count, &BucketInterval::days, "days", kDaysMax);
    case DatePartKind::kMicrosecond:
      return InField(count, &BucketInterval::micros, "microseconds", kMicrosMax);
    case DatePartKind::kHour:
    case DatePartKind::kMinute:
    case DatePartKind::kSecond:
    case DatePartKind::kMillisecond:
      break;
    default:
      return absl::OutOfRangeError(fmt::format("Invalid interval datetime field {}", text));
  }
  const absl::int128 micros = absl::int128(count) * *FixedMicros(part->kind);
  if (micros < -kMicrosMax || micros > kMicrosMax) {
    return LeavesInterval("nanoseconds", micros * 1'000, absl::int128(kMicrosMax) * 1'000);
  }
  return BucketInterval{.micros = static_cast<int64_t>(micros)};
}

namespace {

// The width of a call, which hardly ever changes from row to row.
struct BucketState : public CallState {
  int64_t count = 0;
  std::string part;
  absl::StatusOr<BucketInterval> width = BucketInterval();
};

const absl::StatusOr<BucketInterval>& WidthFor(Call& call, int64_t count, std::string_view part) {
  auto& state = call.state<BucketState>();
  if (count != state.count || part != state.part) {
    state.width = BucketIntervalOf(count, part);
    state.count = count;
    state.part = part;
  }
  return state.width;
}

absl::Status CheckNotNegative(int64_t width) {
  if (width > 0) return absl::OkStatus();
  return absl::OutOfRangeError("Negative bucket width INTERVAL is not allowed");
}

absl::StatusOr<int64_t> TimestampBucket(Call& call, int64_t micros, int64_t count, std::string_view part,
                                        int64_t origin) {
  const absl::StatusOr<BucketInterval>& width = WidthFor(call, count, part);
  if (!width.ok()) return width.status();
  if (width->months != 0) {
    return absl::OutOfRangeError("Bucket width INTERVAL with non-zero MONTH part is not allowed");
  }
  const int64_t length = width->days * kMicrosPerDay + width->micros;
  if (length == 0) return absl::OutOfRangeError("Zero bucket width INTERVAL is not allowed");
  if (absl::Status status = CheckNotNegative(length); !status.ok()) return status;
  const int64_t start = micros - FloorModulo(micros - origin, length);
  if (start >= kTimestampMin) return start;
  return absl::OutOfRangeError(fmt::format("Bucket for {} is outside of timestamp range",
                                           TimestampTextIn(absl::UTCTimeZone(), micros)));
}
absl::StatusOr<int64_t> TimestampBucketSince1950(Call& call, int64_t micros, int64_t count,
                                                 std::string_view part) {
  return TimestampBucket(call, micros, count, part, kOriginDays * kMicrosPerDay);
}

}  // namespace

int64_t BucketOfMonths(int64_t days, int64_t months, int64_t origin) {
  // A month is not over on a day before the origin's, unless each of the two days is its month's last.
  // So a piece may begin, in a month that is too short for the origin's day, a day after the date that it begins on.
  const CivilDate date = CivilOf(days);
  const CivilDate first = CivilOf(origin);
  const auto is_last = [](const CivilDate& of) { return of.day == DaysInMonth(of.year, of.month); };
  int64_t distance = DatePartsBetween({.kind = DatePartKind::kMonth}, days, origin);
  if (date.day < first.day && !(is_last(date) && is_last(first))) --distance;
  return FloorDivide(distance, months);
}

std::optional<int64_t> StartOfMonths(int64_t days, int64_t months, int64_t origin) {
  return AddToDate({.kind = DatePartKind::kMonth}, origin, BucketOfMonths(days, months, origin) * months);
}

namespace {

absl::StatusOr<int64_t> DateBucket(Call& call, int64_t days, int64_t count, std::string_view part,
                                   int64_t origin) {
  const absl::StatusOr<BucketInterval>& width = WidthFor(call, count, part);
  if (!width.ok()) return width.status();
  if (width->micros != 0) {
    return absl::OutOfRangeError("Only MONTH and DAY parts are allowed in bucket width INTERVAL");
  }
  if (width->months == 0 && width->days == 0) {
    return absl::OutOfRangeError("Exactly one non-zero INTERVAL part in bucket width is required");
  }
  if (absl::Status status = CheckNotNegative(width->months + width->days); !status.ok()) return status;
  const std::optional<int64_t> start = width->months != 0 ? StartOfMonths(days, width->months, origin)
                                                          : days - FloorModulo(days - origin, width->days);
  if (start.has_value() && IsDate(*start)) return *start;
  return absl::OutOfRangeError(fmt::format("Bucket for {} is outside of date range", DateText(days)));
}
absl::StatusOr<int64_t> DateBucketSince1950(Call& call, int64_t days, int64_t count, std::string_view part) {
  return DateBucket(call, days, count, part, kOriginDays);
}

// Functions of other databases, which have the width in front.  Unlike GoogleSQL they put timestamps into months, too.

bool IsOfMonths(const absl::StatusOr<BucketInterval>& width) { return width.ok() && width->months != 0; }

absl::StatusOr<int64_t> TimestampBucketOfMonths(const BucketInterval& width, int64_t micros,
                                                int64_t origin_days) {
  if (absl::Status status = CheckNotNegative(width.months); !status.ok()) return status;
  const std::optional<int64_t> start =
      StartOfMonths(FloorDivide(micros, kMicrosPerDay), width.months, origin_days);
  if (start.has_value() && IsDate(*start)) return *start * kMicrosPerDay;
  return absl::OutOfRangeError(fmt::format("Bucket for {} is outside of timestamp range",
                                           TimestampTextIn(absl::UTCTimeZone(), micros)));
}

// Where a bucket begins if the call does not say: in days since 1970.
struct Origins {
  int64_t of_days = 0;
  int64_t of_months = 0;
};

template <Origins kOrigins>
absl::StatusOr<int64_t> WidthThenTimestamp(Call& call, int64_t count, std::string_view part, int64_t micros) {
  const absl::StatusOr<BucketInterval>& width = WidthFor(call, count, part);
  if (IsOfMonths(width)) return TimestampBucketOfMonths(*width, micros, kOrigins.of_months);
  return TimestampBucket(call, micros, count, part, kOrigins.of_days * kMicrosPerDay);
}
absl::StatusOr<int64_t> WidthThenTimestampFrom(Call& call, int64_t count, std::string_view part,
                                               int64_t micros, int64_t origin) {
  const absl::StatusOr<BucketInterval>& width = WidthFor(call, count, part);
  if (IsOfMonths(width)) return TimestampBucketOfMonths(*width, micros, FloorDivide(origin, kMicrosPerDay));
  return TimestampBucket(call, micros, count, part, origin);
}
template <Origins kOrigins>
absl::StatusOr<int64_t> WidthThenDate(Call& call, int64_t count, std::string_view part, int64_t days) {
  return DateBucket(call, days, count, part,
                    IsOfMonths(WidthFor(call, count, part)) ? kOrigins.of_months : kOrigins.of_days);
}
absl::StatusOr<int64_t> WidthThenDateFrom(Call& call, int64_t count, std::string_view part, int64_t days,
                                          int64_t origin) {
  return DateBucket(call, days, count, part, origin);
}

template <Origins kOrigins>
std::vector<Overload> OverloadsWithWidthInFront() {
  return {
      Extension(Scalar("(INTERVAL, TIMESTAMP) -> TIMESTAMP", RowKernel<WidthThenTimestamp<kOrigins>>)),
      Extension(Scalar("(INTERVAL, TIMESTAMP, TIMESTAMP) -> TIMESTAMP", RowKernel<WidthThenTimestampFrom>)),
      Extension(Scalar("(INTERVAL, DATE) -> DATE", RowKernel<WidthThenDate<kOrigins>>)),
      Extension(Scalar("(INTERVAL, DATE, DATE) -> DATE", RowKernel<WidthThenDateFrom>))};
}

}  // namespace

Function TimeBucketFunction() {
  return {.name = "TIME_BUCKET",
          .overloads = OverloadsWithWidthInFront<Origins{.of_days = kOriginDaysOfTimeBucket,
                                                         .of_months = kOriginDaysOfMonthsOfTimeBucket}>(),
          .meaning =
              "TIMESTAMP_BUCKET as Timescale and DuckDB have it: the width comes first, and one bucket "
              "begins at 2000-01-03 00:00:00 UTC if there is no origin.  Months, quarters and years are "
              "those of the calendar in UTC, counted from 2000-01-01 or from the date of the origin.",
          .examples = {"TIME_BUCKET(INTERVAL 1 WEEK, TIMESTAMP '2020-01-01 12:34:56')",
                       "TIME_BUCKET(INTERVAL 3 MONTH, TIMESTAMP '2020-05-15 12:34:56')"}};
}

Function DateBinFunction() {
  return {.name = "DATE_BIN",
          .overloads = OverloadsWithWidthInFront<Origins{}>(),
          .meaning =
              "TIMESTAMP_BUCKET as PostgreSQL and InfluxDB have it: the width comes first, and one "
              "bucket begins at 1970-01-01 00:00:00 UTC if there is no origin.  Months, quarters and years, "
              "which PostgreSQL refuses, are those of the calendar in UTC, counted from there or from the "
              "date of the origin.",
          .examples = {"DATE_BIN(INTERVAL 1 WEEK, TIMESTAMP '2020-01-01 12:34:56')",
                       "DATE_BIN(INTERVAL 5 MONTH, TIMESTAMP '2020-05-15 12:34:56')"}};
}

Function TimestampBucketFunction() {
  std::vector<Overload> in_zone = TimestampBucketInZoneOverloads();
  Function function = {
      .name = "TIMESTAMP_BUCKET",
      .overloads = {Scalar("(TIMESTAMP, INTERVAL) -> TIMESTAMP", RowKernel<TimestampBucketSince1950>),
                    Scalar("(TIMESTAMP, INTERVAL, TIMESTAMP) -> TIMESTAMP", RowKernel<TimestampBucket>),
                    Scalar("(DATE, INTERVAL) -> DATE", RowKernel<DateBucketSince1950>),
                    Scalar("(DATE, INTERVAL, DATE) -> DATE", RowKernel<DateBucket>)},
      .meaning =
          "When the bucket of a timestamp begins, of buckets of one width.  One of them begins at the "
          "origin, 1950-01-01 00:00:00 UTC if there is none.  With time_zone, buckets are those of a "
          "calendar in that zone, months and years, too: as series have them (whole weeks begin on "
          "Monday, all others are counted from 1970-01-01), or from the date of an origin on.",
      .examples = {"TIMESTAMP_BUCKET(TIMESTAMP '2020-01-01 12:34:56', INTERVAL 15 MINUTE)",
                   "TIMESTAMP_BUCKET(TIMESTAMP '2020-01-31 23:34:56', INTERVAL 1 MONTH, time_zone => "
                   "'Europe/Rome')"}};
  function.overloads.insert(function.overloads.end(), in_zone.begin(), in_zone.end());
  return function;
}

Function DateBucketFunction() {
  return {.name = "DATE_BUCKET",
          .overloads = {Scalar("(DATE, INTERVAL) -> DATE", RowKernel<DateBucketSince1950>),
                        Scalar("(DATE, INTERVAL, DATE) -> DATE", RowKernel<DateBucket>)},
          .meaning =
              "When the bucket of a date begins, of buckets of some days or months.  One of them begins at "
              "the origin, 1950-01-01 if there is none.",
          .examples = {"DATE_BUCKET(DATE '2020-05-15', INTERVAL 2 WEEK)"}};
}

}  // namespace sonde::sql
