#include "wire/call/step_cost.h"

#include <gtest/gtest.h>

#include <functional>

#include "absl/time/clock.h"

namespace sonde {
namespace {

TEST(StepCost, FollowsWhatRequestsTake) {
  StepCost cost;
  EXPECT_FALSE(cost.IsHigh());
  cost.Add(3'000'000);  // one alone
  EXPECT_FALSE(cost.IsHigh());
  for (int i = 0; i < 16; ++i) cost.Add(1'000'000);
  EXPECT_TRUE(cost.IsHigh());
  for (int i = 0; i < 64; ++i) cost.Add(20'000);
  EXPECT_FALSE(cost.IsHigh());
}

TEST(StepCost, MeasuresStepsThatWaitOrWork) {
  const auto run = [](const std::function<void()>& step) {
    StepCost cost;
    for (int i = 0; i < 400 && !cost.IsHigh(); ++i) {
      const StepCost::Timer timer(&cost);
      step();
    }
    return cost.IsHigh();
  };
  EXPECT_FALSE(run([] {}));
  EXPECT_TRUE(run([] { absl::SleepFor(absl::Milliseconds(2)); }));
  EXPECT_TRUE(run([] {
    const int64_t begin = absl::GetCurrentTimeNanos();
    while (absl::GetCurrentTimeNanos() - begin < 2'000'000) continue;
  }));
}

}  // namespace
}  // namespace sonde
