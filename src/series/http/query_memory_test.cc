#include "series/http/query_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>

namespace sonde::series {
namespace {

using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

TEST(QueryMemoryTest, CountsWhatIsHeldAndGivesItBack) {
  Admission admission("requests", {.requests = 10, .bytes = 100 * kMiB});
  {
    QueryMemory memory(&admission);
    EXPECT_EQ(admission.Taken().requests, 0);  // small ones take no notice
    ASSERT_TRUE(memory.Hold(30 * kMiB).ok());
    ASSERT_TRUE(memory.Hold(20 * kMiB).ok());
    EXPECT_EQ(admission.Taken().bytes, 50 * kMiB);
    ASSERT_TRUE(memory.Hold(-40 * kMiB).ok());
    EXPECT_EQ(admission.Taken().bytes, 10 * kMiB);
  }
  EXPECT_EQ(admission.Taken().bytes, 0);
  EXPECT_EQ(admission.Taken().requests, 0);
}

TEST(QueryMemoryTest, RefusesWhatNeverFitsForGoodAndWhatDoesNotFitNowForNow) {
  Admission admission("requests", {.requests = 10, .bytes = 100 * kMiB});
  QueryMemory first(&admission), second(&admission);
  ASSERT_TRUE(first.Hold(60 * kMiB).ok());
  const absl::Status never = first.Hold(41 * kMiB);
  EXPECT_EQ(never.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(never.message()), HasSubstr("needs 105906176 bytes of memory"));
  EXPECT_EQ(second.Hold(41 * kMiB).code(), absl::StatusCode::kUnavailable);
  EXPECT_TRUE(second.Hold(40 * kMiB).ok());
  EXPECT_EQ(admission.Taken().bytes, 100 * kMiB);
}

TEST(AnswerTextTest, IsHeldUntilItsLastPartIsTaken) {
  Admission admission("requests", {.requests = 10, .bytes = 100 * kMiB});
  AnswerText text(std::make_shared<QueryMemory>(&admission));
  std::string all;
  for (char letter = 'a'; letter < 'e'; ++letter) {
    ASSERT_TRUE(text.Append(std::string(kMiB, letter)).ok());
    all.append(kMiB, letter);
  }
  EXPECT_GE(admission.Taken().bytes, 4 * kMiB);
  std::string taken;
  while (text.Next(&taken)) {
  }
  EXPECT_EQ(taken, all);
  EXPECT_EQ(text.bytes(), all.size());
  EXPECT_EQ(admission.Taken().bytes, 0);
}

}  // namespace
}  // namespace sonde::series
