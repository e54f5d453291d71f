#include "bench/histogram.h"

#include <gtest/gtest.h>

namespace sonde::bench {
namespace {

TEST(Histogram, IsAllZeroWhenEmpty) {
  const Histogram histogram;
  EXPECT_EQ(histogram.count(), 0);
  EXPECT_EQ(histogram.max(), 0);
  EXPECT_EQ(histogram.Quantile(0.5), 0);
}

TEST(Histogram, IsExactForSmallValues) {
  Histogram histogram;
  for (uint64_t i = 1; i <= 100; ++i) histogram.Add(i);
  EXPECT_EQ(histogram.Quantile(0), 1);
  EXPECT_EQ(histogram.Quantile(0.5), 50);
  EXPECT_EQ(histogram.Quantile(0.99), 99);
  EXPECT_EQ(histogram.Quantile(1), 100);
}

TEST(Histogram, KnowsLargeValuesToOnePartInItsSubBuckets) {
  for (uint64_t value = 1; value < (uint64_t{1} << 60); value = value * 3 + 1) {
    Histogram histogram;
    histogram.Add(value);
    histogram.Add(UINT64_MAX);
    const uint64_t shown = histogram.Quantile(0.5);
    EXPECT_GE(shown, value);
    EXPECT_LE(shown - value, value / Histogram::kSubBuckets);
    EXPECT_EQ(histogram.max(), UINT64_MAX);
    EXPECT_EQ(histogram.Quantile(1), UINT64_MAX);
  }
}

TEST(Histogram, DoesNotShowMoreThanTheMaximum) {
  Histogram histogram;
  histogram.Add(1'000'000);
  EXPECT_EQ(histogram.Quantile(0.5), 1'000'000);
}

TEST(Histogram, MergesAsIfAllWereAddedToOne) {
  Histogram all, odd, even;
  for (uint64_t i = 0; i < 10'000; ++i) {
    all.Add(i * i);
    (i % 2 == 0 ? even : odd).Add(i * i);
  }
  odd.Merge(even);
  EXPECT_EQ(odd.count(), all.count());
  for (const double fraction : {0.01, 0.5, 0.9, 0.999, 1.0}) {
    EXPECT_EQ(odd.Quantile(fraction), all.Quantile(fraction));
  }
}

}  // namespace
}  // namespace sonde::bench
