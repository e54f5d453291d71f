// Functions of points in time, in whole queries.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/time/civil_time.h"
#include "absl/time/time.h"
#include "series/schema/time_buckets.h"
#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

using PointFunctionsTest = ExecTest;

constexpr std::string_view kPoints =
    "UNNEST([STRUCT('a' AS s, 1 AS v, TIMESTAMP_SECONDS(10) AS t), ('a', 5, TIMESTAMP_SECONDS(20)), ('a', "
    "NULL, TIMESTAMP_SECONDS(30)), ('a', 2, TIMESTAMP_SECONDS(40)), ('b', 7, TIMESTAMP_SECONDS(10))])";

TEST_F(PointFunctionsTest, TellChangesFromRowToRow) {
  const std::string of(kPoints);
  EXPECT_EQ(Query("SELECT s, v, DELTA(v) OVER w, INCREASE(v) OVER w, RATE(v) OVER w FROM " + of +
                  " WINDOW w AS (PARTITION BY s ORDER BY t) ORDER BY s, t"),
            "\"a\" 1 NULL NULL NULL\n"
            "\"a\" 5 4 4 0.4\n"
            "\"a\" NULL NULL NULL NULL\n"
            "\"a\" 2 -3 2 0.1\n"
            "\"b\" 7 NULL NULL NULL\n");
  EXPECT_EQ(Query("SELECT s, DELTA(v, t), INCREASE(v, t), LAST(v, t), COUNT(*) FROM " + of +
                  " GROUP BY s ORDER BY s"),
            "\"a\" 1 6 2 4\n"
            "\"b\" NULL NULL 7 1\n");
}

TEST_F(PointFunctionsTest, AreRefusedWhereTheyMakeNoSense) {
  const std::string of(kPoints);
  EXPECT_EQ(Query("SELECT DELTA(v) OVER (PARTITION BY s) FROM " + of),
            "INVALID_ARGUMENT: Window ORDER BY is required for analytic function delta [at 1:22]");
  EXPECT_EQ(Query("SELECT RATE(v) OVER (ORDER BY v) FROM " + of),
            "INVALID_ARGUMENT: Window ORDER BY must have one key, of type TIMESTAMP, for analytic function "
            "rate [at "
            "1:22]");
  EXPECT_EQ(Query("SELECT RATE(v) OVER (ORDER BY IF(v = 1, NULL, t)) FROM " + of),
            "OUT_OF_RANGE: The ORDER BY key of the function RATE must not be null");
  EXPECT_EQ(Query("SELECT DELTA(x) OVER (ORDER BY y) FROM UNNEST([STRUCT(-9223372036854775808 AS x, 1 AS y), "
                  "(1, 2)])"),
            "OUT_OF_RANGE: int64 overflow in the function DELTA");
  EXPECT_EQ(Query("SELECT PERCENTILE_CONT(v, v / 10) FROM " + of),
            "INVALID_ARGUMENT: Argument 2 to PERCENTILE_CONT must be the same for all rows [at 1:27]");
  EXPECT_EQ(
      Query("SELECT ROW_NUMBER() FROM " + of),
      "INVALID_ARGUMENT: Analytic function ROW_NUMBER cannot be called without an OVER clause [at 1:8]");
}

TEST_F(PointFunctionsTest, FramesMaySpanTime) {
  const std::string of(kPoints);
  EXPECT_EQ(Query("SELECT s, UNIX_SECONDS(t), SUM(v) OVER (PARTITION BY s ORDER BY t RANGE BETWEEN INTERVAL "
                  "10 SECOND PRECEDING AND "
                  "CURRENT ROW), COUNT(*) OVER (PARTITION BY s ORDER BY t RANGE BETWEEN CURRENT ROW AND "
                  "INTERVAL 1 MINUTE FOLLOWING), "
                  "MAX(v) OVER (PARTITION BY s ORDER BY t DESC RANGE BETWEEN INTERVAL 15 SECOND PRECEDING "
                  "AND INTERVAL 1 SECOND PRECEDING) "
                  "FROM " +
                  of + " ORDER BY s, t"),
            "\"a\" 10 1 4 5\n"
            "\"a\" 20 6 3 NULL\n"
            "\"a\" 30 5 2 2\n"
            "\"a\" 40 2 1 NULL\n"
            "\"b\" 10 7 1 NULL\n");
}

TEST_F(PointFunctionsTest, PercentilesOfGroupsAreThoseOfPartitions) {
  for (const std::string function : {"PERCENTILE_CONT", "PERCENTILE_DISC"}) {
    const std::string rows =
        "(SELECT MOD(x, 7) AS g, MOD(x * 7919, 1009) AS v FROM UNNEST(GENERATE_ARRAY(1, 1000)) x)";
    for (const std::string p : {"0", "0.1", "0.5", "0.95", "1"}) {
      EXPECT_EQ(Query("SELECT g, " + function + "(v, " + p + ") FROM " + rows + " GROUP BY g ORDER BY g"),
                Query("SELECT DISTINCT g, " + function + "(v, " + p + ") OVER (PARTITION BY g) FROM " + rows +
                      " ORDER BY g"))
          << function << " " << p;
    }
  }
}

TEST_F(PointFunctionsTest, BucketsHaveTheArgumentsAndOriginsOfOtherDatabases) {
  EXPECT_EQ(
      Query("SELECT TIME_BUCKET(INTERVAL 7 DAY, TIMESTAMP '2024-05-15 01:00:00'), DATE_BIN(INTERVAL 7 DAY, "
            "TIMESTAMP '2024-05-15 01:00:00'), TIMESTAMP_BUCKET(TIMESTAMP '2024-05-15 01:00:00', INTERVAL 7 "
            "DAY)"),
      "TIMESTAMP \"2024-05-13 00:00:00+00\" TIMESTAMP \"2024-05-09 00:00:00+00\" TIMESTAMP "
      "\"2024-05-12 00:00:00+00\"\n");
  EXPECT_EQ(Query("SELECT TIME_BUCKET(INTERVAL 1 HOUR, TIMESTAMP '2024-05-15 01:20:00', TIMESTAMP "
                  "'2024-01-01 00:30:00'), "
                  "DATE_BIN(INTERVAL 2 DAY, DATE '2024-05-15')"),
            "TIMESTAMP \"2024-05-15 00:30:00+00\" DATE \"2024-05-15\"\n");
}

TEST_F(PointFunctionsTest, BucketsOfOtherDatabasesMayBeMonths) {
  // Each database's own origin: 7 months from 2000-01-01 on, and from 1970-01-01 on.
  EXPECT_EQ(Query("SELECT TIME_BUCKET(INTERVAL 1 MONTH, TIMESTAMP '2024-05-15 01:20:00'), "
                  "TIME_BUCKET(INTERVAL 7 MONTH, TIMESTAMP '2024-05-15 01:20:00'), "
                  "DATE_BIN(INTERVAL 7 MONTH, TIMESTAMP '2024-05-15 01:20:00'), "
                  "TIME_BUCKET(INTERVAL 7 MONTH, DATE '2024-05-15'), "
                  "DATE_BIN(INTERVAL 7 MONTH, DATE '2024-05-15')"),
            "TIMESTAMP \"2024-05-01 00:00:00+00\" TIMESTAMP \"2023-12-01 00:00:00+00\" TIMESTAMP "
            "\"2024-04-01 00:00:00+00\" DATE \"2023-12-01\" DATE \"2024-04-01\"\n");
  EXPECT_EQ(Query("SELECT TIME_BUCKET(INTERVAL 1 QUARTER, TIMESTAMP '1999-12-31 23:59:59.999999'), "
                  "TIME_BUCKET(INTERVAL 3 YEAR, TIMESTAMP '1999-12-31 23:59:59.999999')"),
            "TIMESTAMP \"1999-10-01 00:00:00+00\" TIMESTAMP \"1997-01-01 00:00:00+00\"\n");
  EXPECT_EQ(
      Query("SELECT TIME_BUCKET(INTERVAL 1 MONTH, TIMESTAMP '2024-05-15 01:20:00', TIMESTAMP "
            "'2020-01-20 06:00:00'), TIME_BUCKET(INTERVAL 1 MONTH, DATE '2024-05-25', DATE '2020-01-20')"),
      "TIMESTAMP \"2024-04-20 00:00:00+00\" DATE \"2024-05-20\"\n");
  EXPECT_EQ(Query("SELECT TIME_BUCKET(INTERVAL -1 MONTH, TIMESTAMP '2024-05-15 01:20:00')"),
            "OUT_OF_RANGE: Negative bucket width INTERVAL is not allowed");
  EXPECT_EQ(Query("SELECT DATE_BIN(INTERVAL 0 MONTH, TIMESTAMP '2024-05-15 01:20:00')"),
            "OUT_OF_RANGE: Zero bucket width INTERVAL is not allowed");
  EXPECT_EQ(Query("SELECT DATE_BIN(INTERVAL 9999 YEAR, TIMESTAMP '0001-05-15 01:20:00')"),
            "OUT_OF_RANGE: Bucket for 0001-05-15 01:20:00+00 is outside of timestamp range");
}

// DuckDB's and DataFusion's buckets: whole months since the origin's, whatever the day.
TEST_F(PointFunctionsTest, BucketsOfMonthsAreCountedFromTheOrigin) {
  std::mt19937 random(11);
  std::uniform_int_distribution<int64_t> second(-3'000'000'000, 4'000'000'000);
  for (int i = 0; i < 200; ++i) {
    const absl::CivilMonth month =
        absl::ToCivilMonth(absl::FromUnixSeconds(second(random)), absl::UTCTimeZone());
    const absl::CivilSecond time(absl::CivilDay(month) + static_cast<int>(random() % 28));
    const int64_t width = 1 + static_cast<int64_t>(random() % 30);
    for (const auto& [function, origin] : std::vector<std::pair<std::string, absl::CivilMonth>>{
             {"TIME_BUCKET", absl::CivilMonth(2000, 1)}, {"DATE_BIN", absl::CivilMonth(1970, 1)}}) {
      int64_t pieces = (month - origin) / width;
      if (pieces * width > month - origin) --pieces;
      EXPECT_EQ(Query(fmt::format("SELECT {}(INTERVAL {} MONTH, TIMESTAMP '{}')", function, width,
                                  absl::FormatCivilTime(time))),
                fmt::format("TIMESTAMP \"{} 00:00:00+00\"\n",
                            absl::FormatCivilTime(absl::CivilDay(origin + pieces * width))));
    }
  }
}

TEST_F(PointFunctionsTest, BucketsOfAZoneAreThoseOfSeries) {
  struct Width {
    const char* sql;
    const char* series;
  };
  constexpr Width kWidths[] = {{"15 MINUTE", "15m"}, {"6 HOUR", "6h"}, {"1 DAY", "1d"},
                               {"3 DAY", "3d"},      {"1 WEEK", "1w"}, {"1 MONTH", "1mo"},
                               {"5 MONTH", "5mo"},   {"1 YEAR", "1y"}};
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> second(-3'000'000'000, 4'000'000'000);
  for (const std::string zone :
       {"UTC", "Europe/Rome", "America/Sao_Paulo", "Asia/Kolkata", "America/Havana"}) {
    std::string times;
    std::vector<int64_t> all;
    for (int i = 0; i < 200; ++i) {
      // Some around changes of the clocks, which come at the end of March and October.
      all.push_back(i % 2 == 0 ? second(random) : 1'711'846'800 + random() % 864'000);
      times += fmt::format("{}{}", times.empty() ? "" : ", ", all.back());
    }
    for (const Width& width : kWidths) {
      const absl::StatusOr<series::TimeBuckets> buckets = series::TimeBuckets::Parse(width.series, zone);
      ASSERT_TRUE(buckets.ok()) << buckets.status();
      std::string expected;
      for (const int64_t time : all) expected += fmt::format("{}\n", buckets->Start(time * 1'000'000));
      EXPECT_EQ(Query(fmt::format(
                    "SELECT UNIX_MICROS(TIMESTAMP_BUCKET(TIMESTAMP_SECONDS(x), INTERVAL {}, time_zone "
                    "=> '{}')) FROM UNNEST([{}]) AS x",
                    width.sql, zone, times)),
                expected)
          << width.sql << " " << zone;
    }
    EXPECT_EQ(Query(fmt::format(
                  "SELECT COUNTIF(TIMESTAMP_BUCKET(TIMESTAMP_SECONDS(x), INTERVAL 1 MONTH, time_zone => "
                  "'{}') != TIMESTAMP_TRUNC(TIMESTAMP_SECONDS(x), MONTH, '{}')) FROM UNNEST([{}]) AS x",
                  zone, zone, times)),
              "0\n")
        << zone;
  }
}

TEST_F(PointFunctionsTest, BucketsOfAZoneBeginAtTheDateOfAnOrigin) {
  EXPECT_EQ(
      Query("SELECT TIMESTAMP_BUCKET(TIMESTAMP '2024-05-15 22:30:00', INTERVAL 2 DAY, TIMESTAMP '2024-05-01 "
            "12:00:00', 'Europe/Rome'), TIMESTAMP_BUCKET(TIMESTAMP '2024-05-15', INTERVAL 1 MONTH, TIMESTAMP "
            "'2024-01-15 12:00:00', time_zone => 'Europe/Rome')"),
      "TIMESTAMP \"2024-05-14 22:00:00+00\" TIMESTAMP \"2024-05-14 22:00:00+00\"\n");
  EXPECT_EQ(Query("SELECT TIMESTAMP_BUCKET(TIMESTAMP '2024-05-15', INTERVAL 1 HOUR, TIMESTAMP '2024-05-01', "
                  "'Europe/Rome')"),
            "OUT_OF_RANGE: Only MONTH and DAY parts are allowed in bucket width INTERVAL with an origin in a "
            "time zone");
  // A third argument is the origin, be it a text.
  EXPECT_EQ(Query("SELECT TIMESTAMP_BUCKET(TIMESTAMP '2024-05-15', INTERVAL 2 DAY, '2024-05-02')"),
            "TIMESTAMP \"2024-05-14 00:00:00+00\"\n");
  EXPECT_EQ(
      Query("SELECT TIMESTAMP_BUCKET(TIMESTAMP '2024-05-15', INTERVAL 1 DAY, time_zone => 'Nowhere/Land')"),
      "OUT_OF_RANGE: Invalid time zone: Nowhere/Land");
  EXPECT_EQ(
      Query("SELECT TIMESTAMP_BUCKET(TIMESTAMP '2024-05-15', INTERVAL 7 HOUR, time_zone => 'Europe/Rome')"),
      "OUT_OF_RANGE: Bucket width INTERVAL 7 HOUR is neither whole days nor a part of a day, which buckets "
      "in time "
      "zone Europe/Rome have to be");
}

}  // namespace
}  // namespace sonde::sql
