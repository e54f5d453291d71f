#include "base/number_loops.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <vector>

#include "base/random.h"

namespace sonde {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
// Around a turn of eight, and far from one.
constexpr size_t kCountMax = 40;

std::vector<int64_t> RandomInts(size_t count, SeededRandom* random) {
  std::vector<int64_t> values(count);
  for (int64_t& value : values) {
    value = static_cast<int64_t>(random->Next() >> random->Uniform(64));
    if (random->Uniform(2) == 0) value = -value;
  }
  return values;
}

TEST(NumberLoops, SumIntegersExactly) {
  SeededRandom random(1);
  for (size_t count = 0; count < kCountMax; ++count) {
    const std::vector<int64_t> values = RandomInts(count, &random);
    absl::int128 sum = 0;
    for (const int64_t value : values) sum += value;
    EXPECT_EQ(SumOf(values), sum) << count;
  }
  for (const int64_t extreme : {INT64_MIN, INT64_MAX}) {
    const std::vector<int64_t> values(1'003, extreme);
    EXPECT_EQ(SumOf(values), absl::int128(extreme) * 1'003);
  }
}

TEST(NumberLoops, SumsOfDoublesKnowWhatTheyHaveLost) {
  SeededRandom random(2);
  for (size_t count = 0; count < kCountMax; ++count) {
    std::vector<double> values(count);
    long double sum = 0;
    for (double& value : values) {
      value = static_cast<double>(random.Uniform(1'000'000'007)) / 1'000 - 250'000;
      sum += value;
    }
    EXPECT_EQ(SumOf(values).Value(), static_cast<double>(sum)) << count;
  }
  // Those that fall out of the last place come back, in the lanes and behind them.
  for (size_t count = 3; count < kCountMax; ++count) {
    std::vector<double> values(count, 1);
    values.front() = 1e16;
    values.back() = -1e16;
    EXPECT_EQ(SumOf(values).Value(), static_cast<double>(count - 2)) << count;
  }
  EXPECT_EQ(SumOf(std::vector<double>(20, kInfinity)).Value(), kInfinity);
  EXPECT_TRUE(std::isnan(SumOf(std::vector<double>{1, 2, kNaN}).Value()));
}

TEST(NumberLoops, FindLeastAndMost) {
  SeededRandom random(3);
  for (size_t count = 1; count < kCountMax; ++count) {
    const std::vector<int64_t> ints = RandomInts(count, &random);
    const auto [least, most] = LeastAndMostOf(ints);
    EXPECT_EQ(least, *std::ranges::min_element(ints)) << count;
    EXPECT_EQ(most, *std::ranges::max_element(ints)) << count;
    std::vector<double> doubles(ints.begin(), ints.end());
    const auto [least_double, most_double] = LeastAndMostOf(doubles);
    EXPECT_EQ(least_double, *std::ranges::min_element(doubles)) << count;
    EXPECT_EQ(most_double, *std::ranges::max_element(doubles)) << count;
    doubles[random.Uniform(count)] = kNaN;
    EXPECT_TRUE(std::isnan(LeastAndMostOf(doubles).least)) << count;
    EXPECT_TRUE(std::isnan(LeastAndMostOf(doubles).most)) << count;
  }
}

TEST(NumberLoops, MakeDoublesOfIntegersAndSayWhetherTheyAreExact) {
  constexpr int64_t kMost = int64_t{1} << 53;
  SeededRandom random(4);
  for (size_t count = 0; count < kCountMax; ++count) {
    const std::vector<int64_t> values = RandomInts(count, &random);
    std::vector<double> doubles(count);
    const bool are_exact =
        std::ranges::all_of(values, [](int64_t value) { return value >= -kMost && value <= kMost; });
    EXPECT_EQ(ToDoubles(values, doubles.data()), are_exact);
    for (size_t i = 0; i < count; ++i) EXPECT_EQ(doubles[i], static_cast<double>(values[i]));
  }
  for (const int64_t edge : {int64_t{1} << 51, kMost, -kMost, (int64_t{1} << 51) - 1, -(int64_t{1} << 51)}) {
    std::vector<double> doubles(9);
    EXPECT_TRUE(ToDoubles(std::vector<int64_t>(9, edge), doubles.data()));
    EXPECT_EQ(doubles, std::vector<double>(9, static_cast<double>(edge)));
    std::vector<int64_t> beyond(9, 0);
    beyond[7] = edge < 0 ? -kMost - 1 : kMost + 1;
    EXPECT_FALSE(ToDoubles(beyond, doubles.data()));
  }
  for (const int64_t edge : {(int64_t{1} << 51) - 1, -(int64_t{1} << 51)}) {
    for (size_t i = 0; i < 9; ++i) {
      std::vector<int64_t> values(9);
      values[i] = edge;
      EXPECT_TRUE(AreNearZero(values));
      values[i] = edge < 0 ? edge - 1 : edge + 1;
      EXPECT_FALSE(AreNearZero(values));
    }
  }
  // No zero gets a sign.
  std::vector<double> zeros(9, -1);
  ToDoubles(std::vector<int64_t>(9, 0), zeros.data());
  for (const double zero : zeros) EXPECT_EQ(std::bit_cast<uint64_t>(zero), 0U);
}

TEST(NumberLoops, TellFiniteNumbersFromOthers) {
  for (size_t count = 0; count < kCountMax; ++count) {
    std::vector<double> values(count, std::numeric_limits<double>::max());
    EXPECT_TRUE(AreFinite(values));
    for (size_t i = 0; i < count; ++i) {
      for (const double bad : {kInfinity, -kInfinity, kNaN}) {
        values[i] = bad;
        EXPECT_FALSE(AreFinite(values)) << count << " " << i;
      }
      values[i] = -std::numeric_limits<double>::denorm_min();
    }
    EXPECT_TRUE(AreFinite(values));
  }
}

TEST(NumberLoops, DivideAll) {
  std::vector<double> values;
  for (int i = 0; i < 11; ++i) values.push_back(i);
  DivideAll(absl::MakeSpan(values), 10);
  for (int i = 0; i < 11; ++i) EXPECT_EQ(values[i], i / 10.0);
}

}  // namespace
}  // namespace sonde
