#include "metrics/recent_callers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde {
namespace {

using testing::SizeIs;

const absl::Time kTime = absl::FromUnixSeconds(1'700'000'040);

RecentCaller Of(const std::string& client, const std::string& method = "MutateRow") {
  return {
      .method = method, .resource = "projects/p/instances/i/tables/t", .client = client, .agent = "test/1"};
}

TEST(RecentCallersTest, ListsThoseWithTheMostCallsFirst) {
  RecentCallers callers;
  callers.Add(Of("a"), 1, kTime);
  callers.Add(Of("b"), 2, kTime + absl::Seconds(1));
  callers.Add(Of("b"), 3, kTime + absl::Minutes(2));
  callers.Add(Of("b", "ReadRows"), 4, kTime);
  callers.Add(Of("c"), 0, kTime);
  const auto list = callers.List(kTime + absl::Minutes(2));
  ASSERT_THAT(list, SizeIs(3));
  EXPECT_EQ(list[0].caller, Of("b"));
  EXPECT_EQ(list[0].calls, 5U);
  EXPECT_EQ(list[0].last, kTime + absl::Minutes(2));
  EXPECT_EQ(list[1].caller.method, "ReadRows");
  EXPECT_EQ(list[2].caller.client, "a");
}

TEST(RecentCallersTest, ForgetsThoseOfLongAgo) {
  RecentCallers callers;
  callers.Add(Of("a"), 1, kTime);
  EXPECT_THAT(callers.List(kTime + absl::Minutes(RecentCallers::kMinutesKept - 1)), SizeIs(1));
  EXPECT_THAT(callers.List(kTime + absl::Minutes(RecentCallers::kMinutesKept)), SizeIs(0));
  callers.Add(Of("b"), 1, kTime + absl::Minutes(RecentCallers::kMinutesKept));
  EXPECT_THAT(callers.List(kTime), SizeIs(1));  // a clock that was set back
}

TEST(RecentCallersTest, CountsThoseBeyondTheLimitTogether) {
  RecentCallers callers;
  for (int i = 0; i < 10'000; ++i) callers.Add(Of(std::to_string(i)), 1, kTime);
  const auto list = callers.List(kTime);
  ASSERT_THAT(list, SizeIs(RecentCallers::kCallersMax + 1));
  EXPECT_EQ(list[0].caller, RecentCaller{.method = "MutateRow"});
  EXPECT_EQ(list[0].calls, 10'000 - RecentCallers::kCallersMax);
  // Nor do methods and principals grow it without end.
  for (int i = 0; i < 10'000; ++i) callers.Add(Of("a", std::to_string(i)), 1, kTime);
  EXPECT_LE(callers.List(kTime).size(), 2 * RecentCallers::kCallersMax);
}

TEST(RecentCallersTest, CutsTextsThatAreLong) {
  RecentCallers callers;
  callers.Add(Of(std::string(10'000, 'x')), 1, kTime);
  EXPECT_THAT(callers.List(kTime)[0].caller.client, SizeIs(RecentCallers::kTextBytesMax));
}

TEST(RecentCallersTest, SamplesTheCallsOfABusySecond) {
  RecentCallers callers;
  for (int second = 0; second < 3; ++second) {
    uint64_t sum = 0, counted = 0;
    for (int i = 0; i < 100'000; ++i) {
      const uint64_t weight = callers.Weigh(kTime + absl::Seconds(second));
      sum += weight;
      counted += weight > 0 ? 1 : 0;
    }
    EXPECT_NEAR(static_cast<double>(sum), 100'000, RecentCallers::kSampled);
    EXPECT_LT(counted, 100'000 / RecentCallers::kSampled + RecentCallers::kWholeSecond + 1);
  }
}

}  // namespace
}  // namespace sonde
