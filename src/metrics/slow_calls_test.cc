#include "metrics/slow_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class SlowCallsTest : public testing::Test {
 protected:
  // As a server does it: makes a SlowCall only of a call that is wanted.
  void End(const std::string& method, int took_ms, absl::Duration after = absl::ZeroDuration()) {
    const absl::Time ended = minute_ + after;
    if (calls_.Wants(absl::Milliseconds(took_ms), ended))
      calls_.Record({.ended = ended, .took = absl::Milliseconds(took_ms), .method = method});
  }
  std::vector<std::string> Methods() const {
    std::vector<std::string> methods;
    for (const SlowCall& call : calls_.List()) methods.push_back(call.method);
    return methods;
  }

  const absl::Time minute_ = absl::UnixEpoch() + absl::Minutes(100);
  SlowCalls calls_;
};

TEST_F(SlowCallsTest, KeepsAllThatTakeTheThreshold) {
  for (int i = 0; i < 30; ++i) End("slow", 500);
  EXPECT_THAT(Methods(), SizeIs(30));
  calls_.SetThreshold(absl::Milliseconds(20));
  for (int i = 0; i < 30; ++i) End("slow", 20);
  EXPECT_THAT(Methods(), SizeIs(60));
}

TEST_F(SlowCallsTest, KeepsTheSlowestOfEachMinute) {
  for (int i = 1; i <= 50; ++i) End(std::to_string(i), i);
  for (int i = 1; i <= 50; ++i) End("again", i % 40);
  EXPECT_THAT(Methods(), ElementsAre("50", "49", "48", "47", "46", "45", "44", "43", "42", "41"));
  EXPECT_FALSE(calls_.Wants(absl::Milliseconds(41), minute_));
  EXPECT_TRUE(calls_.Wants(absl::Milliseconds(42), minute_));
  EXPECT_TRUE(calls_.Wants(absl::ZeroDuration(), minute_ + absl::Minutes(1)));
  End("next", 0, absl::Minutes(1));
  End("quick", 0, absl::Minutes(1));
  EXPECT_THAT(Methods(), SizeIs(12));
  EXPECT_EQ(Methods().front(), "next");
}

TEST_F(SlowCallsTest, ForgetsTheOldest) {
  for (size_t i = 0; i < SlowCalls::kCallsMax + 5; ++i)
    End(std::to_string(i), 1'000, absl::Milliseconds(static_cast<int64_t>(i)));
  EXPECT_THAT(Methods(), SizeIs(SlowCalls::kCallsMax));
  EXPECT_EQ(Methods().back(), "5");
  EXPECT_EQ(Methods().front(), std::to_string(SlowCalls::kCallsMax + 4));
}

TEST_F(SlowCallsTest, CutsTextsThatAreLong) {
  calls_.Record({.ended = minute_, .took = absl::Seconds(1), .resource = std::string(100'000, 'x')});
  EXPECT_THAT(calls_.List().at(0).resource, SizeIs(SlowCalls::kTextBytesMax));
}

}  // namespace
}  // namespace sonde
