#include "metrics/failed_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace sonde {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

FailedCall Failed(const std::string& message, int second) {
  return {.ended = absl::FromUnixSeconds(second),
          .method = "ReadRows",
          .code = absl::StatusCode::kNotFound,
          .message = message,
          .request = std::to_string(second)};
}

TEST(FailedCallsTest, KeepsTheLastOnes) {
  FailedCalls calls;
  for (int i = 0; i < 60; ++i) calls.Record(Failed(std::to_string(i), i));
  const std::vector<FailedCall> list = calls.List();
  ASSERT_THAT(list, SizeIs(FailedCalls::kCallsMax));
  EXPECT_EQ(list.front().message, "59");
  EXPECT_EQ(list.back().message, "10");
}

TEST(FailedCallsTest, CountsThoseThatAreAlike) {
  FailedCalls calls;
  calls.Record(Failed("first", 1));
  for (int i = 2; i < 1'002; ++i) calls.Record(Failed("again", i));
  calls.Record(Failed("first", 2'000));
  std::vector<std::string> messages;
  for (const FailedCall& call : calls.List()) messages.push_back(call.message);
  ASSERT_THAT(messages, ElementsAre("first", "again"));
  EXPECT_EQ(calls.List()[0].times, 2U);
  EXPECT_EQ(calls.List()[0].request, "2000");
  EXPECT_EQ(calls.List()[1].times, 1'000U);
  FailedCall other = Failed("first", 3'000);
  other.code = absl::StatusCode::kInternal;
  calls.Record(other);
  EXPECT_THAT(calls.List(), SizeIs(3));
}

TEST(FailedCallsTest, CutsTextsThatAreLong) {
  FailedCalls calls;
  calls.Record(Failed(std::string(100'000, 'x'), 1));
  EXPECT_THAT(calls.List().at(0).message, SizeIs(FailedCalls::kTextBytesMax));
}

}  // namespace
}  // namespace sonde
