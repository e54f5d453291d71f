#include "hbase/attempts.h"

#include <gtest/gtest.h>

namespace sonde::hbase {
namespace {

const Failure kAway{.remedy = Remedy::kLocate};
const Failure kBusy{.remedy = Remedy::kWait};

// Waits until the next wait is one of the longest.
void Lengthen(Attempts* attempts) {
  for (absl::Duration wait = Attempts::kWaitMin; wait < Attempts::kWaitMax; wait *= 2)
    ASSERT_TRUE(attempts->WaitAfter(kAway));
}
absl::Duration WaitOf(Attempts* attempts, const Failure& failure) {
  const absl::Time begun = absl::Now();
  EXPECT_TRUE(attempts->WaitAfter(failure));
  return absl::Now() - begun;
}

TEST(Attempts, ATryThatFoundAServerAwayHasWaited) {
  Attempts attempts(absl::InfiniteFuture(), absl::Seconds(5));
  Lengthen(&attempts);
  absl::SleepFor(Attempts::kWaitMax);
  EXPECT_LT(WaitOf(&attempts, kAway), Attempts::kWaitMax / 2);
  EXPECT_GE(WaitOf(&attempts, kAway), Attempts::kWaitMax / 2);
}

TEST(Attempts, ABusyServerIsLeftAloneForTheWholeWait) {
  Attempts attempts(absl::InfiniteFuture(), absl::Seconds(5));
  Lengthen(&attempts);
  absl::SleepFor(Attempts::kWaitMax);
  EXPECT_GE(WaitOf(&attempts, kBusy), Attempts::kWaitMax / 2);
}

TEST(Attempts, WhatNothingHelpsIsNotTriedAgain) {
  Attempts attempts(absl::InfiniteFuture(), absl::Seconds(5));
  EXPECT_FALSE(attempts.WaitAfter({.remedy = Remedy::kNone}));
  EXPECT_EQ(attempts.count(), 1);
}

}  // namespace
}  // namespace sonde::hbase
