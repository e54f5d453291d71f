#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "hll/fingerprint.h"
#include "hll/hll_sketch.h"
#include "sql/aggregate/quantile_sketch.h"
#include "sql/aggregate/top_values.h"
#include "sql/testing/aggregate_calls.h"
#include "sql/testing/function_calls.h"

namespace sonde::sql {
namespace {

TestColumn Number(int64_t value) { return Always(Value::Int(value)); }

TEST(SketchTest, GivesQuantiles) {
  // The examples of GoogleSQL's documents.
  const TestColumn numbers = Ints({1, 1, 1, 4, 5, 6, 7, 8, 9, 10, kNull, kNull});
  EXPECT_EQ(Aggregated("APPROX_QUANTILES", {numbers, Number(2)}), "ARRAY<INT64>: [1, 5, 10]");
  EXPECT_EQ(Aggregated("APPROX_QUANTILES", {numbers, Number(10)}),
            "ARRAY<INT64>: [1, 1, 1, 1, 4, 5, 6, 7, 8, 9, 10]");
  EXPECT_EQ(Aggregated("APPROX_QUANTILES", {Ints({1, 4, 5, 6, 7, 8, 9, 10}), Number(2)}),
            "ARRAY<INT64>: [1, 6, 10]");
  EXPECT_EQ(Aggregated("APPROX_QUANTILES", {Strings({"c", "a", "b"}), Number(1)}),
            "ARRAY<STRING>: [\"a\", \"c\"]");
  EXPECT_EQ(Aggregated("APPROX_QUANTILES", {Doubles({2.5, -1}), Number(1)}), "ARRAY<FLOAT64>: [-1, 2.5]");
  EXPECT_EQ(Aggregated("APPROX_QUANTILES", {Ints({kNull}), Number(2)}), "ARRAY<INT64>: NULL");
  EXPECT_EQ(Aggregated("APPROX_QUANTILES", {Ints({1}), Number(0)}),
            "INVALID_ARGUMENT: Argument 2 to APPROX_QUANTILES must be at least 1");
  EXPECT_EQ(Aggregated("APPROX_QUANTILES", {Ints({1}), Always(Value::Null(TypeKind::kInt64))}),
            "INVALID_ARGUMENT: Argument 2 to APPROX_QUANTILES must be non-NULL");
}

TEST(SketchTest, GivesQuantilesOfManyWithinABound) {
  constexpr int64_t kRows = 200'000;
  std::vector<int64_t> values(kRows);
  for (int64_t i = 0; i < kRows; ++i) values[static_cast<size_t>(i)] = i;
  std::mt19937_64 random(5);
  for (const bool is_sorted : {true, false}) {
    if (!is_sorted) std::shuffle(values.begin(), values.end(), random);
    QuantileSketch parts[4];
    for (size_t i = 0; i < values.size(); ++i) parts[i % 4].Add(TypeKind::kInt64, Datum::Int(values[i]));
    QuantileSketch& all = parts[0];
    for (size_t i = 1; i < 4; ++i) all.Merge(TypeKind::kInt64, parts[i]);
    EXPECT_EQ(all.count(), kRows);
    EXPECT_LT(all.HeldBytes(), 2 << 20);
    Arena arena;
    const std::vector<Datum> quantiles = all.Quantiles(TypeKind::kInt64, 100, &arena);
    ASSERT_EQ(quantiles.size(), 101);
    for (int64_t i = 0; i <= 100; ++i) {
      EXPECT_NEAR(static_cast<double>(quantiles[static_cast<size_t>(i)].integer),
                  kRows / 100.0 * static_cast<double>(i), kRows / 200.0);
    }
  }
}

TEST(SketchTest, FindsTopValues) {
  const TestColumn fruit = Strings({"apple", "apple", "pear", "pear", "pear", "banana", kNull});
  EXPECT_EQ(Aggregated("APPROX_TOP_COUNT", {fruit, Number(2)}),
            "ARRAY<STRUCT<value STRING, count INT64>>: [(\"pear\", 3), (\"apple\", 2)]");
  EXPECT_EQ(Aggregated("APPROX_TOP_COUNT", {Strings({kNull, kNull, "a"}), Number(9)}),
            "ARRAY<STRUCT<value STRING, count INT64>>: [(NULL, 2), (\"a\", 1)]");
  EXPECT_EQ(Aggregated("APPROX_TOP_COUNT", {Ints({}), Number(2)}),
            "ARRAY<STRUCT<value INT64, count INT64>>: NULL");
  const double nan = std::nan("");
  EXPECT_EQ(Aggregated("APPROX_TOP_COUNT", {Doubles({nan, -nan, 0.0, -0.0, 0.0}), Number(2)}),
            "ARRAY<STRUCT<value FLOAT64, count INT64>>: [(0, 3), (nan, 2)]");
  // The examples of GoogleSQL's documents.
  EXPECT_EQ(Aggregated("APPROX_TOP_SUM", {Strings({"apple", "pear", "apple", "banana", "pear"}),
                                          Ints({3, 2, 0, 5, 4}), Number(2)}),
            "ARRAY<STRUCT<value STRING, sum INT64>>: [(\"pear\", 6), (\"banana\", 5)]");
  EXPECT_EQ(
      Aggregated("APPROX_TOP_SUM", {Strings({"apple", "pear", "pear"}), Ints({kNull, 0, kNull}), Number(2)}),
      "ARRAY<STRUCT<value STRING, sum INT64>>: [(\"pear\", 0), (\"apple\", NULL)]");
  EXPECT_EQ(Aggregated("APPROX_TOP_SUM", {Strings({"apple", kNull}), Doubles({0, 2.5}), Number(2)}),
            "ARRAY<STRUCT<value STRING, sum FLOAT64>>: [(NULL, 2.5), (\"apple\", 0)]");
  EXPECT_EQ(Aggregated("APPROX_TOP_SUM", {Strings({"apple"}), Doubles({-1}), Number(2)}),
            "OUT_OF_RANGE: Argument 2 to APPROX_TOP_SUM must be neither negative nor NaN");
}

TEST(SketchTest, KeepsFrequentValuesAmongMany) {
  TopValues<double> top;
  constexpr int kRounds = 40'000;
  for (int i = 0; i < kRounds; ++i) {
    top.Add(TypeKind::kInt64, Datum::Int(1'000'000 + i), 1.0);
    if (i % 4 == 0) top.Add(TypeKind::kInt64, Datum::Int(7), 1.0);
    if (i % 8 == 0) top.Add(TypeKind::kInt64, Datum::Int(8), 1.0);
  }
  EXPECT_LT(top.HeldBytes(), 4 << 20);
  Arena arena;
  const auto entries = top.Top(TypeKind::kInt64, 2, &arena);
  ASSERT_EQ(entries.size(), 2);
  EXPECT_EQ(entries[0].value.integer, 7);
  EXPECT_EQ(entries[0].weight, kRounds / 4);
  EXPECT_EQ(entries[1].value.integer, 8);
}

TEST(SketchTest, CountsDistinctValues) {
  const std::string int_count = "INT64: 3";
  EXPECT_EQ(Aggregated("APPROX_COUNT_DISTINCT", {Ints({1, 2, 1, 3, kNull})}), int_count);
  EXPECT_EQ(Aggregated("APPROX_COUNT_DISTINCT", {Strings({"a", "b", "", "a", kNull})}), int_count);
  EXPECT_EQ(Aggregated("APPROX_COUNT_DISTINCT", {Doubles({0.0, -0.0, std::nan(""), -std::nan(""), 1})}),
            int_count);
  EXPECT_EQ(Aggregated("APPROX_COUNT_DISTINCT", {Bools({true, true})}), "INT64: 1");
  EXPECT_EQ(Aggregated("APPROX_COUNT_DISTINCT", {Ints({kNull})}), "INT64: 0");
  std::vector<std::optional<int64_t>> many;
  for (int64_t i = 0; i < 100'000; ++i) many.push_back(i * i % 30'011);
  const TestAggregate aggregate("APPROX_COUNT_DISTINCT", {Ints(many)});
  const std::unique_ptr<Aggregator> aggregator = aggregate.Make(1);
  ASSERT_TRUE(aggregate.AddRows(0, aggregate.rows(), 0, aggregator.get()).ok());
  Arena arena;
  EXPECT_NEAR(static_cast<double>(aggregator->Results(0, 1, &arena)->ints()[0]), 15'006, 300);
}

TEST(SketchTest, WritesAndMergesSketches) {
  const auto sketch_of = [](const std::vector<HllSketch>& values) {
    HllSketch sketch = values[0];
    for (size_t i = 1; i < values.size(); ++i) sketch.Merge(values[i]);
    return Value::Bytes(sketch.Serialize());
  };
  const Value one_two = sketch_of({HllSketch::Of(int64_t{1}), HllSketch::Of(int64_t{2})});
  const Value two_three = sketch_of({HllSketch::Of(int64_t{2}), HllSketch::Of(int64_t{3})});
  const Value text = sketch_of({HllSketch::Of(std::string_view("a"))});
  EXPECT_EQ(Aggregated("HLL_COUNT.INIT", {Ints({1, kNull, 2})}), "BYTES: " + one_two.ToSql());
  EXPECT_EQ(Aggregated("HLL_COUNT.INIT", {Ints({1, 2}), Number(15)}), "BYTES: " + one_two.ToSql());
  EXPECT_EQ(Aggregated("HLL_COUNT.INIT", {Strings({"a"})}), "BYTES: " + text.ToSql());
  EXPECT_EQ(Aggregated("HLL_COUNT.INIT", {Ints({kNull})}), "BYTES: NULL");

  const auto bytes = [](const std::vector<Value>& values) {
    return TestColumn{TypeKind::kBytes, values, false};
  };
  const Value null = Value::Null(TypeKind::kBytes);
  EXPECT_EQ(Aggregated("HLL_COUNT.MERGE", {bytes({one_two, null, two_three})}), "INT64: 3");
  EXPECT_EQ(Aggregated("HLL_COUNT.MERGE", {bytes({null})}), "INT64: 0");
  EXPECT_EQ(Aggregated("HLL_COUNT.MERGE_PARTIAL", {bytes({one_two})}), "BYTES: " + one_two.ToSql());
  EXPECT_EQ(Aggregated("HLL_COUNT.MERGE_PARTIAL", {bytes({null})}), "BYTES: NULL");
  EXPECT_EQ(Aggregated("HLL_COUNT.MERGE", {bytes({Value::Bytes("x")})}),
            "OUT_OF_RANGE: Invalid or incompatible sketch in HLL_COUNT.MERGE");
  EXPECT_EQ(Aggregated("HLL_COUNT.MERGE", {bytes({one_two, text})}),
            "OUT_OF_RANGE: Invalid or incompatible sketch in HLL_COUNT.MERGE");

  EXPECT_EQ(Called("HLL_COUNT.EXTRACT", {one_two}), "INT64: 2");
  EXPECT_EQ(Called("HLL_COUNT.EXTRACT", {null}), "INT64: 0");
  EXPECT_EQ(Called("HLL_COUNT.EXTRACT", {Value::Bytes("x")}),
            "OUT_OF_RANGE: Invalid or incompatible sketch in HLL_COUNT.EXTRACT");
}

TEST(SketchTest, WritesSketchesOfAnyPrecisionAndMergesThemAtTheLowest) {
  const auto sketch_of = [](int precision, int64_t from, int64_t to) {
    HllSketch sketch(AggregateKind::kHllInt64, precision);
    std::vector<uint64_t> hashes;
    for (int64_t i = from; i < to; ++i) hashes.push_back(Fingerprint2011(i));
    sketch.AddHashes(hashes);
    return Value::Bytes(sketch.Serialize());
  };
  const auto bytes = [](const std::vector<Value>& values) {
    return TestColumn{TypeKind::kBytes, values, false};
  };
  for (const int precision : {10, 12, 15, 20, 24}) {
    EXPECT_EQ(Aggregated("HLL_COUNT.INIT", {Ints({1, kNull, 2}), Number(precision)}),
              "BYTES: " + sketch_of(precision, 1, 3).ToSql());
  }
  const Value high = sketch_of(24, 0, 5'000);
  const Value low = sketch_of(12, 4'000, 9'000);
  const std::string merged = "BYTES: " + sketch_of(12, 0, 9'000).ToSql();
  // The counts of values that were added differ: those from 4,000 to 5,000 were added twice.
  EXPECT_EQ(Aggregated("HLL_COUNT.MERGE_PARTIAL", {bytes({high, low})}),
            Aggregated("HLL_COUNT.MERGE_PARTIAL", {bytes({low, high})}));
  EXPECT_EQ(Aggregated("HLL_COUNT.MERGE", {bytes({high, low})}),
            Called("HLL_COUNT.EXTRACT", {sketch_of(12, 0, 9'000)}));
  EXPECT_EQ(Aggregated("HLL_COUNT.MERGE_PARTIAL", {bytes({sketch_of(24, 0, 4'000), low})}), merged);
  const std::string between = "OUT_OF_RANGE: Precision of HLL_COUNT.INIT must be between 10 and 24: ";
  EXPECT_EQ(Aggregated("HLL_COUNT.INIT", {Ints({1}), Number(9)}), between + "9");
  EXPECT_EQ(Aggregated("HLL_COUNT.INIT", {Ints({1}), Number(25)}), between + "25");
  const TestAggregate different("HLL_COUNT.INIT", {Ints({1, 1}), Ints({12, 13})});
  EXPECT_EQ(different.AddRows(0, 2, 0, different.Make(1).get()).ToString(),
            "OUT_OF_RANGE: Precision of HLL_COUNT.INIT must be the same for all rows: 12 and 13");
}

}  // namespace
}  // namespace sonde::sql
