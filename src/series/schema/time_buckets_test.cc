#include "series/schema/time_buckets.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/random.h"

namespace sonde::series {
namespace {

int64_t At(const char* text) {
  absl::Time time;
  std::string error;
  EXPECT_TRUE(absl::ParseTime(absl::RFC3339_full, text, &time, &error)) << error;
  return absl::ToUnixMicros(time);
}

std::string Bucket(const char* every, const char* zone, const char* time) {
  const auto buckets = TimeBuckets::Parse(every, zone);
  if (!buckets.ok()) return std::string(buckets.status().message());
  const int64_t micros = At(time);
  return TimeTextIn(buckets->zone(), buckets->Start(micros)) + " " +
         TimeTextIn(buckets->zone(), buckets->End(micros));
}

TEST(TimeBuckets, FollowTheCalendarInUtc) {
  EXPECT_EQ(Bucket("15m", "UTC", "2021-03-04T10:17:00Z"), "2021-03-04T10:15:00Z 2021-03-04T10:30:00Z");
  EXPECT_EQ(Bucket("week", "", "2021-03-04T10:17:00Z"), "2021-03-01T00:00:00Z 2021-03-08T00:00:00Z");
  EXPECT_EQ(Bucket("quarter", "", "2021-03-04T10:17:00Z"), "2021-01-01T00:00:00Z 2021-04-01T00:00:00Z");
  EXPECT_EQ(Bucket("year", "", "2021-03-04T10:17:00Z"), "2021-01-01T00:00:00Z 2022-01-01T00:00:00Z");
  EXPECT_EQ(Bucket("2mo", "", "2021-12-31T10:17:00Z"), "2021-11-01T00:00:00Z 2022-01-01T00:00:00Z");
}

TEST(TimeBuckets, FollowTheClocksOfAZone) {
  ASSERT_TRUE(FindTimeZone("Europe/Rome").ok()) << "scripts/install-dependencies installs tzdata";
  EXPECT_EQ(Bucket("day", "Europe/Rome", "2021-03-28T12:00:00Z"),
            "2021-03-28T00:00:00+01:00 2021-03-29T00:00:00+02:00");  // 23 hours
  EXPECT_EQ(Bucket("day", "Europe/Rome", "2021-10-31T12:00:00Z"),
            "2021-10-31T00:00:00+02:00 2021-11-01T00:00:00+01:00");  // 25 hours
  EXPECT_EQ(Bucket("6h", "Europe/Rome", "2021-03-28T00:30:00Z"),
            "2021-03-28T00:00:00+01:00 2021-03-28T06:00:00+02:00");
  EXPECT_EQ(Bucket("hour", "Asia/Kolkata", "2021-03-28T00:40:00Z"),
            "2021-03-28T06:00:00+05:30 2021-03-28T07:00:00+05:30");
  EXPECT_EQ(Bucket("month", "America/New_York", "2021-03-01T02:00:00Z"),
            "2021-02-01T00:00:00-05:00 2021-03-01T00:00:00-05:00");
  EXPECT_EQ(Bucket("week", "Asia/Tokyo", "2021-03-07T16:00:00Z"),
            "2021-03-08T00:00:00+09:00 2021-03-15T00:00:00+09:00");
}

TEST(TimeBuckets, WholeWeeksBeginOnMonday) {
  for (const char* zone : {"UTC", "Asia/Tokyo"}) {
    for (const char* every : {"week", "1w", "7d", "2w", "14d", "3w", "52w"}) {
      const auto buckets = TimeBuckets::Parse(every, zone);
      ASSERT_TRUE(buckets.ok()) << buckets.status();
      for (const char* time : {"2021-03-04T10:17:00Z", "1969-12-30T00:00:00Z", "0500-07-01T12:00:00Z"}) {
        const int64_t start = LocalMicros(buckets->zone(), buckets->Start(At(time)));
        EXPECT_EQ(absl::GetWeekday(absl::CivilDay(1970) + FloorMicros(start, kMicrosPerDay) / kMicrosPerDay),
                  absl::Weekday::monday)
            << every << " " << zone << " " << time;
      }
    }
  }
  EXPECT_EQ(Bucket("7d", "", "2021-03-04T10:17:00Z"), Bucket("week", "", "2021-03-04T10:17:00Z"));
  // As DuckDB and TimescaleDB count them, from Monday 2000-01-03.
  EXPECT_EQ(Bucket("2w", "", "2000-01-05T00:00:00Z"), "2000-01-03T00:00:00Z 2000-01-17T00:00:00Z");
}

TEST(TimeBuckets, GoOnBefore1970) {
  EXPECT_EQ(Bucket("minute", "America/New_York", "1970-01-01T00:00:10Z"),
            "1969-12-31T19:00:00-05:00 1969-12-31T19:01:00-05:00");
  EXPECT_EQ(Bucket("year", "America/New_York", "1970-01-01T00:00:10Z"),
            "1969-01-01T00:00:00-05:00 1970-01-01T00:00:00-05:00");
  EXPECT_EQ(Bucket("day", "America/New_York", "1970-01-01T00:00:10Z"),
            "1969-12-31T00:00:00-05:00 1970-01-01T00:00:00-05:00");
  EXPECT_EQ(Bucket("6h", "America/New_York", "1970-01-01T00:00:10Z"),
            "1969-12-31T18:00:00-05:00 1970-01-01T00:00:00-05:00");
  EXPECT_EQ(Bucket("week", "", "1970-01-01T00:00:10Z"), "1969-12-29T00:00:00Z 1970-01-05T00:00:00Z");
  EXPECT_EQ(Bucket("15m", "", "1969-12-31T23:59:59Z"), "1969-12-31T23:45:00Z 1970-01-01T00:00:00Z");
  EXPECT_EQ(Bucket("quarter", "", "1969-08-31T23:59:59Z"), "1969-07-01T00:00:00Z 1969-10-01T00:00:00Z");
  EXPECT_EQ(Bucket("10y", "", "1955-11-05T00:00:00Z"), "1950-01-01T00:00:00Z 1960-01-01T00:00:00Z");
  EXPECT_EQ(Bucket("3d", "", "1969-12-31T12:00:00Z"), "1969-12-29T00:00:00Z 1970-01-01T00:00:00Z");
}

TEST(TimeBuckets, ReachFromTheFirstToTheLastTime) {
  EXPECT_EQ(Bucket("year", "", "0001-01-01T00:00:00Z"), "0001-01-01T00:00:00Z 0002-01-01T00:00:00Z");
  // What would begin earlier begins with the calendar.
  EXPECT_EQ(Bucket("100y", "", "0001-07-01T00:00:00Z"), "0001-01-01T00:00:00Z 0070-01-01T00:00:00Z");
  EXPECT_EQ(Bucket("month", "", "9999-12-31T23:59:59Z").substr(0, 20), "9999-12-01T00:00:00Z");
  // Clocks there show a year that RFC 3339 cannot say.
  EXPECT_EQ(Bucket("minute", "Asia/Tokyo", "9999-12-31T23:59:59Z").substr(0, 25),
            "9999-12-31T23:59:00+00:00");
  // Local time before standard time; the offset is the nearest that RFC 3339 can say.
  EXPECT_EQ(Bucket("day", "Europe/Rome", "1850-06-01T12:00:00Z"),
            "1850-06-01T00:00:04+00:50 1850-06-02T00:00:04+00:50");
}

TEST(TimeBuckets, TouchAndHoldTheirTimes) {
  SeededRandom random(7);
  for (const char* zone : {"UTC", "Europe/Rome", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia",
                           "Africa/Monrovia", "America/New_York"}) {
    const auto time_zone = FindTimeZone(zone);
    ASSERT_TRUE(time_zone.ok()) << time_zone.status();
    std::vector<int64_t> times;
    const auto days = static_cast<uint64_t>((kTimeEndMicros - kTimeBeginMicros) / kMicrosPerDay);
    for (int i = 0; i < 100; ++i) {
      times.push_back(static_cast<int64_t>(random.Uniform(uint64_t{130} * 365 * 86'400)) * kMicrosPerSecond -
                      60 * 365 * kMicrosPerDay);
      times.push_back(kTimeBeginMicros + static_cast<int64_t>(random.Uniform(days)) * kMicrosPerDay + i);
    }
    // Around changes of clocks.
    absl::Time at = absl::FromUnixMicros(-3'000'000'000 * kMicrosPerSecond);
    absl::TimeZone::CivilTransition change;
    for (int i = 0; *time_zone && i < 200 && (*time_zone)->NextTransition(at, &change); ++i) {
      at = absl::FromCivil(change.to, **time_zone);
      for (const int minutes : {-90, -61, -31, -1, 0, 1, 29, 45, 61}) {
        times.push_back(absl::ToUnixMicros(at) + minutes * kMicrosPerMinute);
      }
    }
    for (const char* every :
         {"1m", "15m", "hour", "2h", "6h", "day", "3d", "week", "2w", "month", "quarter", "year", "7y"}) {
      const auto buckets = TimeBuckets::Parse(every, zone);
      ASSERT_TRUE(buckets.ok()) << buckets.status();
      for (const int64_t time : times) {
        const auto [start, end] = buckets->Find(time);
        ASSERT_LE(start, time) << zone << " " << every << " " << TimeText(time);
        ASSERT_GT(end, time) << zone << " " << every << " " << TimeText(time);
        ASSERT_EQ(buckets->Start(start), start) << zone << " " << every << " " << TimeText(time);
        ASSERT_EQ(buckets->Start(end - 1), start) << zone << " " << every << " " << TimeText(time);
        ASSERT_EQ(buckets->Start(end), end) << zone << " " << every << " " << TimeText(time);
      }
    }
  }
}

TEST(TimeBuckets, ZonesAreNamesOfTheTzDatabase) {
  for (const char* zone :
       {"Europe/Rome", "America/Argentina/Buenos_Aires", "Etc/GMT+5", "GB-Eire", "EST5EDT"}) {
    EXPECT_TRUE(FindTimeZone(zone).ok()) << zone;
  }
  const std::string path = testing::TempDir() + "/sonde_zone_" + std::to_string(getpid());
  std::filesystem::copy_file("/usr/share/zoneinfo/Europe/Rome", path,
                             std::filesystem::copy_options::overwrite_existing);
  for (const std::string& zone :
       {"file:" + path, path, "../.." + path, std::string("file:Europe/Rome"), std::string("libc:UTC"),
        std::string("libc:localtime"), std::string("localtime"), std::string("posixrules"),
        std::string("Factory"), std::string("posix/Europe/Rome"), std::string("right/Europe/Rome"),
        std::string("Fixed/UTC+01:00:00"), std::string("zone.tab"), std::string("Europe"),
        std::string("Europe/Rome\0", 12), std::string(" ")}) {
    EXPECT_EQ(FindTimeZone(zone).status().code(), absl::StatusCode::kInvalidArgument) << zone;
  }
  std::filesystem::remove(path);
}

TEST(TimeBuckets, SayWhatIsAllowed) {
  EXPECT_EQ(
      Bucket("fortnight", "", "2021-03-07T16:00:00Z"),
      "'fortnight'; allowed: minute, hour, day, week, month, quarter, year, or a number and a unit, such as "
      "15m, 6h, 3mo");
  EXPECT_EQ(Bucket("day", "Mars/Olympus", "2021-03-07T16:00:00Z").substr(0, 24), "time zone 'Mars/Olympus'");
  EXPECT_EQ(Bucket("day", "../../etc/passwd", "2021-03-07T16:00:00Z").substr(0, 10), "time zone ");
  EXPECT_EQ(Bucket("7h", "Europe/Rome", "2021-03-07T16:00:00Z"),
            "every 7h in zone Europe/Rome; allowed there: what divides a day, or whole days");
}

}  // namespace
}  // namespace sonde::series
