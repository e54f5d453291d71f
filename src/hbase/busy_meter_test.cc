#include "hbase/busy_meter.h"

#include <gtest/gtest.h>

namespace sonde::hbase {
namespace {

TEST(BusyMeterTest, SharesOutWhatWasAnsweredLately) {
  BusyMeter meter;
  absl::Time now = absl::FromUnixSeconds(1'000);
  EXPECT_EQ(meter.Share(now), 0);
  meter.Note(true, now);
  EXPECT_DOUBLE_EQ(meter.Share(now), 0.2);
  for (int i = 0; i < 9; ++i) meter.Note(i % 2 == 0, now);
  EXPECT_DOUBLE_EQ(meter.Share(now), 0.6);
  now += BusyMeter::kHalfLife;  // half of ten weigh as five
  EXPECT_DOUBLE_EQ(meter.Share(now), 0.6);
  now += BusyMeter::kHalfLife;
  EXPECT_DOUBLE_EQ(meter.Share(now), 0.3);
  for (int i = 0; i < 100; ++i) meter.Note(false, now);
  EXPECT_LT(meter.Share(now), 0.02);
  EXPECT_LT(meter.Share(now - absl::Hours(1)), 0.02);  // a clock that was set back
}

}  // namespace
}  // namespace sonde::hbase
