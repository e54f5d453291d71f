// The newest point of each series, with its table of newest values and without.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "series/query/query_test_support.h"

namespace sonde::series {
namespace {

TEST(Query, LatestComesFromItsTable) {
  Fixture fixture("bucket: day\nkey: [a, b, bucket]\nderive: [ latest: now ]");
  fixture.Write(kPoints);
  EXPECT_EQ(fixture.Ask({.latest = 1}),
            (Rows{"s 1 2021-03-05T01:00:00Z 4 30 w", "t 2 2021-03-04T01:00:00Z 8 40 w"}));
  EXPECT_EQ(fixture.stats_.table, "now");
  EXPECT_EQ(fixture.stats_.rows_read, 2);
  EXPECT_EQ(fixture.Ask({.latest = 2, .rows_max = 2}),
            (Rows{"s 1 2021-03-05T01:00:00Z 4 30 w", "s 1 2021-03-04T01:00:00Z 2 - w"}));
  EXPECT_EQ(fixture.stats_.table, "s");
}

TEST(Query, LatestComesFromACompleteTableOnly) {
  Fixture fixture("bucket: day\nkey: [a, b, bucket]");
  fixture.Write(kPoints);
  fixture.Declare("bucket: day\nkey: [a, b, bucket]\nderive: [ latest: now ]");
  fixture.Write({{"s", "1", kDay - kMicrosPerDay, -7, std::nullopt}});  // the table has this one only
  EXPECT_EQ(fixture.Ask({.latest = 1}),
            (Rows{"s 1 2021-03-05T01:00:00Z 4 30 w", "t 2 2021-03-04T01:00:00Z 8 40 w"}));
  EXPECT_EQ(fixture.stats_.table, "s");
}

// The newest point is a point: what it lacks is not filled from older ones.
TEST(Query, LatestDoesNotMixPoints) {
  for (const char* derive : {"", "\nderive: [ latest: now ]"}) {
    Fixture fixture(std::string("bucket: day\nkey: [a, b, bucket]") + derive);
    fixture.WriteTexts({"s", "1"}, kDay, {"5", "", {}});
    fixture.WriteTexts({"s", "1"}, kDay + kMicrosPerDay, {"", "7", {}});
    EXPECT_EQ(fixture.Ask({.latest = 1}), Rows{"s 1 2021-03-05T00:00:00Z - 7 -"}) << derive;
    EXPECT_EQ(fixture.Ask({.fields = {0}, .latest = 1}), Rows{"s 1 2021-03-04T00:00:00Z 5"}) << derive;
    EXPECT_EQ(fixture.stats_.table, *derive == 0 ? "s" : "now");
  }
}

// Points of one millisecond are one to the table of newest values: it is not asked.
TEST(Query, LatestTellsPointsOfAMillisecondApart) {
  Fixture fixture(
      "layout: row\nkey: [a, b, { time: epoch_us }]\ntime: { resolution: 1us }\nderive: [ latest: now ]");
  fixture.WriteTexts({"s", "1"}, kDay + 900, {"2", "", {}});
  fixture.WriteTexts({"s", "1"}, kDay + 1, {"1", "", {}});
  EXPECT_EQ(fixture.Ask({.latest = 1}), Rows{"s 1 2021-03-04T00:00:00.000900Z 2 - -"});
}

// Whatever the layout, and whatever is late, missing, corrected or forgotten, a table of newest values
// changes no answer.
TEST(Query, LatestIsTheSameWithAndWithoutItsTable) {
  SeededRandom random(17);
  int from_table = 0;
  for (const char* text :
       {"bucket: day\nkey: [a, b, bucket]", "bucket: week\nkey: [a, bucket, b]",
        "layout: row\nkey: [b, a, time]", "layout: row\nkey: [a, b, time]\ncorrections: keep",
        "bucket: day\nkey: [{ salt: 4 }, a, b, bucket]",
        "layout: offsets\nbucket: week\nslot: 1m\nkey: [a, b, bucket]",
        "layout: columns\nbucket: week\nkey: [a, b, field, bucket]",
        "bucket: day\nkey: [a, b, bucket]\nversions:\n  - { until: 2021-03-06, table: v, layout: row, key: "
        "[a, b, "
        "time] }"}) {
    for (const char* forgetting : {"", "\nretention: { max_age: 2d }"}) {
      SCOPED_TRACE(std::string(text) + forgetting);
      Fixture fixture(fmt::format(
          "{}{}\ntime: {{ resolution: 1m }}\nderive: [ latest: now, rollup: {{ table: r, every: day }} ]",
          text, forgetting));
      const ManualClock clock(kDay + 5 * kMicrosPerDay);
      PointWriter writer(fixture.schema_, &fixture.tables_, {}, &clock);
      for (int i = 0; i < 60; ++i) {
        const std::string a(1, static_cast<char>('a' + random.Uniform(3)));
        const std::string b = fmt::format("{}", random.Uniform(3) * 9);  // 18 comes before 9
        const std::string x = random.Uniform(3) == 0 ? "" : fmt::format("{}", i);
        const std::string n = random.Uniform(3) == 0 ? "" : fmt::format("{}", i);
        const std::string_view w = x.empty() ? std::string_view("w") : std::string_view();  // which is none
        const int64_t hours = static_cast<int64_t>(random.Uniform(30)) * 4;
        ASSERT_TRUE(writer.Add({{a, b}, kDay + hours * kMicrosPerHour, {x, n, w}}).ok());
        const bool is_flushed = random.Uniform(5) == 0;
        ASSERT_TRUE(!is_flushed || writer.Flush().ok());
      }
      ASSERT_TRUE(writer.Flush().ok());
      SeriesSchema without = fixture.schema_;
      without.latest.clear();
      for (const std::vector<size_t>& fields : std::vector<std::vector<size_t>>{{}, {0}, {1}, {2, 0}}) {
        for (const std::optional<int64_t> rows_max : {std::optional<int64_t>(), std::optional<int64_t>(4)}) {
          const Query query{
              .fields = fields, .latest = 1, .rows_max = rows_max, .now_micros = clock.NowMicros()};
          const Rows answer = fixture.Ask(query);
          from_table += fixture.stats_.table == "now" ? 1 : 0;
          Rows expected;
          ASSERT_TRUE(RunQuery(without, query, &fixture.tables_, [&](const ResultRow& row) {
                        expected.push_back(Text(row));
                        return true;
                      }).ok());
          EXPECT_EQ(answer, expected);
        }
      }
    }
  }
  EXPECT_EQ(from_table, (7 * 2 - 1) * 8) << "all but readings as columns, and corrections that age";
}

TEST(Query, LatestSeeksFromSeriesToSeries) {
  for (const char* text :
       {"layout: row\nkey: [a, b, time]", "layout: row\nkey: [a, b, { time: epoch_ms, reverse: true }]"}) {
    Fixture fixture(text);
    std::vector<NaivePoint> points;
    for (int i = 0; i < 300; ++i) {
      for (const char* a : {"p", "q", "r"})
        points.push_back({a, "1", kDay + i * kMicrosPerMinute, 1.0 * i, {}});
    }
    fixture.Write(points);
    EXPECT_EQ(fixture.Ask({.fields = {0}, .latest = 1}),
              (Rows{"p 1 2021-03-04T04:59:00Z 299", "q 1 2021-03-04T04:59:00Z 299",
                    "r 1 2021-03-04T04:59:00Z 299"}));
    EXPECT_LE(fixture.stats_.rows_read, 60);
    EXPECT_EQ(fixture.stats_.requests, 4);
  }
}

}  // namespace
}  // namespace sonde::series
