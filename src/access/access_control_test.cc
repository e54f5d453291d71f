#include "access/access_control.h"

#include <gtest/gtest.h>

#include "access/access_test_support.h"

namespace sonde {
namespace {

TEST(AccessControl, UnitesThePoliciesFromTheResourceUp) {
  AccessFixture it;
  constexpr std::string_view kView = "projects/p/instances/i/tables/t/authorizedViews/v";
  for (const std::string_view at :
       {std::string_view("projects/p/instances/i/tables/t"), kView,
        std::string_view("projects/p/instances/i"), std::string_view("projects/p"), std::string_view("")}) {
    it.Grant(at, kReaderRole);
    EXPECT_TRUE(it.IsAllowed("bigtable.authorizedViews.readRows", kView)) << at;
    it.Grant(at, kViewerRole);
    EXPECT_FALSE(it.IsAllowed("bigtable.authorizedViews.readRows", kView)) << at;
    it.Grant("", "");
  }
}

TEST(AccessControl, AViewOrAnotherTableGivesNothingOnTheTable) {
  AccessFixture it;
  for (const std::string_view at :
       {"projects/p/instances/i/tables/t/authorizedViews/v", "projects/p/instances/i/tables/t2",
        "projects/p/instances/i/tables/tt", "projects/p/instances/i2", "projects/p2"}) {
    it.Grant(at, kAdminRole);
    EXPECT_FALSE(it.IsAllowed("bigtable.tables.readRows", "projects/p/instances/i/tables/t")) << at;
  }
}

TEST(AccessControl, ABackupBelongsToItsInstance) {
  AccessFixture it;
  constexpr std::string_view kBackup = "projects/p/instances/i/clusters/c/backups/b";
  it.Grant("projects/p/instances/i", kEditorRole);
  EXPECT_TRUE(it.IsAllowed("bigtable.backups.restore", kBackup));
  it.Grant(kBackup, kEditorRole);
  EXPECT_TRUE(it.IsAllowed("bigtable.backups.restore", kBackup));
  it.Grant("projects/p/instances/i/tables/t", kEditorRole);
  EXPECT_FALSE(it.IsAllowed("bigtable.backups.restore", kBackup));
}

TEST(AccessControl, ANameThatIsNoneHasNoPermissions) {
  AccessFixture it;
  it.Grant("", kAdminRole);
  EXPECT_TRUE(it.IsAllowed("bigtable.tables.readRows", "projects/p/instances/i/tables/t"));
  EXPECT_FALSE(it.IsAllowed("bigtable.tables.readRows", "projects/p/instances/i/tables/"));
}

TEST(AccessControl, SaysWhichPermissionIsMissing) {
  AccessFixture it;
  const absl::Status status =
      it.access.Check({.member = std::string(kSomebody)}, PermissionOf("bigtable.tables.readRows"),
                      "projects/p/instances/i/tables/t", absl::Now());
  EXPECT_EQ(status,
            absl::PermissionDeniedError("Access denied. Missing IAM permission: bigtable.tables.readRows."));
}

TEST(AccessControl, FollowsItsConfiguration) {
  AccessFixture it;
  AccessControl::Configuration configuration;
  ASSERT_TRUE(configuration.roles.Add("projects/p/roles/r", {"bigtable.tables.get"}).ok());
  configuration.policies["projects/p"] = {.bindings = {{"projects/p/roles/r", {std::string(kSomebody)}}}};
  EXPECT_FALSE(it.IsAllowed("bigtable.tables.get", "projects/p/instances/i/tables/t"));
  it.access.Configure(configuration);
  EXPECT_TRUE(it.IsAllowed("bigtable.tables.get", "projects/p/instances/i/tables/t"));
  EXPECT_FALSE(it.IsAllowed("bigtable.tables.list", "projects/p/instances/i"));
  it.access.Configure({});
  EXPECT_FALSE(it.IsAllowed("bigtable.tables.get", "projects/p/instances/i/tables/t"));
}

TEST(AccessControl, TellsNobodyWhyAProofIsNone) {
  AccessFixture it;
  it.authenticator.Set("Bearer old", {.member = "user:a@b", .until = absl::FromUnixSeconds(99)});
  it.authenticator.Set("Bearer nobody", {});
  for (const std::string_view header : {"", "Bearer forged", "Bearer old", "Bearer nobody"}) {
    std::string cause;
    const auto principal =
        it.access.Authenticate({.authorization = header}, absl::FromUnixSeconds(100), &cause);
    EXPECT_EQ(principal.status(),
              absl::UnauthenticatedError("Request had invalid authentication credentials."))
        << header;
    EXPECT_FALSE(cause.empty()) << header;
  }
  EXPECT_EQ(
      (*it.access.Authenticate({.authorization = "Bearer old"}, absl::FromUnixSeconds(98), nullptr))->member,
      "user:a@b");
}

}  // namespace
}  // namespace sonde
