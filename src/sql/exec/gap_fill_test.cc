// GAP_FILL: rows at each bucket, and what fills them.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

class GapFillTest : public ExecTest {
 protected:
  // Of (partition, seconds of the time, values), in whichever order.
  static constexpr std::string_view kRows =
      "(SELECT d, TIMESTAMP_SECONDS(s) AS t, v, w FROM UNNEST([STRUCT(1 AS d, 241 AS s, 74 AS v, 'x' AS w), "
      "(1, 360, 77, "
      "'y'), (1, 481, 80, NULL), (1, 420, 78, NULL), (2, 60, 5, 'a'), (2, 300, 9, 'b')]))";

  std::string Filled(std::string_view arguments, std::string_view rows = kRows) {
    return Query("SELECT * FROM GAP_FILL(" + std::string(rows) + ", " + std::string(arguments) + ")");
  }
  // The same as seconds, which are easier to read.
  std::string FilledSeconds(std::string_view arguments) {
    return Query("SELECT d, UNIX_SECONDS(t), v FROM GAP_FILL(" + std::string(kRows) + ", " +
                 std::string(arguments) + ")");
  }
};

constexpr char kByMinute[] = "ts_column => 't', bucket_width => INTERVAL 1 MINUTE, ";

TEST_F(GapFillTest, CarriesTheLastValueForward) {
  EXPECT_EQ(FilledSeconds(std::string(kByMinute) +
                          "partitioning_columns => ['d'], value_columns => [('v', 'locf')]"),
            "1 300 74\n1 360 77\n1 420 78\n1 480 78\n2 60 5\n2 120 5\n2 180 5\n2 240 5\n2 300 9\n");
}

TEST_F(GapFillTest, DrawsLinesBetweenNeighbours) {
  EXPECT_EQ(FilledSeconds(std::string(kByMinute) +
                          "partitioning_columns => ['d'], value_columns => [('v', 'linear')]"),
            "1 300 75\n1 360 77\n1 420 78\n1 480 80\n2 60 5\n2 120 6\n2 180 7\n2 240 8\n2 300 9\n");
  EXPECT_EQ(
      Filled("ts_column => 't', bucket_width => INTERVAL 10 SECOND, value_columns => [('x', 'linear')]",
             "(SELECT TIMESTAMP_SECONDS(s) AS t, x FROM UNNEST([STRUCT(5 AS s, 1.0 AS x), (25, 2.0)]))"),
      "TIMESTAMP \"1970-01-01 00:00:10+00\" 1.25\nTIMESTAMP \"1970-01-01 00:00:20+00\" 1.75\n");
  // Halves go away from 0.
  EXPECT_EQ(Filled("ts_column => 't', bucket_width => INTERVAL 1 SECOND, value_columns => [('x', 'linear')]",
                   "(SELECT TIMESTAMP_SECONDS(s) AS t, x FROM UNNEST([STRUCT(0 AS s, 0 AS x), (2, -1), (4, "
                   "0), (6, 1)]))"),
            "TIMESTAMP \"1970-01-01 00:00:00+00\" 0\nTIMESTAMP \"1970-01-01 00:00:01+00\" -1\n"
            "TIMESTAMP \"1970-01-01 00:00:02+00\" -1\nTIMESTAMP \"1970-01-01 00:00:03+00\" -1\n"
            "TIMESTAMP \"1970-01-01 00:00:04+00\" 0\nTIMESTAMP \"1970-01-01 00:00:05+00\" 1\n"
            "TIMESTAMP \"1970-01-01 00:00:06+00\" 1\n");
}

TEST_F(GapFillTest, LeavesNullWhereNothingIsThere) {
  EXPECT_EQ(
      FilledSeconds(std::string(kByMinute) +
                    "partitioning_columns => ['d'], value_columns => [('v', 'null')]"),
      "1 300 NULL\n1 360 77\n1 420 78\n1 480 NULL\n2 60 5\n2 120 NULL\n2 180 NULL\n2 240 NULL\n2 300 9\n");
  // So are all columns that nobody names.
  EXPECT_EQ(Query("SELECT UNIX_SECONDS(t), v, w FROM GAP_FILL(" + std::string(kRows) +
                  ", ts_column => 't', bucket_width => INTERVAL 2 MINUTE, partitioning_columns => ['d'])"),
            "360 77 \"y\"\n480 NULL NULL\n120 NULL NULL\n240 NULL NULL\n");
}

TEST_F(GapFillTest, NullValuesCountOnlyIfTheyAreNotIgnored) {
  const std::string by_text =
      std::string(kByMinute) + "partitioning_columns => ['d'], value_columns => [('w', 'locf')]";
  const std::string selected =
      "SELECT UNIX_SECONDS(t), w FROM GAP_FILL(" + std::string(kRows) + ", " + by_text;
  EXPECT_EQ(Query(selected + ") WHERE d = 1"), "300 \"x\"\n360 \"y\"\n420 \"y\"\n480 \"y\"\n");
  EXPECT_EQ(Query(selected + ", ignore_null_values => FALSE) WHERE d = 1"),
            "300 \"x\"\n360 \"y\"\n420 NULL\n480 NULL\n");
}

TEST_F(GapFillTest, FillsARangeThatIsAskedFor) {
  EXPECT_EQ(FilledSeconds(std::string(kByMinute) +
                          "partitioning_columns => ['d'], value_columns => [('v', 'locf')], range_start => "
                          "TIMESTAMP_SECONDS(0), range_end => TIMESTAMP_SECONDS(600)"),
            "1 0 NULL\n1 60 NULL\n1 120 NULL\n1 180 NULL\n1 240 NULL\n1 300 74\n1 360 77\n1 420 78\n1 480 "
            "78\n1 540 "
            "80\n2 0 NULL\n2 60 5\n2 120 5\n2 180 5\n2 240 5\n2 300 9\n2 360 9\n2 420 9\n2 480 9\n2 540 9\n");
}

TEST_F(GapFillTest, FillsNoLongerGapsThanItMay) {
  const std::string by =
      std::string(kByMinute) + "partitioning_columns => ['d'], max_gap => INTERVAL 2 MINUTE, ";
  EXPECT_EQ(FilledSeconds(by + "value_columns => [('v', 'locf')]"),
            "1 300 74\n1 360 77\n1 420 78\n1 480 78\n2 60 5\n2 120 5\n2 180 5\n2 240 NULL\n2 300 9\n");
  EXPECT_EQ(FilledSeconds(by + "value_columns => [('v', 'linear')]"),
            "1 300 75\n1 360 77\n1 420 78\n1 480 80\n2 60 5\n2 120 NULL\n2 180 NULL\n2 240 NULL\n2 300 9\n");
}

TEST_F(GapFillTest, BucketsBeginAtAnOrigin) {
  EXPECT_EQ(
      FilledSeconds("ts_column => 't', bucket_width => INTERVAL 2 MINUTE, partitioning_columns => ['d'], "
                    "value_columns => [('v', 'locf')], origin => TIMESTAMP_SECONDS(30)"),
      "1 270 74\n1 390 77\n2 150 5\n2 270 5\n");
}

TEST_F(GapFillTest, TakesDatesAndMonths) {
  const std::string rows =
      "(SELECT d, x FROM UNNEST([STRUCT(DATE '2024-01-31' AS d, 1 AS x), (DATE '2024-04-02', 4)]))";
  EXPECT_EQ(
      Filled("ts_column => 'd', bucket_width => INTERVAL 1 MONTH, value_columns => [('x', 'locf')]", rows),
      "DATE \"2024-02-01\" 1\nDATE \"2024-03-01\" 1\nDATE \"2024-04-01\" 1\n");
  EXPECT_EQ(Filled("ts_column => 'd', bucket_width => INTERVAL 30 DAY, value_columns => [('x', 'null')], "
                   "origin => DATE "
                   "'2024-01-31'",
                   rows),
            "DATE \"2024-01-31\" 1\nDATE \"2024-03-01\" NULL\nDATE \"2024-03-31\" NULL\n");
}

TEST_F(GapFillTest, StandsInPipesAndTakesTables) {
  EXPECT_EQ(Query("FROM (SELECT TIMESTAMP_SECONDS(0) AS t, 1 AS v UNION ALL SELECT TIMESTAMP_SECONDS(180), "
                  "4) |> CALL "
                  "GAP_FILL(ts_column => 't', bucket_width => INTERVAL 1 MINUTE, value_columns => [('v', "
                  "'linear')]) |> SELECT v"),
            "1\n2\n3\n4\n");
  EXPECT_EQ(Query("WITH r AS " + std::string(kRows) + " SELECT COUNT(*) FROM GAP_FILL(TABLE r, " + kByMinute +
                  "partitioning_columns => ['d'])"),
            "9\n");
}

TEST_F(GapFillTest, RowsWithoutATimeDoNotCount) {
  EXPECT_EQ(Filled("ts_column => 't', bucket_width => INTERVAL 1 SECOND, value_columns => [('x', 'locf')]",
                   "(SELECT IF(s = 0, NULL, TIMESTAMP_SECONDS(s)) AS t, x FROM UNNEST([STRUCT(0 AS s, 0 AS "
                   "x), (2, 1)]))"),
            "TIMESTAMP \"1970-01-01 00:00:02+00\" 1\n");
  EXPECT_EQ(Filled("ts_column => 't', bucket_width => INTERVAL 1 SECOND",
                   "(SELECT CAST(NULL AS TIMESTAMP) AS t, 1 AS x)"),
            "");
}

TEST_F(GapFillTest, RefusesWhatMakesNoSense) {
  const std::pair<std::string, std::string> cases[] = {
      {"bucket_width => INTERVAL 1 MINUTE", "GAP_FILL needs the argument ts_column [at 1:15]"},
      {"ts_column => 't'", "GAP_FILL needs the argument bucket_width [at 1:15]"},
      {"ts_column => 'v', bucket_width => INTERVAL 1 MINUTE",
       "Column v of GAP_FILL must be a TIMESTAMP or DATE, but is INT64"},
      {"ts_column => 'n', bucket_width => INTERVAL 1 MINUTE", "The input of GAP_FILL has no column n"},
      {"ts_column => t, bucket_width => INTERVAL 1 MINUTE", "Unrecognized name: t"},
      {"ts_column => 't', bucket_width => 5", "Argument bucket_width of GAP_FILL must be an INTERVAL"},
      {"ts_column => 't', bucket_width => INTERVAL 1 MINUTE, value_columns => ['v']",
       "Argument value_columns of GAP_FILL must be an array of pairs of STRING literals, a column and a "
       "method"},
      {"ts_column => 't', bucket_width => INTERVAL 1 MINUTE, value_columns => [('v', 'spline')]",
       "GAP_FILL has no method spline; there are locf, linear and null"},
      {"ts_column => 't', bucket_width => INTERVAL 1 MINUTE, value_columns => [('w', 'linear')]",
       "GAP_FILL fills column w of type STRING not by linear"},
      {"ts_column => 't', bucket_width => INTERVAL 1 MINUTE, value_columns => [('v', 'locf'), ('v', 'null')]",
       "GAP_FILL names column v twice"},
      {"ts_column => 't', bucket_width => INTERVAL 1 MINUTE, nope => 1", "GAP_FILL has no argument nope"},
      {"ts_column => 't', bucket_width => INTERVAL 1 MINUTE, range_start => 1",
       "Argument range_start of GAP_FILL must be of type TIMESTAMP, but is INT64"},
  };
  for (const auto& [arguments, message] : cases) {
    const std::string answer = Filled(arguments);
    EXPECT_TRUE(answer.starts_with("INVALID_ARGUMENT: " + message)) << arguments << "\n" << answer;
  }
  EXPECT_EQ(Filled("ts_column => 't', bucket_width => INTERVAL 0 MINUTE"),
            "OUT_OF_RANGE: Argument bucket_width of GAP_FILL must be more than 0, but is INTERVAL 0 MINUTE");
  EXPECT_EQ(Filled("ts_column => 't', bucket_width => INTERVAL 1 MONTH"),
            "OUT_OF_RANGE: Argument bucket_width of GAP_FILL must be of DAY and shorter for a TIMESTAMP, but "
            "is of MONTH");
  EXPECT_EQ(Filled("ts_column => 't', bucket_width => INTERVAL 1 MICROSECOND"),
            "OUT_OF_RANGE: GAP_FILL makes 421000001 buckets of a partition; the limit is 1000000");
}

}  // namespace
}  // namespace sonde::sql
