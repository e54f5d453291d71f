// Aggregates of numbers with their times.  The results do not depend on the order and parts in which rows come
// (sql/testing/aggregate_calls.h tries these).
#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <vector>

#include "sql/testing/aggregate_calls.h"

namespace sonde::sql {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
const double kNan = std::numeric_limits<double>::quiet_NaN();

TEST(PointAggregates, PickTheOldestAndTheNewestValue) {
  EXPECT_EQ(Aggregated("FIRST", {Ints({7, 5, 9}), Seconds({20, 10, 30})}), "INT64: 5");
  EXPECT_EQ(Aggregated("LAST", {Ints({7, 9, 5}), Seconds({20, 30, 10})}), "INT64: 9");
  EXPECT_EQ(Aggregated("LAST", {Strings({"b", "a"}), Seconds({20, 30})}), "STRING: \"a\"");
  EXPECT_EQ(Aggregated("FIRST", {Doubles({0.5, 1.5}), Ints({2, 1})}), "FLOAT64: 1.5");
  EXPECT_EQ(Aggregated("LAST", {Ints({}), Seconds({})}), "INT64: NULL");
  EXPECT_EQ(Aggregated("LAST", {Ints({1}), Seconds({kNull})}), "INT64: NULL");
}

TEST(PointAggregates, PassOverValuesThatAreMissing) {
  EXPECT_EQ(Aggregated("FIRST", {Ints({kNull, 5, 9}), Seconds({10, 20, 30})}), "INT64: 5");
  EXPECT_EQ(Aggregated("LAST", {Ints({5, 9, kNull}), Seconds({10, 20, 30})}), "INT64: 9");
  EXPECT_EQ(Aggregated("MAX_BY", {Ints({5, 9, kNull}), Seconds({10, 20, 30})}), "INT64: NULL");
  EXPECT_EQ(Aggregated("MIN_BY", {Ints({kNull, 9, 5}), Seconds({10, 20, 30})}), "INT64: NULL");
}

TEST(PointAggregates, TakeTheGreatestOrTheLeastValueOfOneTime) {
  EXPECT_EQ(Aggregated("LAST", {Ints({4, 6, 5}), Seconds({10, 10, 10})}), "INT64: 6");
  EXPECT_EQ(Aggregated("FIRST", {Ints({5, 4, 6}), Seconds({10, 10, 10})}), "INT64: 4");
  EXPECT_EQ(Aggregated("MAX_BY", {Strings({"x", "z", "y"}), Ints({1, 1, 1})}), "STRING: \"z\"");
  EXPECT_EQ(Aggregated("MIN_BY", {Strings({"y", "x", "z"}), Ints({1, 1, 1})}), "STRING: \"x\"");
}

TEST(PointAggregates, TellTheChangeFromTheOldestToTheNewestValue) {
  EXPECT_EQ(Aggregated("DELTA", {Ints({9, 4, 6}), Seconds({30, 10, 20})}), "INT64: 5");
  EXPECT_EQ(Aggregated("DELTA", {Doubles({4, 1.5}), Seconds({10, 30})}), "FLOAT64: -2.5");
  EXPECT_EQ(Aggregated("DELTA", {Ints({9}), Seconds({30})}), "INT64: NULL");
  EXPECT_EQ(Aggregated("DELTA", {Ints({9, 5}), Seconds({30, 30})}), "INT64: NULL");
  EXPECT_EQ(Aggregated("DELTA", {Ints({}), Seconds({})}), "INT64: NULL");
  EXPECT_EQ(Aggregated("DELTA", {Ints({kMin, kMax}), Seconds({1, 2})}), "OUT_OF_RANGE: int64 overflow");
}

TEST(PointAggregates, CountWhatACounterGrewAcrossResets) {
  EXPECT_EQ(Aggregated("INCREASE", {Ints({2, 10, 13}), Seconds({30, 10, 20})}), "INT64: 5");
  EXPECT_EQ(Aggregated("INCREASE", {Doubles({1, 2.5, 0.5}), Seconds({1, 2, 3})}), "FLOAT64: 2");
  EXPECT_EQ(Aggregated("INCREASE", {Ints({5, kNull, 8}), Seconds({1, 2, 3})}), "INT64: 3");
  EXPECT_EQ(Aggregated("INCREASE", {Ints({5}), Seconds({1})}), "INT64: NULL");
  EXPECT_EQ(Aggregated("INCREASE", {Ints({kMin, kMax}), Seconds({1, 2})}), "OUT_OF_RANGE: int64 overflow");
}

TEST(PointAggregates, TellRatesByTheSecond) {
  EXPECT_EQ(Aggregated("RATE", {Ints({2, 10, 13}), Seconds({30, 10, 20})}), "FLOAT64: 0.25");
  EXPECT_EQ(Aggregated("RATE", {Doubles({1, 2}), Seconds({1, 5})}), "FLOAT64: 0.25");
  EXPECT_EQ(Aggregated("RATE", {Ints({5}), Seconds({1})}), "FLOAT64: NULL");
  EXPECT_EQ(Aggregated("RATE", {Ints({5, 6}), Seconds({1, 1})}), "FLOAT64: NULL");
  EXPECT_EQ(Aggregated("RATE", {Ints({kMin, kMax}), Seconds({0, 1})}), "FLOAT64: 1.8446744073709552e+19");
  EXPECT_EQ(Aggregated("IRATE", {Ints({100, 10, 13}), Seconds({10, 20, 50})}), "FLOAT64: 0.1");
  EXPECT_EQ(Aggregated("IRATE", {Ints({100, 10}), Seconds({10, 20})}), "FLOAT64: 1");
  // Of two values of the newest time the greatest; the one before it is of another time.
  EXPECT_EQ(Aggregated("IRATE", {Ints({4, 6, 2}), Seconds({20, 20, 10})}), "FLOAT64: 0.4");
  EXPECT_EQ(Aggregated("IRATE", {Ints({4, 6}), Seconds({20, 20})}), "FLOAT64: NULL");
}

TEST(PointAggregates, WeighValuesByHowLongTheyHold) {
  EXPECT_EQ(Aggregated("TIME_WEIGHTED_AVG", {Doubles({100, 1, 4}), Seconds({40, 0, 30})}), "FLOAT64: 1.75");
  EXPECT_EQ(Aggregated("TIME_WEIGHTED_AVG", {Ints({1, 3}), Seconds({0, 10})}), "FLOAT64: 1");
  EXPECT_EQ(Aggregated("TIME_WEIGHTED_AVG", {Doubles({2, 7}), Seconds({5, 5})}), "FLOAT64: 7");
  EXPECT_EQ(Aggregated("TIME_WEIGHTED_AVG", {Doubles({kNull}), Seconds({5})}), "FLOAT64: NULL");
}

TEST(PointAggregates, FindPercentilesOfAGroup) {
  EXPECT_EQ(Aggregated("PERCENTILE_CONT", {Doubles({9, 1, 3, kNull}), Always(Value::Double(0.5))}),
            "FLOAT64: 3");
  EXPECT_EQ(Aggregated("PERCENTILE_CONT", {Doubles({2, 1}), Always(Value::Double(0.25))}), "FLOAT64: 1.25");
  EXPECT_EQ(Aggregated("PERCENTILE_CONT", {Doubles({2, kNan}), Always(Value::Double(1))}), "FLOAT64: 2");
  EXPECT_EQ(Aggregated("PERCENTILE_CONT", {Doubles({kNull}), Always(Value::Double(0))}), "FLOAT64: NULL");
  EXPECT_EQ(Aggregated("PERCENTILE_DISC", {Ints({4, 1, 3, 2}), Always(Value::Double(0.5))}), "INT64: 2");
  EXPECT_EQ(Aggregated("PERCENTILE_DISC", {Strings({"b", "a", "c"}), Always(Value::Double(1))}),
            "STRING: \"c\"");
  EXPECT_EQ(Aggregated("PERCENTILE_DISC", {Ints({4}), Always(Value::Double(1.5))}),
            "OUT_OF_RANGE: Argument 2 to PERCENTILE_DISC must be between 0 and 1");
  EXPECT_EQ(Aggregated("PERCENTILE_CONT", {Doubles({4}), Always(Value::Null(TypeKind::kFloat64))}),
            "OUT_OF_RANGE: Argument 2 to PERCENTILE_CONT must be non-NULL");
}

TEST(PointAggregates, RefuseDamagedStates) {
  const TestAggregate increase("INCREASE", {Ints({1, 2}), Seconds({1, 2})});
  const std::unique_ptr<Aggregator> of_points = increase.Make(1);
  EXPECT_EQ(of_points->Load(0, "123").ToString(), "DATA_LOSS: the state of an aggregate is damaged");
  const TestAggregate last("LAST", {Strings({"a"}), Seconds({1})});
  const std::unique_ptr<Aggregator> of_text = last.Make(1);
  EXPECT_EQ(of_text->Load(0, "\x09").ToString(), "DATA_LOSS: the state of an aggregate is damaged");
}

}  // namespace
}  // namespace sonde::sql
