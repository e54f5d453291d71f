#include "access/roles.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace sonde {
namespace {

// -1: there is no such role.
int OfBigtable(std::string_view role) {
  const Roles roles;
  const PermissionSet* const set = roles.Find(role);
  if (set == nullptr) return -1;
  int count = 0;
  for (size_t i = 0; i < kPermissionNames.size(); ++i) {
    count += static_cast<int>(set->test(i) && kPermissionNames[i].starts_with("bigtable."));
  }
  return count;
}

bool RoleHas(std::string_view role, std::string_view permission) {
  const Roles roles;
  return Has(*roles.Find(role), *FindPermission(permission));
}

TEST(Roles, HaveAsManyPermissionsAsGooglesLists) {
  EXPECT_EQ(OfBigtable(kViewerRole), 26);
  EXPECT_EQ(OfBigtable(kReaderRole), 35);
  EXPECT_EQ(OfBigtable(kUserRole), 37);
  EXPECT_EQ(OfBigtable(kEditorRole), 79);
  EXPECT_EQ(OfBigtable(kAdminRole), 90);
  EXPECT_EQ(OfBigtable("roles/owner"), -1);
}

TEST(Roles, GiveDataOnlyFromTheReaderOn) {
  for (const std::string_view permission :
       {"bigtable.tables.readRows", "bigtable.instances.executeQuery", "bigtable.tables.sampleRowKeys"}) {
    EXPECT_FALSE(RoleHas(kViewerRole, permission)) << permission;
    EXPECT_FALSE(RoleHas(kMonitorRole, permission)) << permission;
    EXPECT_TRUE(RoleHas(kReaderRole, permission)) << permission;
  }
  EXPECT_FALSE(RoleHas(kReaderRole, "bigtable.tables.mutateRows"));
  EXPECT_TRUE(RoleHas(kUserRole, "bigtable.authorizedViews.mutateRows"));
  EXPECT_FALSE(RoleHas(kUserRole, "bigtable.tables.create"));
}

TEST(Roles, OnlyTheAdministratorSetsPoliciesAndHasSondesOwn) {
  EXPECT_TRUE(RoleHas(kEditorRole, "bigtable.tables.getIamPolicy"));
  EXPECT_FALSE(RoleHas(kEditorRole, "bigtable.tables.setIamPolicy"));
  EXPECT_TRUE(RoleHas(kAdminRole, "bigtable.tables.setIamPolicy"));
  EXPECT_TRUE(RoleHas(kAdminRole, "sonde.server.reload"));
  EXPECT_FALSE(RoleHas(kEditorRole, "sonde.server.reload"));
  EXPECT_TRUE(RoleHas(kMonitorRole, "sonde.debug.get"));
  EXPECT_FALSE(RoleHas(kViewerRole, "sonde.debug.get"));
  EXPECT_TRUE(RoleHas(kViewerRole, "sonde.metrics.get"));
}

TEST(Roles, TakeCustomOnesOfKnownPermissions) {
  Roles roles;
  ASSERT_TRUE(roles.Add("projects/p/roles/sampler", {"bigtable.tables.sampleRowKeys"}).ok());
  EXPECT_EQ(roles.Find("projects/p/roles/sampler")->count(), 1U);
  EXPECT_EQ(roles.Add("projects/p/roles/sampler", {}).code(), absl::StatusCode::kAlreadyExists);
  EXPECT_EQ(roles.Add("projects/p/roles/r", {"bigtable.tables.fly"}).message(),
            "The role projects/p/roles/r has the permission 'bigtable.tables.fly', which does not exist");
  EXPECT_EQ(roles.Add("roles/r", {}).message(),
            "The name of a custom role must be projects/P/roles/R, but is 'roles/r'");
}

}  // namespace
}  // namespace sonde
