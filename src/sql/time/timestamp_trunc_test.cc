#include "sql/time/timestamp_trunc.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "absl/time/civil_time.h"
#include "base/arena.h"
#include "model/column.h"
#include "sql/function/call.h"
#include "sql/time/time_functions.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

const std::vector<std::string> kParts = {"MICROSECOND", "MILLISECOND", "SECOND", "MINUTE",          "HOUR",
                                         "DAY",         "WEEK",        "MONTH",  "WEEK(WEDNESDAY)", "QUARTER",
                                         "YEAR",        "ISOWEEK",     "ISOYEAR"};

// The same without memory of the time before, by civil times.
int64_t NaiveStart(const DatePart& part, const absl::TimeZone& zone, int64_t micros) {
  const absl::TimeZone::CivilInfo info = zone.At(absl::FromUnixMicros(micros));
  const std::optional<int64_t> width = FixedMicros(part.kind);
  if (width.has_value() && *width < kMicrosPerDay) {
    const int64_t offset = int64_t{info.offset} * kMicrosPerSecond;
    return micros - FloorModulo(micros + offset, *width);
  }
  const absl::CivilDay day(info.cs);
  absl::CivilDay start = day;
  const auto back_to = [&day](absl::Weekday weekday) { return absl::PrevWeekday(day + 1, weekday); };
  switch (part.kind) {
    case DatePartKind::kYear:
      start = absl::CivilDay(day.year(), 1, 1);
      break;
    case DatePartKind::kQuarter:
      start = absl::CivilDay(day.year(), (day.month() - 1) / 3 * 3 + 1, 1);
      break;
    case DatePartKind::kMonth:
      start = absl::CivilDay(day.year(), day.month(), 1);
      break;
    case DatePartKind::kWeek:
      start = back_to(part.first_weekday == 3 ? absl::Weekday::wednesday : absl::Weekday::sunday);
      break;
    case DatePartKind::kIsoWeek:
      start = back_to(absl::Weekday::monday);
      break;
    case DatePartKind::kIsoYear: {
      const absl::CivilDay thursday = back_to(absl::Weekday::monday) + 3;
      start = absl::PrevWeekday(absl::CivilDay(thursday.year(), 1, 5), absl::Weekday::monday);
      break;
    }
    default:
      break;
  }
  return absl::ToUnixMicros(zone.At(absl::CivilSecond(start)).pre);
}

// Times around all changes of a zone's clocks, and others.
std::vector<int64_t> TimesOf(const absl::TimeZone& zone) {
  constexpr int64_t kMinutes[] = {0, 1, 15, 29, 30, 31, 59, 60, 61, 90, 120, 180, 1'439, 1'440, 1'500};
  std::vector<int64_t> times;
  absl::TimeZone::CivilTransition change;
  absl::Time time = absl::FromCivil(absl::CivilSecond(1850, 1, 1), absl::UTCTimeZone());
  const absl::Time end = absl::FromCivil(absl::CivilSecond(2045, 1, 1), absl::UTCTimeZone());
  while (zone.NextTransition(time, &change) && time < end) {
    const absl::TimeZone::TimeInfo info = zone.At(change.to);
    time = info.kind == absl::TimeZone::TimeInfo::UNIQUE ? info.pre : info.trans;
    for (const int64_t minutes : kMinutes) {
      const int64_t distance = minutes * kMicrosPerMinute;
      for (const int64_t at : {distance - 1, distance, -distance, -distance - 1}) {
        times.push_back(absl::ToUnixMicros(time) + at);
      }
    }
  }
  std::mt19937_64 random(5);
  for (int i = 0; i < 500; ++i) {
    times.push_back(
        std::uniform_int_distribution<int64_t>(kTimestampMin / 1'000 * 999, kTimestampMax)(random));
  }
  return times;
}

void ExpectNaive(const std::string& name, const absl::TimeZone& zone, const std::vector<int64_t>& times) {
  const DatePart part = *ParseDatePart(name);
  TimestampTruncation truncation(part, LocalClock(zone));
  for (const int64_t time : times) {
    const absl::StatusOr<int64_t> start = truncation.Start(time);
    ASSERT_TRUE(start.ok()) << start.status();
    ASSERT_EQ(*start, NaiveStart(part, zone, time)) << name << " in " << zone.name() << " at " << time;
  }
}

TEST(TimestampTruncation, IsThatOfCivilTimesAroundAllChangesOfClocks) {
  for (const std::string name :
       {"UTC", "+05:30", "Europe/Rome", "America/St_Johns", "America/Sao_Paulo", "Australia/Lord_Howe",
        "Asia/Kathmandu", "Pacific/Apia", "America/Toronto", "Africa/Casablanca", "America/Los_Angeles"}) {
    const absl::TimeZone zone = *FindTimeZone(name);
    std::vector<int64_t> times = TimesOf(zone);
    for (const std::string& part : kParts) {
      ExpectNaive(part, zone, times);
    }
    std::sort(times.begin(), times.end());
    for (const std::string& part : kParts) ExpectNaive(part, zone, times);
    std::reverse(times.begin(), times.end());
    for (const std::string& part : kParts) ExpectNaive(part, zone, times);
  }
}

TEST(TimestampTruncation, BeginsNoLaterThanTheTime) {
  const absl::TimeZone zone = *FindTimeZone("Europe/Rome");
  const std::vector<int64_t> times = TimesOf(zone);
  for (const std::string& name : kParts) {
    TimestampTruncation truncation(*ParseDatePart(name), LocalClock(zone));
    for (const int64_t time : times) {
      const int64_t start = *truncation.Start(time);
      ASSERT_LE(start, time) << name;
      ASSERT_EQ(*truncation.Start(start), start) << name;
    }
  }
}

TEST(TimestampTruncKernel, TakesTimesOfAnyOrder) {
  std::mt19937_64 random(3);
  std::vector<int64_t> times;
  for (int i = 0; i < 1'000; ++i) {
    times.push_back(
        std::uniform_int_distribution<int64_t>(-kMicrosPerDay * 100, kMicrosPerDay * 100)(random));
  }
  for (const bool is_sorted : {false, true}) {
    if (is_sorted) std::sort(times.begin(), times.end());
    for (const std::string& name : kParts) {
      for (const std::string zone : {"UTC", "America/Los_Angeles"}) {
        Arena arena;
        const StatementFacts facts;
        Call::Site site;
        Call call(&facts, &site, &arena, times.size());
        const Value part = Value::String(name);
        const Value in_zone = Value::String(zone);
        const ColumnView starts = TimestampTruncKernel()(
            call, {ColumnView::OfInts(times), part.AsColumn(times.size()), in_zone.AsColumn(times.size())});
        ASSERT_TRUE(call.status().ok()) << call.status();
        for (size_t i = 0; i < times.size(); ++i) {
          ASSERT_EQ(starts.ints()[i], NaiveStart(*ParseDatePart(name), *FindTimeZone(zone), times[i]))
              << name << " " << times[i];
        }
      }
    }
  }
}

}  // namespace
}  // namespace sonde::sql
