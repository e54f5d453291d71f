// Aggregates against what GoogleSQL's reference implementation answered.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "sql/testing/aggregate_calls.h"

namespace sonde::sql {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
constexpr double kInf = std::numeric_limits<double>::infinity();
const double kNan = std::numeric_limits<double>::quiet_NaN();

struct AggregateCase {
  std::string_view function;
  std::vector<TestColumn> columns;
  std::string_view expected;
};

void ExpectResults(const std::vector<AggregateCase>& cases) {
  for (const AggregateCase& c : cases) {
    std::string rows;
    for (const TestColumn& column : c.columns) {
      rows += column.type.ToString() + ":";
      for (const Value& value : column.values) rows += " " + value.ToSql();
      rows += "; ";
    }
    SCOPED_TRACE(std::string(c.function) + " of " + rows);
    EXPECT_EQ(Aggregated(c.function, c.columns), c.expected);
  }
}

TEST(AggregateTest, CountsRowsAndValues) {
  ExpectResults({
      {"COUNT", {Ints({1, 2, kNull})}, "INT64: 2"},
      {"COUNT", {Ints({})}, "INT64: 0"},
      {"COUNT", {Strings({kNull, kNull})}, "INT64: 0"},
      {"COUNTIF", {Bools({true, false, kNull, true})}, "INT64: 2"},
      {"COUNTIF", {Bools({})}, "INT64: 0"},
  });
  // COUNT(*) has no argument.
  const TestAggregate count("COUNT", {});
  const std::unique_ptr<Aggregator> aggregator = count.Make(2);
  EXPECT_TRUE(aggregator->AddRun({}, 5, 1).ok());
  EXPECT_TRUE(aggregator->Add({}, {0, 1, 1}).ok());
  EXPECT_EQ(count.Result(0, aggregator.get()), "INT64: 1");
  EXPECT_EQ(count.Result(1, aggregator.get()), "INT64: 7");
}

TEST(AggregateTest, SumsExactly) {
  ExpectResults({
      {"SUM", {Ints({5, -3, 9, kNull})}, "INT64: 11"},
      {"SUM", {Ints({})}, "INT64: NULL"},
      {"SUM", {Ints({kNull})}, "INT64: NULL"},
      {"SUM", {Ints({kMax, 1})}, "OUT_OF_RANGE: int64 overflow"},
      {"SUM", {Ints({kMax, 1, -1})}, "INT64: 9223372036854775807"},
      {"SUM", {Ints({kMin, -1})}, "OUT_OF_RANGE: int64 overflow"},
      {"SUM", {Ints({kMin, kMin, kMax, kMax, 1, 1, kMin})}, "INT64: -9223372036854775808"},
      {"SUM", {Doubles({0.5, -3.25, 9, kNull})}, "FLOAT64: 6.25"},
      {"SUM", {Doubles({kNull})}, "FLOAT64: NULL"},
      {"SUM", {Doubles({1e308, 1e308})}, "OUT_OF_RANGE: double overflow"},
      {"SUM", {Doubles({1e308, 1e308, -1e308})}, "FLOAT64: 1e+308"},
      {"SUM", {Doubles({1e100, 1, -1e100})}, "FLOAT64: 1"},
      {"SUM", {Doubles({1e200, 1e100, 1, -1e100, -1e200})}, "FLOAT64: 1"},
      {"SUM", {Doubles({1e-300, 1e300, -1e300})}, "FLOAT64: 1e-300"},
      {"SUM", {Doubles({5e-324, 5e-324})}, "FLOAT64: 9.88131291682493e-324"},
      {"SUM", {Doubles({1e16, 1, 1, 1, 1, 1, 1})}, "FLOAT64: 10000000000000006"},
      {"SUM", {Doubles({0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7})}, "FLOAT64: 2.8"},
      {"SUM", {Doubles({-0.0})}, "FLOAT64: 0"},
      {"SUM", {Doubles({1.5, -1.5})}, "FLOAT64: 0"},
      {"SUM", {Doubles({kInf, 1})}, "FLOAT64: inf"},
      {"SUM", {Doubles({kInf, -kInf})}, "FLOAT64: nan"},
      {"SUM", {Doubles({kNan, 1})}, "FLOAT64: nan"},
      {"SUM", {Doubles({1e308, 1e308, kInf})}, "FLOAT64: inf"},
      {"SUM", {Doubles({1e308, 1e308, kNan})}, "FLOAT64: nan"},
      // Beyond the greatest double, though the nearest one.
      {"SUM", {Doubles({1.7976931348623157e308, 1e291})}, "OUT_OF_RANGE: double overflow"},
  });
}

TEST(AggregateTest, GivesMeans) {
  ExpectResults({
      {"AVG", {Ints({5, -3, 9, kNull})}, "FLOAT64: 3.6666666666666665"},
      {"AVG", {Ints({})}, "FLOAT64: NULL"},
      {"AVG", {Ints({1, 2})}, "FLOAT64: 1.5"},
      {"AVG", {Ints({1, 2, 4, 5, 8, 9, 13})}, "FLOAT64: 6"},
      {"AVG", {Ints({kMax, kMax})}, "FLOAT64: 9.2233720368547758e+18"},
      {"AVG", {Ints({kMax, kMax - 1, 1})}, "FLOAT64: 6.1489146912365169e+18"},
      {"AVG", {Ints({kMin, kMin, kMin + 1})}, "FLOAT64: -9.2233720368547758e+18"},
      // Exactly ...993 1/3, which is nearest to ...994; GoogleSQL's running mean gives ...992.
      {"AVG", {Ints({9007199254740993, 9007199254740993, 9007199254740994})}, "FLOAT64: 9007199254740994"},
      {"AVG", {Doubles({1e308, 1e308, 1e308, 1e308})}, "FLOAT64: 1e+308"},
      {"AVG", {Doubles({-0.0})}, "FLOAT64: 0"},
      {"AVG", {Doubles({kInf, -kInf})}, "FLOAT64: nan"},
      // GoogleSQL's running mean gives NaN for this, and infinity if infinity comes last.
      {"AVG", {Doubles({kInf, 1})}, "FLOAT64: inf"},
      // GoogleSQL's running mean loses the 3.
      {"AVG", {Doubles({1e100, 3, -1e100})}, "FLOAT64: 1"},
  });
}

TEST(AggregateTest, FindsTheLeastAndTheGreatest) {
  const TestColumn none = Ints({});
  ExpectResults({
      {"MIN", {Ints({5, -3, 9})}, "INT64: -3"},
      {"MAX", {Ints({5, -3, 9})}, "INT64: 9"},
      {"MIN", {Ints({kMax, kNull})}, "INT64: 9223372036854775807"},
      {"MAX", {Ints({kMin, kNull})}, "INT64: -9223372036854775808"},
      {"MAX", {none}, "INT64: NULL"},
      {"MIN", {Doubles({1, kNan, 3})}, "FLOAT64: nan"},
      {"MAX", {Doubles({1, kNan, 3})}, "FLOAT64: nan"},
      {"MAX", {Doubles({kInf, kNan})}, "FLOAT64: nan"},
      {"MIN", {Doubles({kInf})}, "FLOAT64: inf"},
      {"MAX", {Doubles({-kInf, kNull})}, "FLOAT64: -inf"},
      {"MIN", {Doubles({kNull})}, "FLOAT64: NULL"},
      {"MIN", {Strings({"a", "B", kNull})}, "STRING: \"B\""},
      {"MAX", {Strings({"a", "B", kNull})}, "STRING: \"a\""},
      {"MAX", {Strings({"", kNull})}, "STRING: \"\""},
      {"MAX", {Strings({kNull})}, "STRING: NULL"},
      {"MIN", {Bools({true, false})}, "BOOL: false"},
      {"MAX", {Bools({true, false})}, "BOOL: true"},
      {"MIN",
       {{TypeKind::kDate, {Value::Date(7), Value::Null(TypeKind::kDate)}}},
       "DATE: DATE \"1970-01-08\""},
  });
}

TEST(AggregateTest, KeepsTheFirstOfZeros) {
  for (const bool is_max : {false, true}) {
    for (const double first : {0.0, -0.0}) {
      for (const size_t rows : {3, 9, 100}) {
        std::vector<std::optional<double>> values(rows, is_max ? -1.0 : 1.0);
        values[rows / 2] = first;
        values[rows - 1] = -first;
        const TestAggregate aggregate(is_max ? "MAX" : "MIN", {Doubles(values)});
        const std::unique_ptr<Aggregator> aggregator = aggregate.Make(1);
        ASSERT_TRUE(aggregate.AddRows(0, rows, 0, aggregator.get()).ok());
        Arena arena;
        EXPECT_EQ(std::signbit(aggregator->Results(0, 1, &arena)->doubles()[0]), std::signbit(first));
      }
    }
  }
}

TEST(AggregateTest, CombinesBitsAndConditions) {
  ExpectResults({
      {"BIT_AND", {Ints({7, 12, kNull})}, "INT64: 4"},
      {"BIT_OR", {Ints({7, 12, kNull})}, "INT64: 15"},
      {"BIT_XOR", {Ints({7, 12, kNull})}, "INT64: 11"},
      {"BIT_XOR", {Ints({5, 5, 3})}, "INT64: 3"},
      {"BIT_AND", {Ints({-1, 12})}, "INT64: 12"},
      {"BIT_AND", {Ints({})}, "INT64: NULL"},
      {"BIT_OR", {Ints({kNull})}, "INT64: NULL"},
      {"LOGICAL_AND", {Bools({true, false, kNull})}, "BOOL: false"},
      {"LOGICAL_OR", {Bools({true, false, kNull})}, "BOOL: true"},
      {"LOGICAL_AND", {Bools({true, true})}, "BOOL: true"},
      {"LOGICAL_OR", {Bools({false})}, "BOOL: false"},
      {"LOGICAL_AND", {Bools({kNull})}, "BOOL: NULL"},
      {"LOGICAL_OR", {Bools({})}, "BOOL: NULL"},
  });
}

TEST(AggregateTest, CollectsValues) {
  const Type pair = Type::Struct({{"a", TypeKind::kInt64}, {"b", TypeKind::kString}});
  const Type list = Type::Array(TypeKind::kInt64);
  const auto array = [](std::vector<std::optional<int64_t>> values) {
    return Value::Array(TypeKind::kInt64, Ints(values).values);
  };
  ExpectResults({
      {"ARRAY_AGG", {Ints({1, kNull, 2})}, "ARRAY<INT64>: [1, NULL, 2]"},
      {"ARRAY_AGG", {Strings({"a", kNull, "b"})}, "ARRAY<STRING>: [\"a\", NULL, \"b\"]"},
      {"ARRAY_AGG", {Doubles({1.5, kNull})}, "ARRAY<FLOAT64>: [1.5, NULL]"},
      {"ARRAY_AGG", {Ints({})}, "ARRAY<INT64>: NULL"},
      {"ARRAY_AGG",
       {{pair, {Value::Struct(pair, {Value::Int(1), Value::String("x")}), Value::Null(pair)}}},
       "ARRAY<STRUCT<a INT64, b STRING>>: [(1, \"x\"), NULL]"},
      {"ARRAY_CONCAT_AGG",
       {{list, {array({1, 2}), Value::Null(list), array({}), array({kNull, 3})}}},
       "ARRAY<INT64>: [1, 2, NULL, 3]"},
      {"ARRAY_CONCAT_AGG", {{list, {array({})}}}, "ARRAY<INT64>: []"},
      {"ARRAY_CONCAT_AGG", {{list, {Value::Null(list)}}}, "ARRAY<INT64>: NULL"},
      {"ANY_VALUE", {Ints({4, 2, 3})}, "INT64: 4"},
      {"ANY_VALUE", {Ints({kNull, 2, 3})}, "INT64: NULL"},
      {"ANY_VALUE", {Ints({})}, "INT64: NULL"},
      {"ANY_VALUE", {Strings({"", "a"})}, "STRING: \"\""},
      {"ANY_VALUE", {Doubles({1.5})}, "FLOAT64: 1.5"},
      {"ANY_VALUE", {{list, {array({1})}}}, "ARRAY<INT64>: [1]"},
      {"STRING_AGG", {Strings({"a", "b", kNull, "c"})}, "STRING: \"a,b,c\""},
      {"STRING_AGG", {Strings({"a", "b", kNull, "c"}), Always(Value::String("-"))}, "STRING: \"a-b-c\""},
      {"STRING_AGG", {Strings({"a", "b"}), Always(Value::String(""))}, "STRING: \"ab\""},
      {"STRING_AGG", {Strings({"", ""}), Always(Value::String("-"))}, "STRING: \"-\""},
      {"STRING_AGG", {Strings({kNull})}, "STRING: NULL"},
      {"STRING_AGG",
       {{TypeKind::kBytes, {Value::Bytes("a"), Value::Bytes("b"), Value::Null(TypeKind::kBytes)}}},
       "BYTES: b\"a,b\""},
      {"STRING_AGG",
       {Strings({"a"}), Always(Value::Null(TypeKind::kString))},
       "INVALID_ARGUMENT: Argument 2 to STRING_AGG must be non-NULL"},
  });
}

TEST(AggregateTest, GivesVariances) {
  const TestColumn numbers = Doubles({0.1, 0.2, 0.3, 0.7, 1.9, 2.3});
  ExpectResults({
      {"VAR_POP", {numbers}, "FLOAT64: 0.74805555555555547"},
      {"VAR_SAMP", {numbers}, "FLOAT64: 0.8976666666666665"},
      {"VARIANCE", {numbers}, "FLOAT64: 0.8976666666666665"},
      {"STDDEV", {numbers}, "FLOAT64: 0.94745272529380931"},
      {"STDDEV_SAMP", {numbers}, "FLOAT64: 0.94745272529380931"},
      {"STDDEV_POP", {numbers}, "FLOAT64: 0.86490204968860807"},
      {"STDDEV", {Ints({1, 2, 4})}, "FLOAT64: 1.5275252316519468"},
      {"STDDEV", {Doubles({1000000.1, 1000000.2, 1000000.3, 1000000.7})}, "FLOAT64: 0.26299556395806756"},
      {"VAR_SAMP", {Doubles({10000000001.0, 10000000002.0, 10000000003.0})}, "FLOAT64: 1"},
      {"VAR_POP", {Ints({kMax, kMin, 5})}, "FLOAT64: 5.6713727820156407e+37"},
      {"STDDEV_POP", {Ints({kMax, kMin, 5})}, "FLOAT64: 7.5308517327163208e+18"},
      {"VAR_POP", {Doubles({1.1, 1.1, 1.1})}, "FLOAT64: 0"},
      {"STDDEV", {Ints({1})}, "FLOAT64: NULL"},
      {"STDDEV_POP", {Ints({1})}, "FLOAT64: 0"},
      {"STDDEV_POP", {Ints({kNull})}, "FLOAT64: NULL"},
      {"VAR_POP", {Doubles({kNan, 1})}, "FLOAT64: nan"},
      {"VAR_POP", {Doubles({kInf, 1})}, "FLOAT64: nan"},
      {"VAR_SAMP", {Doubles({kInf})}, "FLOAT64: NULL"},
      {"STDDEV", {Doubles({1e200, -1e200})}, "FLOAT64: 1.414213562373095e+200"},
      {"VAR_POP", {Doubles({1e200, -1e200})}, "FLOAT64: inf"},
      {"VAR_POP", {Doubles({1e200, 1e200})}, "FLOAT64: 0"},
      {"STDDEV_POP", {Doubles({1e170, -1e170})}, "FLOAT64: 1e+170"},
  });
}

TEST(AggregateTest, GivesCovariancesAndCorrelations) {
  const TestColumn x = Doubles({0.1, 2.3, 3.9, 1.1, 8.8});
  const TestColumn y = Doubles({2.7, 5.1, 4.4, 1.7, 3.3});
  ExpectResults({
      {"CORR", {x, y}, "FLOAT64: 0.23568648428790845"},
      {"COVAR_POP", {x, y}, "FLOAT64: 0.86839999999999973"},
      {"COVAR_SAMP", {x, y}, "FLOAT64: 1.0854999999999997"},
      {"COVAR_POP",
       {Doubles({1000000.1, 1000002.3, 1000003.9, 1000001.1}), Doubles({2.7, 5.1, 4.4, 1.7})},
       "FLOAT64: 1.3287500000391448"},
      {"CORR",
       {Doubles({1000000.1, 1000002.3, 1000003.9, 1000001.1}), Doubles({2.7, 5.1, 4.4, 1.7})},
       "FLOAT64: 0.69670894141283624"},
      {"CORR", {Ints({1, 2, 3, kNull}), Ints({2, 5, 4, 1})}, "FLOAT64: 0.6546536707079772"},
      {"CORR", {Doubles({1, 2, 3}), Doubles({2, 4, 6})}, "FLOAT64: 1"},
      {"CORR", {Doubles({1, 2, 3}), Doubles({2, -4, -10})}, "FLOAT64: -1"},
      {"CORR", {Doubles({1}), Doubles({2})}, "FLOAT64: NULL"},
      {"COVAR_POP", {Doubles({1}), Doubles({2})}, "FLOAT64: 0"},
      {"COVAR_SAMP", {Doubles({1}), Doubles({2})}, "FLOAT64: NULL"},
      {"CORR", {Doubles({1, 1}), Doubles({2, 3})}, "FLOAT64: nan"},
      {"COVAR_POP", {Doubles({kInf, 2}), Doubles({2, 2})}, "FLOAT64: nan"},
      {"CORR", {Doubles({1e200, -1e200}), Doubles({2e200, 4})}, "FLOAT64: 1"},
      {"COVAR_POP", {Doubles({1e200, -1e200}), Doubles({2e200, 4})}, "FLOAT64: inf"},
  });
}

// Long columns, whose sums are known by other means.
TEST(AggregateTest, TakesLongRunsAsItTakesRows) {
  std::mt19937_64 random(7);
  for (const size_t rows : {31, 32, 33, 511, 513, 5'000}) {
    std::vector<std::optional<int64_t>> ints;
    std::vector<std::optional<double>> doubles;
    __int128 int_sum = 0;
    int64_t count = 0, double_sum = 0, least = kMax, greatest = kMin;
    for (size_t i = 0; i < rows; ++i) {
      const auto value = static_cast<int64_t>(random()) / 8'192;
      const auto small = static_cast<int64_t>(random() % 2'000'001) - 1'000'000;
      const bool is_null = rows % 2 == 0 && random() % 3 == 0;
      ints.push_back(is_null ? std::nullopt : std::optional(value));
      doubles.push_back(is_null ? std::nullopt : std::optional(static_cast<double>(small) / 1'024));
      if (is_null) continue;
      ++count;
      int_sum += value;
      double_sum += small;
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
    const std::string sum = Value::Int(static_cast<int64_t>(int_sum)).ToSql();
    EXPECT_EQ(Aggregated("SUM", {Ints(ints)}), "INT64: " + sum);
    EXPECT_EQ(Aggregated("COUNT", {Ints(ints)}), "INT64: " + std::to_string(count));
    EXPECT_EQ(Aggregated("MIN", {Ints(ints)}), "INT64: " + std::to_string(least));
    EXPECT_EQ(Aggregated("MAX", {Ints(ints)}), "INT64: " + std::to_string(greatest));
    EXPECT_EQ(Aggregated("SUM", {Doubles(doubles)}),
              "FLOAT64: " + Value::Double(static_cast<double>(double_sum) / 1'024).ToSql());
    Aggregated("AVG", {Doubles(doubles)});
    Aggregated("MIN", {Doubles(doubles)});
    Aggregated("MAX", {Doubles(doubles)});
    Aggregated("VAR_POP", {Doubles(doubles)});
  }
}

TEST(AggregateTest, TakesConstantColumns) {
  for (const auto& [function, expected] :
       std::vector<std::pair<std::string_view, std::string_view>>{{"SUM", "INT64: 7000"},
                                                                  {"AVG", "FLOAT64: 7"},
                                                                  {"MIN", "INT64: 7"},
                                                                  {"COUNT", "INT64: 1000"},
                                                                  {"BIT_XOR", "INT64: 0"},
                                                                  {"VAR_POP", "FLOAT64: 0"},
                                                                  {"ANY_VALUE", "INT64: 7"}}) {
    const TestAggregate aggregate(function, {Ints({})});
    const Value value = function == "VAR_POP" ? Value::Double(7) : Value::Int(7);
    const std::vector<ColumnView> columns = {value.AsColumn(1'000)};
    const std::vector<ColumnView> nulls = {Value::Null(value.type()).AsColumn(1'000)};
    const std::unique_ptr<Aggregator> aggregator = aggregate.Make(2);
    ASSERT_TRUE(aggregator->AddRun(columns, 1'000, 0).ok());
    ASSERT_TRUE(aggregator->Add(columns, std::vector<uint32_t>(1'000, 1)).ok());
    ASSERT_TRUE(aggregator->AddRun(nulls, 1'000, 0).ok());
    ASSERT_TRUE(aggregator->Add(nulls, std::vector<uint32_t>(1'000, 1)).ok());
    EXPECT_EQ(aggregate.Result(0, aggregator.get()), expected) << function;
    EXPECT_EQ(aggregate.Result(1, aggregator.get()), expected) << function;
  }
}

// Whatever bytes a state is loaded from, Load says DATA_LOSS or takes them, and results come.
TEST(AggregateTest, LoadsNoDamagedStates) {
  std::mt19937_64 random(3);
  const Value two = Value::Int(2);
  const std::vector<std::pair<std::string_view, std::vector<TestColumn>>> all = {
      {"COUNT", {Ints({1, 2})}},
      {"SUM", {Ints({1, 2})}},
      {"SUM", {Doubles({1e100, 2, kInf})}},
      {"AVG", {Doubles({1, 2})}},
      {"MIN", {Strings({"abc"})}},
      {"MAX", {Doubles({1})}},
      {"BIT_OR", {Ints({1})}},
      {"ARRAY_AGG", {Strings({"abc", kNull, "defg"})}},
      {"ARRAY_AGG", {Ints({1, 2})}},
      {"ANY_VALUE", {Strings({"abc"})}},
      {"STRING_AGG", {Strings({"abc", "d"})}},
      {"VAR_POP", {Doubles({1, 2})}},
      {"VAR_POP", {Doubles({1e300, 2})}},
      {"CORR", {Doubles({1, 2}), Doubles({1, 3})}},
      {"APPROX_COUNT_DISTINCT", {Ints({1, 2, 3})}},
      {"APPROX_QUANTILES", {Ints({1, 2, 3}), Always(two)}},
      {"APPROX_TOP_COUNT", {Strings({"a", kNull, "b"}), Always(two)}},
      {"APPROX_TOP_SUM", {Strings({"a", kNull, "b"}), Doubles({1, 2, kNull}), Always(two)}},
  };
  for (const auto& [function, columns] : all) {
    const TestAggregate aggregate(function, columns);
    const std::unique_ptr<Aggregator> right = aggregate.Make(1);
    ASSERT_TRUE(aggregate.AddRows(0, aggregate.rows(), 0, right.get()).ok());
    std::string bytes;
    right->Save(0, &bytes);
    size_t refused = 0;
    for (int i = 0; i < 2'000; ++i) {
      std::string damaged = bytes;
      for (size_t changes = random() % 3; changes > 0 && !damaged.empty(); --changes) {
        damaged[random() % damaged.size()] = static_cast<char>(random());
      }
      if (random() % 2 == 0) damaged.resize(random() % (damaged.size() + 1));
      if (random() % 8 == 0) damaged += static_cast<char>(random());
      const std::unique_ptr<Aggregator> aggregator = aggregate.Make(1);
      const absl::Status status = aggregator->Load(0, damaged);
      refused += status.ok() ? 0 : 1;
      if (!status.ok()) {
        ASSERT_EQ(status.code(), absl::StatusCode::kDataLoss);
      }
      ASSERT_TRUE(status.ok() || !status.message().empty());
      aggregate.Result(0, aggregator.get());
    }
    EXPECT_GT(refused, 100) << function;
  }
}

}  // namespace
}  // namespace sonde::sql
