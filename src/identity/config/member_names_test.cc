#include "identity/config/member_names.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

TEST(MemberNames, AllowTheKindsOfMembersThatAreKnown) {
  for (const std::string_view member :
       {"serviceAccount:ingest@sonde.local", "user:a.b+c@example.com", "principal:spiffe://e/i",
        "principalSet://iam.googleapis.com/x", "principal:subject:CN=a b,O=\u00C4"}) {
    EXPECT_TRUE(CheckMember(member).ok()) << member;
  }
  for (const std::string& member :
       {std::string(), std::string("a"), std::string("allUsers"), std::string("allAuthenticatedUsers"),
        std::string("user:"), std::string("user:a"), std::string("user:@b"), std::string("user:a@"),
        std::string("user:a@b@c"), std::string("User:a@b"), std::string("group:a"),
        std::string("domain:b.com"), std::string("principal:"), std::string("principal:a\nb"),
        std::string("principal:\xE9"), std::string("principal:a\0b", 13),
        "principal:" + std::string(600, 'a')}) {
    EXPECT_EQ(CheckMember(member).code(), absl::StatusCode::kInvalidArgument) << member;
  }
  EXPECT_TRUE(CheckGrantedMember("group:writers").ok());
  EXPECT_FALSE(CheckGrantedMember("group:").ok());
}

TEST(MemberNames, OfRolesAreOfTwoKinds) {
  EXPECT_TRUE(IsPredefinedRoleName("roles/bigtable.reader"));
  EXPECT_TRUE(IsCustomRoleName("projects/example.com:p/roles/write_only"));
  for (const char* const role :
       {"", "reader", "roles/", "roles/a/b", "projects/p/roles/", "projects//roles/a", "projects/p/r/a"}) {
    EXPECT_FALSE(IsPredefinedRoleName(role) || IsCustomRoleName(role)) << role;
  }
}

TEST(MemberNames, OfPermissionsHaveThreeParts) {
  EXPECT_TRUE(CheckPermissionName("bigtable.tables.readRows").ok());
  for (const char* const name :
       {"", "bigtable", "bigtable.tables", "bigtable.tables.*", "a.b.c.d", "a..c", ".b.c", "a.b."}) {
    EXPECT_FALSE(CheckPermissionName(name).ok()) << name;
  }
}

TEST(MemberNames, OfCommandLinesMayBeShort) {
  EXPECT_EQ(*MemberOfArgument("ingest"), "serviceAccount:ingest@sonde.local");
  EXPECT_EQ(*MemberOfArgument("user:a@b"), "user:a@b");
  EXPECT_EQ(*MemberOfArgument("group:g"), "group:g");
  EXPECT_FALSE(MemberOfArgument("a@b").ok());
  EXPECT_FALSE(MemberOfArgument("allUsers").ok());
}

}  // namespace
}  // namespace sonde
