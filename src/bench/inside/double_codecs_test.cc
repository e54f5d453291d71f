#include "bench/inside/double_codecs.h"

#include <gtest/gtest.h>

#include <vector>

namespace sonde::bench {
namespace {

TEST(DoubleCodecs, GorillaTakesABitForWhatDoesNotChange) {
  EXPECT_EQ(GorillaBits(std::vector<double>(1000, 12.5)), 64 + 999);
}

// By hand: 15.0 ^ 15.5 has 15 zeros in front and 48 behind, 15.5 ^ 14.0625 14 and 45, so that each has a
// window of its own: 13 bits that say so, and 1 and 5 that mean something.
TEST(DoubleCodecs, GorillaCountsWindows) {
  EXPECT_EQ(GorillaBits(std::vector<double>{15.0, 15.5, 14.0625}), 64 + 13 + 1 + 13 + 5);
}

TEST(DoubleCodecs, AlpPacksDecimalsToTheirRange) {
  std::vector<double> values;
  for (int i = 0; i < 1024; ++i) values.push_back((1000 + i) / 100.0);
  EXPECT_EQ(AlpBits(values), 104 + 1024 * 10);
}

TEST(DoubleCodecs, AlpLeavesAloneWhatIsNoDecimal) {
  std::vector<double> values;
  for (int i = 0; i < 1024; ++i) values.push_back(1.0 / (i + 3.1415926535));
  EXPECT_EQ(AlpBits(values), 104 + 1024 * 64);
}

TEST(DoubleCodecs, AlpPaysForExceptions) {
  std::vector<double> values(1024, 1.5);
  values[7] = 1.0 / 3;
  EXPECT_EQ(AlpBits(values), 104 + 80);
}

}  // namespace
}  // namespace sonde::bench
