#include "cli/store/table_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>

#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

class TableCommandTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const char* id : {"a", "b", "a"}) {
      ASSERT_TRUE(catalog_->Create({.name = NameOf(id), .families = {{.name = "f"}}}).ok());
      ASSERT_EQ(catalog_->Delete(NameOf(id), ++deletions_), absl::OkStatus());
    }
    ASSERT_TRUE(catalog_->Create({.name = NameOf("a"), .families = {{.name = "f"}}}).ok());
  }
  std::string NameOf(const std::string& id) { return "projects/p/instances/i/tables/" + id; }

  int64_t deletions_ = 0;
  ManualClock clock_{1};
  std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
  std::unique_ptr<Catalog> catalog_ = *Catalog::Open(engine_.get());
  Tables tables_{engine_.get(), catalog_.get(), &clock_, /*seed=*/1};
};

TEST_F(TableCommandTest, ListsThoseThatWereDeletedFirstInFront) {
  const absl::StatusOr<std::vector<DeletedTableFacts>> all = ListDeletedTables(&tables_);
  ASSERT_TRUE(all.ok()) << all.status();
  ASSERT_EQ(all->size(), 3u);
  EXPECT_EQ((*all)[0].name, NameOf("a"));
  EXPECT_EQ((*all)[1].name, NameOf("b"));
  EXPECT_EQ((*all)[2].name, NameOf("a"));
  EXPECT_EQ((*all)[2].deleted_micros, 3);
}

TEST_F(TableCommandTest, DropsAllDeletedTablesOfTheNamesAndNoOther) {
  EXPECT_EQ(PurgeDeletedTables(&tables_, {NameOf("c")}, /*is_all=*/false).status(),
            absl::NotFoundError("no deleted table is kept of the name " + NameOf("c")));
  EXPECT_EQ(*PurgeDeletedTables(&tables_, {NameOf("a")}, /*is_all=*/false), 2u);
  ASSERT_EQ(catalog_->ListDeleted().size(), 1u);
  EXPECT_EQ(catalog_->ListDeleted().front()->record.schema.name, NameOf("b"));
  EXPECT_TRUE(catalog_->Find(NameOf("a")).ok());
  EXPECT_EQ(*PurgeDeletedTables(&tables_, {}, /*is_all=*/true), 1u);
  EXPECT_TRUE(catalog_->ListDeleted().empty());
  EXPECT_EQ(*PurgeDeletedTables(&tables_, {}, /*is_all=*/true), 0u);
}

}  // namespace
}  // namespace sonde
