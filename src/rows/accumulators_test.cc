#include "rows/accumulators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/random.h"
#include "base/wide_int.h"
#include "rows/rows_test_support.h"

namespace sonde::rows {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const double kNot = std::numeric_limits<double>::quiet_NaN();

const std::vector<Aggregate>& All() {
  static const std::vector<Aggregate> all = {
      Aggregate::kCount, Aggregate::kSum, Aggregate::kMin,    Aggregate::kMax,          Aggregate::kFirst,
      Aggregate::kLast,  Aggregate::kAvg, Aggregate::kStddev, Aggregate::Percentile(50)};
  return all;
}

std::string Result(const Accumulators& some, const Aggregate& aggregate, size_t index = 0) {
  if (const auto number = some.Int(aggregate, index)) return IntText(*number);
  const auto number = some.Double(aggregate, index);
  return number ? fmt::format("{:.10g}", *number) : "-";
}

std::string Results(const Accumulators& some, size_t index = 0) {
  std::string text;
  for (const Aggregate& aggregate : All()) text += (text.empty() ? "" : " ") + Result(some, aggregate, index);
  return text;
}

Accumulators OfDoubles(const std::vector<double>& values) {
  Accumulators some(ColumnType::kDouble, AggregateNeeds::Of(All()));
  some.Resize(1);
  std::vector<int64_t> times(values.size());
  for (size_t i = 0; i < times.size(); ++i) times[i] = static_cast<int64_t>(i);
  some.Add(0, times, ColumnView::OfDoubles(values));
  return some;
}

TEST(Accumulators, HaveNothingOfNothing) {
  EXPECT_EQ(Results(OfDoubles({})), "0 - - - - - - - -");
  EXPECT_EQ(Results(OfDoubles({2.5})), "1 2.5 2.5 2.5 2.5 2.5 2.5 - 2.5");
}

// Sums of ints, in runs and merged, against a sum of 128 bits.
TEST(Accumulators, SumsOfIntsAreExact) {
  SeededRandom random(5);
  for (int round = 0; round < 200; ++round) {
    Accumulators some(ColumnType::kInt64,
                      AggregateNeeds::Of({Aggregate::kSum, Aggregate::kMin, Aggregate::kMax}));
    some.Resize(2);
    absl::int128 sum = 0;
    int64_t least = INT64_MAX, most = INT64_MIN;
    for (int run = 0; run < 4; ++run) {
      std::vector<int64_t> values(1 + random.Uniform(40));
      for (int64_t& value : values) {
        value = static_cast<int64_t>(random.Next() >> (random.Uniform(3) * 20));
        sum += value;
        least = std::min(least, value);
        most = std::max(most, value);
      }
      some.Add(run % 2, values, ColumnView::OfInts(values));
    }
    some.Merge(0, some, 1);
    EXPECT_EQ(some.Int(Aggregate::kSum, 0), sum);
    EXPECT_EQ(some.Int(Aggregate::kMin, 0), least);
    EXPECT_EQ(some.Int(Aggregate::kMax, 0), most);
  }
}

TEST(Accumulators, IntsBeyondDoublesAreExact) {
  const std::vector<int64_t> times = {1, 2, 3},
                             values = {9'007'199'254'740'993, INT64_MAX, -9'007'199'254'740'995};
  Accumulators some(ColumnType::kInt64, AggregateNeeds::Of(All()));
  some.Resize(1);
  some.Add(0, times, ColumnView::OfInts(values));
  EXPECT_EQ(Results(some).substr(0, 94),
            "3 9223372036854775805 -9007199254740995 9223372036854775807 9007199254740993 -9007199254740995");
  // What leaves 64 bits is here in full; who gives it out tells.
  some.Add(0, times, ColumnView::OfInts(std::vector<int64_t>{INT64_MAX, INT64_MAX, INT64_MAX}));
  EXPECT_EQ(Result(some, Aggregate::kSum), "36893488147419103226");
  EXPECT_FALSE(IsInt(*some.Int(Aggregate::kSum, 0)));
  // And what came wide.
  const std::vector<absl::int128> wide = {absl::int128(INT64_MIN) * 2};
  some.Add(0, std::vector<int64_t>{9}, ColumnView::OfWideInts(wide));
  EXPECT_EQ(Result(some, Aggregate::kSum), "18446744073709551610");
  EXPECT_EQ(Result(some, Aggregate::kLast), "-18446744073709551616");
}

// A page keeps whole numbers as ints, also those of a field of doubles.
TEST(Accumulators, DoublesMayComeAsInts) {
  SeededRandom random(6);
  for (size_t count = 1; count < 40; ++count) {
    std::vector<int64_t> times(count), ints(count);
    std::vector<uint8_t> there(count);
    for (size_t i = 0; i < count; ++i) {
      times[i] = static_cast<int64_t>(i);
      ints[i] = static_cast<int64_t>(random.Uniform(1 << 20)) - (1 << 19);
      there[i] = random.Uniform(4) == 0 ? 0 : 1;
    }
    const std::vector<double> doubles(ints.begin(), ints.end());
    for (const bool has_missing : {false, true}) {
      const uint8_t* const of_column = has_missing ? there.data() : nullptr;
      Accumulators from_ints(ColumnType::kDouble, AggregateNeeds::Of(All()));
      Accumulators from_doubles(ColumnType::kDouble, AggregateNeeds::Of(All()));
      from_ints.Resize(1);
      from_doubles.Resize(1);
      from_ints.Add(0, times, ColumnView::OfInts(ints, of_column));
      from_doubles.Add(0, times, ColumnView::OfDoubles(doubles, of_column));
      // Runs of either kind may follow each other.
      from_ints.Add(0, times, ColumnView::OfDoubles(doubles));
      from_doubles.Add(0, times, ColumnView::OfInts(ints));
      EXPECT_EQ(Results(from_ints), Results(from_doubles));
      EXPECT_FALSE(from_ints.AreInts());
    }
  }
  // What the sum of ints has in more than 53 bits is not lost.
  Accumulators some(ColumnType::kDouble, AggregateNeeds::Of({Aggregate::kSum}));
  some.Resize(1);
  const std::vector<int64_t> times(9), most(9, (int64_t{1} << 51) - 1);
  some.Add(0, times, ColumnView::OfInts(most));
  some.Add(0, times, ColumnView::OfInts(std::vector<int64_t>(9, -(int64_t{1} << 51))));
  EXPECT_EQ(some.Double(Aggregate::kSum, 0), -9);
}

TEST(Accumulators, TakeRunsInEitherOrderOfTime) {
  const std::vector<int64_t> up = {1, 2, 3}, down = {3, 2, 1}, values = {10, 20, 30}, turned = {30, 20, 10};
  for (const bool ascends : {true, false}) {
    Accumulators some(ColumnType::kInt64, AggregateNeeds::Of(All()));
    some.Resize(1);
    some.Add(0, ascends ? up : down, ColumnView::OfInts(ascends ? values : turned));
    EXPECT_EQ(Results(some), "3 60 10 30 10 30 20 10 20");
    // If values have one time, the least is first and the largest last, in whatever order they came.
    some.Add(0, std::vector<int64_t>{1}, ColumnView::OfInts(std::vector<int64_t>{5}));
    some.Add(0, std::vector<int64_t>{3}, ColumnView::OfInts(std::vector<int64_t>{25}));
    EXPECT_EQ(Result(some, Aggregate::kFirst), "5");
    EXPECT_EQ(Result(some, Aggregate::kLast), "30");
  }
}

TEST(Accumulators, CountWhatIsThere) {
  const std::vector<int64_t> times = {1, 2, 3, 4}, values = {7, 0, 9, 0};
  const std::vector<uint8_t> there = {1, 0, 1, 0};
  Accumulators some(ColumnType::kInt64, AggregateNeeds::Of(All()));
  some.Resize(1);
  some.Add(0, times, ColumnView::OfInts(values, there.data()));
  some.Add(0, times, ColumnView::Missing(ColumnType::kInt64, 4));
  EXPECT_EQ(Results(some), "2 16 7 9 7 9 8 1.414213562 8");
  const std::vector<std::string_view> texts = {"a", "", "c", ""};
  Accumulators bytes(ColumnType::kBytes, AggregateNeeds::Of({Aggregate::kCount}));
  bytes.Resize(1);
  bytes.Add(0, times, ColumnView::OfBytes(texts));
  bytes.Add(0, times, ColumnView::OfBytes(texts, there.data()));
  EXPECT_EQ(bytes.Count(0), 6);
  some.Reset(0);
  EXPECT_EQ(Results(some), "0 - - - - - - - -");
}

// As if all had been added to one.
TEST(Accumulators, MergeAsOne) {
  SeededRandom random(6);
  for (int round = 0; round < 100; ++round) {
    Accumulators parts(ColumnType::kDouble, AggregateNeeds::Of(All()));
    parts.Resize(4);
    std::vector<double> all;
    int64_t time = 0;
    Accumulators one(ColumnType::kDouble, AggregateNeeds::Of(All()));
    one.Resize(1);
    for (size_t part = 0; part < 3; ++part) {
      std::vector<double> values(random.Uniform(20));
      std::vector<int64_t> times(values.size());
      for (double& value : values) value = static_cast<double>(random.Uniform(1'000)) / 8;
      for (int64_t& some : times) some = ++time;
      parts.Add(part, times, ColumnView::OfDoubles(values));
      one.Add(0, times, ColumnView::OfDoubles(values));
    }
    for (size_t part = 0; part < 3; ++part) parts.Merge(3, parts, part);
    parts.SortValues(3);
    EXPECT_EQ(Results(parts, 3), Results(one));
  }
}

TEST(Accumulators, SumsOfDoublesLoseNothing) {
  std::vector<double> values(100'001, 0.1);
  values[0] = 1e16;
  values.push_back(-1e16);
  EXPECT_EQ(Result(OfDoubles(values), Aggregate::kSum), "10000");
}

// As GoogleSQL has them.
TEST(Accumulators, NaNAndInfinitiesAreValues) {
  EXPECT_EQ(Result(OfDoubles({1, kNot, 3, 4, 5}), Aggregate::kMin), "nan");
  EXPECT_EQ(Result(OfDoubles({kNot, 1}), Aggregate::kMax), "nan");
  EXPECT_EQ(Result(OfDoubles({1, kInfinity, 2}), Aggregate::kSum), "inf");
  EXPECT_EQ(Result(OfDoubles({1, kInfinity, 2}), Aggregate::kMax), "inf");
  EXPECT_TRUE(std::isnan(*OfDoubles({-kInfinity, kInfinity}).Double(Aggregate::kSum, 0)));
  Accumulators some = OfDoubles({5, kNot, 1, 3});
  for (int sorted = 0; sorted < 2; ++sorted) {
    EXPECT_EQ(Result(some, Aggregate::Percentile(50)), "2");
    some.SortValues(0);
  }
  EXPECT_EQ(Result(OfDoubles({5, kNot, 1}), Aggregate::Percentile(0)), "nan");
}

}  // namespace
}  // namespace sonde::rows
