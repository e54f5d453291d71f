#include "wire/step_cost.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace sonde
