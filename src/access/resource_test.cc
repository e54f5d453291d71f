#include "access/resource.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde {
namespace {

TEST(Resource, KnowsTheKindByTheName) {
  EXPECT_EQ(KindOfResource(""), ResourceKind::kServer);
  EXPECT_EQ(KindOfResource("projects/p"), ResourceKind::kProject);
  EXPECT_EQ(KindOfResource("projects/p/instances/i"), ResourceKind::kInstance);
  EXPECT_EQ(KindOfResource("projects/p/instances/i/tables/t"), ResourceKind::kTable);
  EXPECT_EQ(KindOfResource("projects/p/instances/i/tables/t/authorizedViews/v"),
            ResourceKind::kAuthorizedView);
  EXPECT_EQ(KindOfResource("projects/p/instances/i/clusters/c/backups/b"), ResourceKind::kBackup);
}

TEST(Resource, RefusesWhatIsNoName) {
  for (const std::string name :
       {"projects", "projects/", "projects//instances/i", "/projects/p", "projects/p/", "projects/p/tables/t",
        "projects/p/instances/i/tables/t/backups/b", "projects/p/instances/i/tables/t\n", "tables/t",
        "projects/p/instances/i/tables/"}) {
    EXPECT_FALSE(KindOfResource(name).has_value()) << name;
  }
  EXPECT_FALSE(KindOfResource("projects/" + std::string(1025, 'p')).has_value());
}

TEST(Resource, LeadsUpToTheServer) {
  EXPECT_EQ(ParentOf("projects/p/instances/i/clusters/c/backups/b"), "projects/p/instances/i/clusters/c");
  EXPECT_EQ(ParentOf("projects/p/instances/i"), "projects/p");
  EXPECT_EQ(ParentOf("projects/p"), "");
}

TEST(Resource, IsFoundInTheNameOfAnOperation) {
  EXPECT_EQ(ResourceOfOperation("operations/projects/p/instances/i/tables/t/operations/17"),
            "projects/p/instances/i/tables/t");
  EXPECT_EQ(ResourceOfOperation("operations/projects/p"), "projects/p");
  EXPECT_EQ(ResourceOfOperation("projects/p/instances/i"), "projects/p/instances/i");
}

}  // namespace
}  // namespace sonde
