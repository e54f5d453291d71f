#include "access/condition.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;

const absl::Time kNow = absl::FromUnixSeconds(1'770'000'000);  // 2026-02-02

bool Holds(std::string_view text, absl::Time now = kNow) {
  const absl::StatusOr<Condition> condition = Condition::Parse(text);
  EXPECT_TRUE(condition.ok()) << condition.status();
  return condition.ok() &&
         condition->Holds({now, "projects/p/instances/i/tables/t", "bigtableadmin.googleapis.com/Table"});
}

TEST(Condition, ComparesTheTime) {
  EXPECT_TRUE(Holds(R"(request.time < timestamp("2027-01-01T00:00:00Z"))"));
  EXPECT_FALSE(Holds(R"(request.time < timestamp("2026-01-01T00:00:00Z"))"));
  EXPECT_TRUE(Holds(R"(request.time>=timestamp('2026-01-01T00:00:00Z'))"));
  EXPECT_TRUE(Holds(R"(request.time == timestamp("2026-02-02T02:40:00Z"))"));
  EXPECT_FALSE(Holds(R"(request.time > timestamp("2026-02-02T02:40:00Z"))"));
}

TEST(Condition, ComparesNameAndType) {
  EXPECT_TRUE(Holds(R"(resource.name == "projects/p/instances/i/tables/t")"));
  EXPECT_FALSE(Holds(R"(resource.name != "projects/p/instances/i/tables/t")"));
  EXPECT_TRUE(Holds(R"(resource.name.startsWith("projects/p/"))"));
  EXPECT_FALSE(Holds(R"(resource.name.startsWith("projects/q/"))"));
  EXPECT_TRUE(Holds(R"(resource.name.endsWith("/tables/t"))"));
  EXPECT_TRUE(Holds(R"(resource.type == "bigtableadmin.googleapis.com/Table")"));
}

TEST(Condition, JoinsAsCelDoes) {
  const std::string yes = R"(resource.name.endsWith("t"))", no = R"(resource.name.endsWith("x"))";
  EXPECT_TRUE(Holds(yes + " || " + no + " && " + no));  // && binds closer
  EXPECT_FALSE(Holds("(" + yes + " || " + no + ") && " + no));
  EXPECT_TRUE(Holds("!" + no + " && " + yes));
  EXPECT_FALSE(Holds("!(" + no + " || " + yes + ")"));
}

TEST(Condition, RefusesEverythingElse) {
  for (const std::string text :
       {"", "true", "request.time", R"(request.time < "2026-01-01T00:00:00Z")",
        R"(request.time < timestamp("yesterday"))", R"(resource.name < "a")", R"(resource.name.matches("a"))",
        R"(resource.name == "a" &&)", R"((resource.name == "a")",
        R"(resource.name == "a" resource.name == "b")", R"(resource.name == "a\n")",
        R"(resource.service == "a")", R"(resource.name == "a)", R"(request.auth.claims == "a")",
        R"(request.time.startsWith("a"))"}) {
    const absl::Status status = Condition::Parse(text).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("is not supported, from byte")) << text;
  }
}

TEST(Condition, BoundsDepthAndLength) {
  const std::string leaf = R"(resource.name == "a")";
  const auto nested = [&](int depth) { return std::string(depth, '(') + leaf + std::string(depth, ')'); };
  EXPECT_TRUE(Condition::Parse(nested(kConditionDepthMax - 1)).ok());
  EXPECT_FALSE(Condition::Parse(nested(kConditionDepthMax)).ok());
  EXPECT_FALSE(Condition::Parse(std::string(kConditionBytesMax, '!')).ok());
  EXPECT_EQ(Condition::Parse(std::string(kConditionBytesMax + 1, '!')).status().message(),
            "A condition has 2049 bytes; limit 2048");
}

}  // namespace
}  // namespace sonde
