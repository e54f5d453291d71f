#include "series/schema/calendar.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/random.h"
#include "series/schema/time_format.h"

namespace sonde::series {
namespace {

// A time of the years 1 to 9999.
int64_t AnyTime(SeededRandom& random) {
  return kTimeBeginMicros + static_cast<int64_t>(random.Uniform(kTimeEndMicros - kTimeBeginMicros));
}

constexpr TimeFormat kLastFormat = TimeFormat::kMilliCompact;

int64_t At(int year, int month, int day, int hour = 0, int minute = 0, int second = 0, int micros = 0) {
  return MicrosFromCivil({year, month, day, hour, minute, second, micros}).value();
}

TEST(Calendar, CivilTimeComesBack) {
  EXPECT_EQ(At(1970, 1, 1), 0);
  EXPECT_EQ(At(2015, 3, 16, 19, 53, 32, 156000), 1426535612156000);
  EXPECT_EQ(At(9999, 12, 31, 23, 59, 59, 999999), kTimeEndMicros - 1);
  EXPECT_EQ(At(1, 1, 1), kTimeBeginMicros);
  EXPECT_EQ(At(1969, 12, 31, 23, 59, 59, 999999), -1);
  EXPECT_EQ(At(1850, 1, 1), -3'786'825'600 * kMicrosPerSecond);
  SeededRandom random(1);
  for (int i = 0; i < 10'000; ++i) {
    const int64_t micros = AnyTime(random);
    EXPECT_EQ(MicrosFromCivil(CivilFromMicros(micros)), micros);
  }
}

TEST(Calendar, RefusesWhatIsNotInTheCalendar) {
  EXPECT_FALSE(MicrosFromCivil({2021, 2, 29}));
  EXPECT_TRUE(MicrosFromCivil({2020, 2, 29}));
  EXPECT_FALSE(MicrosFromCivil({0, 12, 31}));
  EXPECT_FALSE(MicrosFromCivil({10'000, 1, 1}));
  EXPECT_FALSE(MicrosFromCivil({1900, 2, 29}));
  EXPECT_FALSE(MicrosFromCivil({2020, 13, 1}));
  EXPECT_FALSE(MicrosFromCivil({2020, 1, 1, 24}));
  EXPECT_FALSE(MicrosFromCivil({2020, 1, 1, 0, 60}));
}

TEST(Calendar, IsoWeeksFollowTheStandard) {
  const auto week_of = [](int64_t micros) {
    const IsoWeek week = IsoWeekFromMicros(micros);
    return std::pair(week.year, week.week);
  };
  EXPECT_EQ(week_of(At(2021, 3, 5)), std::pair(2021, 9));
  EXPECT_EQ(week_of(At(2021, 1, 3)), std::pair(2020, 53));  // a Sunday
  EXPECT_EQ(week_of(At(2021, 1, 4)), std::pair(2021, 1));
  EXPECT_EQ(week_of(At(2018, 12, 31)), std::pair(2019, 1));
  EXPECT_EQ(week_of(0), std::pair(1970, 1));
  EXPECT_EQ(MicrosFromIsoWeek({2021, 9}), At(2021, 3, 1));
  EXPECT_EQ(MicrosFromIsoWeek({2020, 53}), At(2020, 12, 28));
  EXPECT_FALSE(MicrosFromIsoWeek({2021, 53}));
  EXPECT_FALSE(MicrosFromIsoWeek({2021, 0}));
  EXPECT_EQ(MicrosFromIsoWeek({1970, 1}), At(1969, 12, 29));
  EXPECT_EQ(week_of(At(1969, 12, 28)), std::pair(1969, 52));
  EXPECT_EQ(week_of(At(1850, 1, 1)), std::pair(1850, 1));
  EXPECT_EQ(week_of(At(1849, 12, 30)), std::pair(1849, 52));
  EXPECT_EQ(week_of(kTimeBeginMicros), std::pair(1, 1));
  EXPECT_EQ(week_of(kTimeEndMicros - 1), std::pair(9999, 52));
  EXPECT_EQ(MicrosFromIsoWeek({1, 1}), kTimeBeginMicros);
  EXPECT_FALSE(MicrosFromIsoWeek({0, 52}));
}

TEST(Calendar, TimesAreWrittenWithAsManyDigitsAsTheyNeed) {
  EXPECT_EQ(TimeText(At(1, 2, 3, 4, 5, 6)), "0001-02-03T04:05:06Z");
  EXPECT_EQ(TimeText(At(2021, 3, 5, 12, 4, 33, 120'000)), "2021-03-05T12:04:33.120Z");
  EXPECT_EQ(TimeText(At(9999, 12, 31, 23, 59, 59, 999'999)), "9999-12-31T23:59:59.999999Z");
}

TEST(Calendar, BucketsHoldTheirTimes) {
  const int64_t time = At(2021, 3, 5, 12, 4, 33);
  const auto start = [&](std::string_view width) { return TimeText(ParseBucketWidth(width)->Start(time)); };
  EXPECT_EQ(start("15m"), "2021-03-05T12:00:00Z");
  EXPECT_EQ(start("day"), "2021-03-05T00:00:00Z");
  EXPECT_EQ(start("week"), "2021-03-01T00:00:00Z");
  EXPECT_EQ(start("1mo"), "2021-03-01T00:00:00Z");
  EXPECT_EQ(ParseBucketWidth("month")->End(At(2020, 2, 10)), At(2020, 3, 1));
  EXPECT_EQ(ParseBucketWidth("week")->Start(At(1970, 1, 2)), At(1969, 12, 29));
  EXPECT_EQ(ParseBucketWidth("week")->End(0), At(1970, 1, 5));
  EXPECT_EQ(ParseBucketWidth("day")->Start(-1), At(1969, 12, 31));
  EXPECT_EQ(ParseBucketWidth("7h")->Start(-1), -7 * kMicrosPerHour);
  EXPECT_EQ(ParseBucketWidth("month")->Start(At(1850, 2, 28, 23)), At(1850, 2, 1));
  EXPECT_EQ(ParseBucketWidth("month")->End(At(1850, 2, 28, 23)), At(1850, 3, 1));
  // The first bucket of a width that does not begin with the calendar is a shorter one.
  const BucketWidth fortnight = *ParseBucketWidth("14d");
  EXPECT_EQ(fortnight.Start(kTimeBeginMicros), kTimeBeginMicros);
  EXPECT_EQ(fortnight.End(kTimeBeginMicros), At(1, 1, 11));
  EXPECT_EQ(fortnight.Start(At(1, 1, 11)), At(1, 1, 11));
  SeededRandom random(2);
  for (const char* width : {"minute", "15m", "7h", "day", "14d", "week", "month"}) {
    const BucketWidth bucket = *ParseBucketWidth(width);
    for (int i = 0; i < 1000; ++i) {
      const int64_t micros = AnyTime(random);
      const int64_t first = bucket.Start(micros);
      const int64_t end = bucket.End(micros);
      EXPECT_TRUE(first <= micros && micros < end) << width;
      EXPECT_EQ(bucket.Start(end - 1), first) << width;
      EXPECT_EQ(bucket.Start(end), end) << width;
    }
  }
}

TEST(Calendar, DurationsAreExact) {
  EXPECT_EQ(*ParseDurationMicros("90d"), 90 * kMicrosPerDay);
  EXPECT_EQ(*ParseDurationMicros("250ms"), 250'000);
  EXPECT_EQ(DurationText(90 * kMicrosPerDay), "90d");
  EXPECT_EQ(DurationText(7 * kMicrosPerDay), "7d");
  EXPECT_EQ(DurationText(1500), "1500us");
  for (const char* bad :
       {"", "5", "m", "0m", "-1m", "1.5h", "5 m", "5mm", "99999999999999999999d", "9999999y"}) {
    EXPECT_EQ(ParseDurationMicros(bad).status().message(),
              fmt::format(
                  "'{}' is not a duration; allowed: a whole number from 1 and a unit (us, ms, s, m, h, d, w, "
                  "y), as in 15m",
                  bad));
  }
}

TEST(TimeFormats, WriteWhatTheDocumentsShow) {
  const int64_t time = At(2021, 3, 5, 12, 4, 33, 1000);
  const auto text = [&](std::string_view name) {
    std::string out;
    AppendCalendarTime(*TimeFormatOfName(name), time, &out);
    return out;
  };
  EXPECT_EQ(text("yyyy-mm-dd-hhmm"), "2021-03-05-1204");
  EXPECT_EQ(text("yyyymmdd"), "20210305");
  EXPECT_EQ(text("yyyymmddhhmmssmmm"), "20210305120433001");
  EXPECT_EQ(text("yyyy-www"), "2021-w09");
  EXPECT_EQ(text("yyyy-mm"), "2021-03");
}

TEST(TimeFormats, ComeBackAndSort) {
  SeededRandom random(3);
  for (int f = 0; f <= static_cast<int>(kLastFormat); ++f) {
    const auto format = static_cast<TimeFormat>(f);
    if (IsEpochFormat(format)) continue;
    std::optional<int64_t> last_time;
    std::string last_text;
    for (int i = 0; i < 500; ++i) {
      const int64_t time = AnyTime(random);
      std::string text;
      AppendCalendarTime(format, time, &text);
      EXPECT_EQ(text.size(), TimeFormatWidthBytes(format));
      EXPECT_EQ(ParseCalendarTime(format, text), TimeFormatUnit(format).Start(time)) << text;
      if (last_time) {
        const int64_t a = TimeFormatUnit(format).Start(*last_time);
        const int64_t b = TimeFormatUnit(format).Start(time);
        EXPECT_EQ(a < b, last_text < text);
        EXPECT_EQ(a == b, last_text == text);
      }
      last_time = time;
      last_text = text;
    }
  }
}

}  // namespace
}  // namespace sonde::series
