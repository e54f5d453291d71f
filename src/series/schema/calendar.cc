#include "series/schema/calendar.h"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <iterator>

#include "base/format.h"

namespace sonde::series {
namespace {

using std::chrono::days;
using std::chrono::sys_days;
using std::chrono::year_month_day;

// 1970-01-01 was a Thursday: days since the Monday before.
constexpr int64_t kDaysFromMonday = 3;

int64_t DayOf(int64_t micros) { return FloorMicros(micros, kMicrosPerDay) / kMicrosPerDay; }

// The Monday of the day's week.
int64_t MondayOf(int64_t day) { return FloorMicros(day + kDaysFromMonday, 7) - kDaysFromMonday; }

// The day number of the Monday of ISO week 1.
int64_t FirstMonday(int year) {
  const auto january4 =
      sys_days(year_month_day(std::chrono::year(year), std::chrono::January, std::chrono::day(4)));
  return MondayOf(january4.time_since_epoch().count());
}

struct DurationUnit {
  std::string_view name;
  int64_t micros;
};
constexpr DurationUnit kDurationUnits[] = {
    {"y", 365 * kMicrosPerDay}, {"w", kMicrosPerWeek},   {"d", kMicrosPerDay}, {"h", kMicrosPerHour},
    {"m", kMicrosPerMinute},    {"s", kMicrosPerSecond}, {"ms", 1000},         {"us", 1},
};

}  // namespace

CivilTime CivilFromMicros(int64_t micros) {
  const int64_t day = DayOf(micros);
  const year_month_day date{sys_days(days(day))};
  CivilTime civil;
  civil.year = static_cast<int>(date.year());
  civil.month = static_cast<int>(static_cast<unsigned>(date.month()));
  civil.day = static_cast<int>(static_cast<unsigned>(date.day()));
  int64_t rest = micros - day * kMicrosPerDay;
  civil.hour = static_cast<int>(rest / kMicrosPerHour);
  rest %= kMicrosPerHour;
  civil.minute = static_cast<int>(rest / kMicrosPerMinute);
  rest %= kMicrosPerMinute;
  civil.second = static_cast<int>(rest / kMicrosPerSecond);
  civil.micros = static_cast<int>(rest % kMicrosPerSecond);
  return civil;
}

std::optional<int64_t> MicrosFromCivil(const CivilTime& civil) {
  if (civil.year < 1 || civil.year > 9999 || civil.month < 1 || civil.day < 1) return std::nullopt;
  if (civil.hour < 0 || civil.hour > 23 || civil.minute < 0 || civil.minute > 59) return std::nullopt;
  if (civil.second < 0 || civil.second > 59 || civil.micros < 0 || civil.micros >= kMicrosPerSecond)
    return std::nullopt;
  const year_month_day date(std::chrono::year(civil.year), std::chrono::month(civil.month),
                            std::chrono::day(civil.day));
  if (!date.ok()) return std::nullopt;
  return sys_days(date).time_since_epoch().count() * kMicrosPerDay + civil.hour * kMicrosPerHour +
         civil.minute * kMicrosPerMinute + civil.second * kMicrosPerSecond + civil.micros;
}

IsoWeek IsoWeekFromMicros(int64_t micros) {
  const int64_t monday = MondayOf(DayOf(micros));
  // The year of the week is the year of its Thursday.
  const year_month_day thursday{sys_days(days(monday + 3))};
  const int year = static_cast<int>(thursday.year());
  return {year, static_cast<int>((monday - FirstMonday(year)) / 7) + 1};
}

std::optional<int64_t> MicrosFromIsoWeek(IsoWeek week) {
  if (week.year < 1 || week.year > 9999 || week.week < 1 || week.week > 53) return std::nullopt;
  const int64_t monday = FirstMonday(week.year) + 7 * (week.week - 1);
  if (week.week == 53 && monday >= FirstMonday(week.year + 1)) return std::nullopt;
  return monday * kMicrosPerDay;
}

namespace {

// Where the calendar did not end with year 1.
int64_t UnboundedStart(const BucketWidth& width, int64_t time_micros) {
  if (width.kind == BucketWidth::Kind::kFixed) return FloorMicros(time_micros, width.micros);
  const int64_t day = DayOf(time_micros);
  if (width.kind == BucketWidth::Kind::kWeek) return MondayOf(day) * kMicrosPerDay;
  const year_month_day date{sys_days(days(day))};
  return (day - (static_cast<unsigned>(date.day()) - 1)) * kMicrosPerDay;
}

}  // namespace

int64_t BucketWidth::Start(int64_t time_micros) const {
  return std::max(UnboundedStart(*this, time_micros), kTimeBeginMicros);
}

int64_t BucketWidth::End(int64_t time_micros) const {
  const int64_t start = UnboundedStart(*this, time_micros);
  if (kind == Kind::kFixed) return start + micros;
  if (kind == Kind::kWeek) return start + kMicrosPerWeek;
  const year_month_day date{sys_days(days(DayOf(start)))};
  return sys_days(date + std::chrono::months(1)).time_since_epoch().count() * kMicrosPerDay;
}

int64_t BucketWidth::MicrosMax() const {
  if (kind == Kind::kFixed) return micros;
  return kind == Kind::kWeek ? kMicrosPerWeek : 31 * kMicrosPerDay;
}

std::string BucketWidth::Name() const {
  if (kind == Kind::kWeek) return "week";
  if (kind == Kind::kMonth) return "month";
  if (micros == kMicrosPerMinute) return "minute";
  if (micros == kMicrosPerHour) return "hour";
  if (micros == kMicrosPerDay) return "day";
  return DurationText(micros);
}

bool BucketWidth::IsMultipleOf(const BucketWidth& unit) const {
  if (unit.kind != Kind::kFixed) return kind == unit.kind;
  return (kind == Kind::kFixed ? micros : kMicrosPerDay) % unit.micros == 0;
}

absl::StatusOr<BucketWidth> ParseBucketWidth(std::string_view text) {
  using Kind = BucketWidth::Kind;
  if (text == "minute") return BucketWidth{Kind::kFixed, kMicrosPerMinute};
  if (text == "hour") return BucketWidth{Kind::kFixed, kMicrosPerHour};
  if (text == "day") return BucketWidth{Kind::kFixed, kMicrosPerDay};
  if (text == "week" || text == "1w") return BucketWidth{Kind::kWeek, 0};
  if (text == "month" || text == "1mo") return BucketWidth{Kind::kMonth, 0};
  const absl::StatusOr<int64_t> micros = ParseDurationMicros(text);
  if (!micros.ok()) {
    return absl::InvalidArgumentError(fmt::format(
        "'{}' is not a width of time; allowed: minute, hour, day, week, month, or a duration such as 15m",
        text));
  }
  return BucketWidth{Kind::kFixed, *micros};
}

absl::StatusOr<int64_t> ParseDurationMicros(std::string_view text) {
  int64_t count = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  const std::string_view unit_name = text.substr(end - text.data());
  if (error == std::errc() && count > 0) {
    for (const DurationUnit& unit : kDurationUnits) {
      if (unit.name == unit_name && count <= kTimeEndMicros / unit.micros) return count * unit.micros;
    }
  }
  return absl::InvalidArgumentError(
      fmt::format("'{}' is not a duration; allowed: a whole number from 1 and a unit (us, ms, s, m, h, d, w, "
                  "y), as in 15m",
                  text));
}

std::string DurationText(int64_t micros) {
  for (const DurationUnit& unit : kDurationUnits) {
    // As the width of a bucket, 1w is a week of the calendar; 7d is not.
    if (unit.name != "w" && micros % unit.micros == 0)
      return fmt::format("{}{}", micros / unit.micros, unit.name);
  }
  return fmt::format("{}us", micros);
}

std::string TimeText(int64_t micros) {
  std::string text;
  AppendTimeText(micros, &text);
  return text;
}

void AppendTimeText(int64_t micros, std::string* out) {
  const CivilTime t = CivilFromMicros(micros);
  // Each row of an answer has one of these: digits by hand take a fraction of what a format does.
  char text[] = "0000-00-00T00:00:00";
  const auto put = [&text](size_t place, int number) {
    text[place] = static_cast<char>('0' + number / 10 % 10);
    text[place + 1] = static_cast<char>('0' + number % 10);
  };
  put(0, t.year / 100);
  put(2, t.year);
  put(5, t.month);
  put(8, t.day);
  put(11, t.hour);
  put(14, t.minute);
  put(17, t.second);
  out->append(text, sizeof(text) - 1);
  if (t.micros % 1000 != 0) {
    fmt::format_to(std::back_inserter(*out), ".{:06}", t.micros);
  } else if (t.micros != 0) {
    fmt::format_to(std::back_inserter(*out), ".{:03}", t.micros / 1000);
  }
  *out += 'Z';
}

}  // namespace sonde::series
