#include "base/admission.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <thread>
#include <vector>

namespace sonde {
namespace {

using ::testing::HasSubstr;

TEST(Admission, CountsRequests) {
  Admission admission("reads", {.requests = 2, .bytes = 1000});
  auto first = admission.Admit(1);
  {
    auto second = admission.Admit(1);
    ASSERT_TRUE(first.ok());
    ASSERT_TRUE(second.ok());
    EXPECT_EQ(admission.Load(), 1.0);
    const auto third = admission.Admit(1);
    ASSERT_EQ(third.status().code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(third.status().message(), HasSubstr("2 reads are under way and the limit is 2"));
  }
  EXPECT_EQ(admission.Load(), 0.5);
  EXPECT_TRUE(admission.Admit(1).ok());
}

TEST(Admission, HasAQuota) {
  Admission admission("writes", {.requests = 100, .bytes = 1000, .per_second = 20});
  const auto start = std::chrono::steady_clock::now();
  int taken = 0;
  absl::Status refused;
  while (std::chrono::steady_clock::now() - start < std::chrono::milliseconds(500)) {
    const auto place = admission.Admit(1);
    if (place.ok()) {
      ++taken;
    } else {
      refused = place.status();
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GE(taken, 20);  // a second's at once
  EXPECT_LE(taken, 20 + 20 * seconds + 1);
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(refused.message(), HasSubstr("The quota of 20 writes a second is used up"));
  EXPECT_TRUE(refused.GetPayload(kTryAgainPayload).has_value());
  EXPECT_EQ(admission.Taken().requests, 0);
}

TEST(Admission, CountsBytes) {
  Admission admission("writes", {.requests = 100, .bytes = 1000});
  auto first = admission.Admit(800);
  ASSERT_TRUE(first.ok());
  EXPECT_EQ(admission.Taken().requests, 1);
  EXPECT_EQ(admission.Taken().bytes, 800);
  const auto second = admission.Admit(201);
  ASSERT_EQ(second.status().code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(second.status().message(), HasSubstr("writes of 800 bytes are under way"));
  EXPECT_THAT(second.status().message(), HasSubstr("the limit is 1000"));
  EXPECT_TRUE(admission.Admit(200).ok());
}

TEST(Admission, LetsALargeRequestInAlone) {
  Admission admission("writes", {.requests = 100, .bytes = 1000});
  {
    auto large = admission.Admit(5000);
    ASSERT_TRUE(large.ok());
    EXPECT_FALSE(admission.Admit(1).ok());
  }
  auto small = admission.Admit(1);
  EXPECT_FALSE(admission.Admit(5000).ok());
}

TEST(Admission, APlaceGrowsWhileThereIsRoomAndShrinks) {
  Admission admission("reads", {.requests = 100, .bytes = 1000});
  auto first = admission.Admit(100);
  ASSERT_TRUE(first.ok());
  {
    auto second = admission.Admit(100);
    ASSERT_TRUE(second.ok());
    EXPECT_TRUE(second->Resize(900).ok());
    EXPECT_EQ(second->bytes(), 900);
    const absl::Status refused = second->Resize(901);
    EXPECT_EQ(refused.code(), absl::StatusCode::kUnavailable);
    EXPECT_THAT(refused.message(), HasSubstr("reads of 1000 bytes are under way, with 1 more bytes 1001"));
    EXPECT_THAT(refused.message(), HasSubstr("the limit is 1000"));
    EXPECT_EQ(admission.Taken().bytes, 1000);
    EXPECT_TRUE(second->Resize(200).ok());
    EXPECT_EQ(admission.Taken().bytes, 300);
  }
  EXPECT_EQ(admission.Taken().bytes, 100);
  EXPECT_TRUE(first->Resize(5000).ok());  // alone
  EXPECT_FALSE(admission.Admit(1).ok());
}

TEST(Admission, IsEmptyAgainAfterManyThreads) {
  Admission admission("writes", {.requests = 5, .bytes = 50});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&admission] {
      Admission::Place kept;
      for (int j = 0; j < 20'000; ++j) {
        if (auto place = admission.Admit(j % 30); place.ok()) kept = *std::move(place);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(admission.Load(), 0);
}

}  // namespace
}  // namespace sonde
