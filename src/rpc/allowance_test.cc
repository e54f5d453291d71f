#include "rpc/allowance.h"

#include <gtest/gtest.h>

namespace sonde::rpc {
namespace {

using std::chrono::milliseconds;

TEST(Allowance, LastsForSoManyAtOnce) {
  const Allowance::TimePoint now;
  Allowance allowance(3, 10, now);
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(allowance.Take(now)) << i;
  EXPECT_FALSE(allowance.Take(now));
}

TEST(Allowance, ComesBackWithTimeButNeverExceedsWhatMayBeAtOnce) {
  Allowance::TimePoint now;
  Allowance allowance(2, 10, now);
  for (int i = 0; i < 100; ++i) {
    EXPECT_TRUE(allowance.Take(now)) << i;
    now += milliseconds(100);
  }
  now += milliseconds(60'000);
  EXPECT_TRUE(allowance.Take(now));
  EXPECT_TRUE(allowance.Take(now));
  EXPECT_FALSE(allowance.Take(now));
}

}  // namespace
}  // namespace sonde::rpc
