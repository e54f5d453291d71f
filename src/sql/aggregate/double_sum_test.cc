#include "sql/aggregate/double_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <vector>

namespace sonde::sql {
namespace {

constexpr double kGreatest = std::numeric_limits<double>::max();
constexpr double kLeast = std::numeric_limits<double>::denorm_min();

double TotalOf(const std::vector<double>& values) {
  DoubleSum one_by_one;
  for (const double value : values) one_by_one.Add(value);
  DoubleSum at_once;
  at_once.AddAll(values.data(), values.size());
  WideSum wide;
  for (const double value : values) wide.Add(value);
  EXPECT_EQ(*one_by_one.Total(), *wide.Total());
  EXPECT_EQ(*at_once.Total(), *wide.Total());
  return *one_by_one.Total();
}

// A double of any size.
double AnyDouble(std::mt19937_64* random) {
  const double fraction = std::ldexp(static_cast<double>((*random)() >> 11), -53) - 0.5;
  return std::ldexp(fraction, static_cast<int>((*random)() % 2'000) - 1'050);
}

TEST(DoubleSumTest, RoundsOnceAtTheEnd) {
  EXPECT_EQ(TotalOf({}), 0);
  EXPECT_EQ(TotalOf({1e16, 1, 1}), 1e16 + 2);
  // 2^53 and halves: to even, unless there is more.
  EXPECT_EQ(TotalOf({0x1p53, 1}), 0x1p53);
  EXPECT_EQ(TotalOf({0x1p53, 1, 0x1p-1000}), 0x1p53 + 2);
  EXPECT_EQ(TotalOf({0x1p53, 1, -0x1p-1000}), 0x1p53);
  EXPECT_EQ(TotalOf({-0x1p53, -1, -kLeast}), -(0x1p53 + 2));
  EXPECT_EQ(TotalOf({0x1p53 + 2, 1}), 0x1p53 + 4);
  EXPECT_EQ(TotalOf({kLeast, kLeast, kLeast}), 3 * kLeast);
  EXPECT_EQ(TotalOf({1e300, kLeast, -1e300}), kLeast);
  EXPECT_EQ(TotalOf({kGreatest, kGreatest, -kGreatest, -kGreatest, -1}), -1);
  EXPECT_EQ(TotalOf({kGreatest, kGreatest, -kGreatest}), kGreatest);
}

TEST(DoubleSumTest, OverflowsBeyondTheGreatestDouble) {
  for (const double sign : {1.0, -1.0}) {
    DoubleSum sum;
    sum.Add(sign * kGreatest);
    EXPECT_EQ(*sum.Total(), sign * kGreatest);
    sum.Add(sign * kLeast);
    EXPECT_EQ(sum.Total().status(), absl::OutOfRangeError("double overflow"));
    EXPECT_EQ(sum.Mean(2), sign * kGreatest / 2);
    sum.Add(-sign * kLeast);
    EXPECT_EQ(*sum.Total(), sign * kGreatest);
  }
}

// A number and its negative vanish, whatever stands between; what is left is known.
TEST(DoubleSumTest, DoesNotDependOnOrderAndParts) {
  std::mt19937_64 random(11);
  for (int round = 0; round < 300; ++round) {
    std::vector<double> values;
    for (size_t i = random() % 300; i > 0; --i) {
      const double value = AnyDouble(&random);
      values.push_back(value);
      values.push_back(-value);
    }
    const double left = AnyDouble(&random);
    values.push_back(left);
    std::shuffle(values.begin(), values.end(), random);
    ASSERT_EQ(TotalOf(values), left);

    // In parts, through bytes.
    DoubleSum all;
    for (size_t at = 0; at < values.size();) {
      const size_t count = std::min<size_t>(random() % 100 + 1, values.size() - at);
      DoubleSum part;
      part.AddAll(values.data() + at, count);
      std::string bytes;
      part.Save(&bytes);
      std::string_view view = bytes;
      DoubleSum loaded;
      ASSERT_TRUE(loaded.Load(&view) && view.empty());
      all.Add(round % 2 == 0 ? loaded : part);
      at += count;
    }
    ASSERT_EQ(*all.Total(), left);
    const long double expected = left;
    ASSERT_EQ(all.LongTotal(), expected);
  }
}

TEST(DoubleSumTest, IsCopied) {
  DoubleSum sum;
  for (const double value : {1e200, 1.0, 1e-200}) sum.Add(value);
  EXPECT_GT(sum.HeldBytes(), 0);
  DoubleSum copy = sum;
  copy.Add(-1e200);
  EXPECT_EQ(*sum.Total(), 1e200);
  EXPECT_EQ(*copy.Total(), 1);
}

TEST(DoubleSumTest, LoadsWhatItSaved) {
  DoubleSum sum;
  for (const double value : {1e200, 1.0, 1e-200}) sum.Add(value);
  std::string bytes;
  sum.Save(&bytes);
  for (size_t size = 0; size < bytes.size(); ++size) {
    DoubleSum loaded;
    std::string_view view(bytes.data(), size);
    EXPECT_FALSE(loaded.Load(&view));
  }
}

}  // namespace
}  // namespace sonde::sql
