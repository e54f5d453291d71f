#include "access/policy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

using ::testing::HasSubstr;

const std::string kReader(kReaderRole);

std::string ErrorOf(const Policy& policy) {
  const absl::Status status = CheckPolicy(policy, Roles());
  EXPECT_TRUE(status.ok() || status.code() == absl::StatusCode::kInvalidArgument) << status;
  return std::string(status.message());
}

TEST(Policy, TakesKnownRolesAndMembers) {
  EXPECT_EQ(ErrorOf({.bindings = {{kReader,
                                   {"user:a@b", "serviceAccount:s@sonde.local", "group:g",
                                    "principal://iam.googleapis.com/x"}}}}),
            "");
  EXPECT_EQ(ErrorOf({.bindings = {{"roles/nobody", {"user:a@b"}}}}),
            "The role 'roles/nobody' does not exist");
  for (const std::string member : {"allUsers", "allAuthenticatedUsers", "user:", "a@b", "domain:b"}) {
    EXPECT_THAT(ErrorOf({.bindings = {{kReader, {member}}}}),
                HasSubstr("The member '" + member + "' is not supported"));
  }
}

TEST(Policy, HasConditionsOnlyInVersion3) {
  const Binding binding{kReader, {"user:a@b"}, ConditionText{.expression = R"(resource.name == "a")"}};
  EXPECT_EQ(ErrorOf({.version = 3, .bindings = {binding}}), "");
  EXPECT_EQ(ErrorOf({.version = 1, .bindings = {binding}}),
            "A policy with conditions must have version 3, but has 1");
  EXPECT_EQ(ErrorOf({.version = 2}), "The version of a policy must be 0, 1 or 3, but is 2");
  EXPECT_THAT(
      ErrorOf({.version = 3, .bindings = {{kReader, {"user:a@b"}, ConditionText{.expression = "1"}}}}),
      HasSubstr("is not supported"));
}

TEST(Policy, BoundsMembersAndBytes) {
  EXPECT_EQ(ErrorOf({.bindings = {{kReader, std::vector<std::string>(kPolicyMembersMax, "user:a@b")}}}), "");
  EXPECT_EQ(ErrorOf({.bindings = {{kReader, std::vector<std::string>(kPolicyMembersMax + 1, "user:a@b")}}}),
            "The policy has 1501 members; limit 1500");
  EXPECT_THAT(
      ErrorOf({.bindings = {{kReader, std::vector<std::string>(100, "user:" + std::string(1000, 'a'))}}}),
      HasSubstr("bytes; limit 65536"));
  EXPECT_EQ(ErrorOf({.bindings = std::vector<Binding>(kPolicyMembersMax + 1, Binding{kReader, {}})}),
            "The policy has 1501 members; limit 1500");
}

TEST(Grants, AskRoleMemberGroupAndCondition) {
  const Roles roles;
  const Grants grants({.version = 3,
                       .bindings = {{kReader, {"user:a@b", "group:g"}},
                                    {std::string(kUserRole),
                                     {"user:c@d"},
                                     ConditionText{.expression = R"(resource.name == "here")"}}}});
  const auto allow = [&](const Principal& principal, std::string_view permission, std::string_view resource) {
    return grants.Allow(principal, *FindPermission(permission), roles, {absl::Now(), resource, ""});
  };
  constexpr std::string_view kRead = "bigtable.tables.readRows", kWrite = "bigtable.tables.mutateRows";
  EXPECT_TRUE(allow({.member = "user:a@b"}, kRead, "x"));
  EXPECT_FALSE(allow({.member = "user:a@b"}, kWrite, "x"));
  EXPECT_TRUE(allow({.member = "user:z@b", .groups = {"group:f", "group:g"}}, kRead, "x"));
  EXPECT_FALSE(allow({.member = "user:z@b"}, kRead, "x"));
  EXPECT_FALSE(allow({}, kRead, "x"));
  EXPECT_TRUE(allow({.member = "user:c@d"}, kWrite, "here"));
  EXPECT_FALSE(allow({.member = "user:c@d"}, kWrite, "there"));
}

TEST(Grants, GiveNothingByAConditionThatCannotBeRead) {
  const Grants grants(
      {.version = 3, .bindings = {{kReader, {"user:a@b"}, ConditionText{.expression = "whatever"}}}});
  EXPECT_FALSE(grants.Allow({.member = "user:a@b"}, *FindPermission("bigtable.tables.readRows"), Roles(),
                            {absl::Now(), "", ""}));
}

}  // namespace
}  // namespace sonde
