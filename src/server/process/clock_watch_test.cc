#include "server/process/clock_watch.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(ClockWatch, CountsStepsBackAndNothingElse) {
  const absl::Time wall = absl::UnixEpoch() + absl::Hours(1);
  const ClockWatch::SteadyTime steady;
  ClockWatch watch(wall, steady);
  const auto look = [&](int wall_ms, int steady_ms) {
    return watch.Look(wall + absl::Milliseconds(wall_ms), steady + std::chrono::milliseconds(steady_ms));
  };
  EXPECT_EQ(look(10'000, 10'000), absl::ZeroDuration());
  EXPECT_EQ(look(19'100, 20'000), absl::ZeroDuration());  // slowed down
  EXPECT_EQ(look(99'100, 30'000), absl::ZeroDuration());  // set forward
  EXPECT_EQ(look(99'100, 31'000), absl::Seconds(1));
  EXPECT_EQ(look(40'100, 32'000), absl::Seconds(60));
  EXPECT_EQ(look(50'100, 42'000), absl::ZeroDuration());
  EXPECT_EQ(watch.steps_back(), 2);
  ASSERT_EQ(watch.Figures().size(), 1u);
  EXPECT_EQ(watch.Figures()[0].samples[0].value, 2);
}

}  // namespace
}  // namespace sonde
