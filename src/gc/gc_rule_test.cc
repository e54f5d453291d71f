#include "gc/gc_rule.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

GcRule Versions(int32_t count) { return {GcRule::MaxVersions{count}}; }
GcRule Age(int64_t micros) { return {GcRule::MaxAge{micros}}; }
GcRule All(std::vector<GcRule> rules) { return {GcRule::Intersection{std::move(rules)}}; }
GcRule Any(std::vector<GcRule> rules) { return {GcRule::Union{std::move(rules)}}; }

TEST(GcRuleCheck, AcceptsWhatTheApiAllows) {
  EXPECT_TRUE(CheckGcRule({}).ok());
  EXPECT_TRUE(CheckGcRule(Versions(1)).ok());
  EXPECT_TRUE(CheckGcRule(Age(1'000)).ok());
  EXPECT_TRUE(CheckGcRule(Any({All({}), {}, Versions(2)})).ok());
}

TEST(GcRuleCheck, NamesPlaceLimitAndValue) {
  const auto expect = [](const GcRule& rule, const char* message) {
    const absl::Status status = CheckGcRule(rule);
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_EQ(std::string(status.message()), message);
  };
  expect(Versions(0), "rule: max_num_versions must be at least 1, is 0");
  expect(Any({Versions(1), All({Versions(-7)})}),
         "rule.union[1].intersection[0]: max_num_versions must be at least 1, is -7");
  expect(Age(999), "rule: max_age must be at least 1 millisecond, is 999 microseconds");
  expect(All({Age(-1)}), "rule.intersection[0]: max_age must be at least 1 millisecond, is -1 microseconds");
}

TEST(GcRuleCheck, BoundsTheNesting) {
  GcRule rule = Versions(1);
  for (int i = 0; i < kGcRuleDepthMax; ++i) rule = Any({rule});
  EXPECT_TRUE(CheckGcRule(rule).ok());
  const absl::Status status = CheckGcRule(Any({rule}));
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(std::string(status.message()).ends_with(": garbage-collection rules nest at most 32 deep"))
      << status;
}

}  // namespace
}  // namespace sonde
