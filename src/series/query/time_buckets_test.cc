#include "series/query/time_buckets.h"

#include <gtest/gtest.h>

#include <string>

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

TEST(TimeBuckets, TouchAndHoldTheirTimes) {
  SeededRandom random(7);
  for (const char* zone : {"UTC", "Europe/Rome", "America/St_Johns", "Australia/Lord_Howe", "Pacific/Apia"}) {
    for (const char* every :
         {"1m", "15m", "hour", "2h", "6h", "day", "3d", "week", "month", "quarter", "year"}) {
      const auto buckets = TimeBuckets::Parse(every, zone);
      ASSERT_TRUE(buckets.ok()) << buckets.status();
      for (int i = 0; i < 300; ++i) {
        const int64_t time =
            static_cast<int64_t>(random.Uniform(uint64_t{60} * 365 * 86'400)) * kMicrosPerSecond;
        const int64_t start = buckets->Start(time);
        const int64_t end = buckets->End(time);
        EXPECT_LE(start, time) << zone << " " << every;
        EXPECT_GT(end, time) << zone << " " << every;
        EXPECT_EQ(buckets->Start(start), start) << zone << " " << every << " " << TimeText(time);
        EXPECT_EQ(buckets->Start(end - 1), start) << zone << " " << every << " " << TimeText(time);
        EXPECT_EQ(buckets->Start(end), end) << zone << " " << every << " " << TimeText(time);
      }
    }
  }
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
