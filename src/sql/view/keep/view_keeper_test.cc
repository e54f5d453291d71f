#include "sql/view/keep/view_keeper.h"

#include "sql/view/keep/view_test_support.h"
#include "work/idle_workers.h"

namespace sonde::sql {
namespace {

using ViewKeeperTest = ViewTest;

constexpr char kCounts[] =
    "SELECT CAST(f['k'] AS STRING) AS k, COUNT(*) AS n, SUM(SAFE_CAST(SAFE_CAST(f['v'] AS STRING) AS INT64)) "
    "AS `r.s` "
    "FROM t GROUP BY k";

TEST_F(ViewKeeperTest, ShowsGroupsAsCells) {
  Put("a", "f", "k", 1, "x");
  Put("a", "f", "v", 1, "7");
  Put("b", "f", "k", 1, "x");
  Put("c", "f", "k", 1, "y");
  CreateView("v", kCounts);
  CatchUp();
  EXPECT_EQ(Shown("v"),
            "x default:@0 \n"
            "x default:n@0 \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\n"
            "x r:s@0 \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x07\n"
            "y default:@0 \n"
            "y default:n@0 \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x01\n");
  EXPECT_EQ(Shown("v"), Expected("v"));
}

TEST_F(ViewKeeperTest, FollowsChangesOfEveryKind) {
  CreateView("v", kCounts);
  CatchUp();
  EXPECT_EQ(Shown("v"), "");
  Put("a", "f", "k", 1, "x");
  Put("b", "f", "k", 1, "x");
  Put("b", "f", "v", 1, "5");
  CatchUp();
  EXPECT_EQ(Shown("v"), Expected("v"));
  EXPECT_NE(Shown("v"), "");
  Put("b", "f", "k", 2, "y");  // to another group
  CatchUp();
  EXPECT_EQ(Shown("v"), Expected("v"));
  ASSERT_EQ(store_.Mutate("a", {DeleteFromRow{}}), absl::OkStatus());
  CatchUp();
  EXPECT_EQ(Shown("v"), Expected("v"));
  ASSERT_EQ(store_.tables.DropRowRange(*store_.Table(), RowRange::Prefix("b")), absl::OkStatus());
  CatchUp();
  EXPECT_EQ(Shown("v"), "");
}

TEST_F(ViewKeeperTest, IsReadyOnceAllRowsAreIn) {
  for (int i = 0; i < 20; ++i) Put("r" + std::to_string(i), "f", "k", 1, "x");
  CreateView("v", kCounts);
  options_.rows_per_step = 4;
  ViewKeepers keepers(&store_, options_);
  const auto state = [this] { return (*store_.catalog->FindMaterializedView(store_.ViewName("v")))->state; };
  for (int step = 0; step < 4; ++step) {
    ASSERT_EQ(keepers.Step(0), absl::OkStatus());
    EXPECT_EQ(state(), MaterializedViewRecord::State::kPopulating);
    EXPECT_TRUE(keepers[0].progress().is_populating);
  }
  ASSERT_EQ(keepers.CatchUp(), absl::OkStatus());
  EXPECT_EQ(state(), MaterializedViewRecord::State::kReady);
  EXPECT_FALSE(keepers[0].progress().is_populating);
  EXPECT_EQ(keepers[0].progress().populated_rows, 20U);
  EXPECT_EQ(Shown("v"), Expected("v"));
}

// In pieces, some of which have a row that is left out.
TEST_F(ViewKeeperTest, HelpersReadTheSameRows) {
  IdleWorkers helpers(4);
  options_.idle_workers = &helpers;
  for (int i = 0; i < 2'000; ++i) {
    const std::string row = "r" + std::to_string(i);
    Put(row, "f", "k", 1, std::string(1, static_cast<char>('a' + i % 7)));
    Put(row, "f", "v", 1, i % 500 == 3 ? "no number" : std::to_string(i));
  }
  CreateView("v", kCounts);
  CreateView("w",
             "SELECT CAST(f['k'] AS STRING) AS k, SUM(CAST(CAST(f['v'] AS STRING) AS INT64)) AS n FROM t "
             "GROUP BY k");
  ViewKeepers keepers(&store_, options_);
  ASSERT_EQ(keepers.CatchUp(), absl::OkStatus());
  EXPECT_EQ(Shown("v"), Expected("v"));
  EXPECT_EQ(keepers[1].progress().rows_left_out, 4U);
  for (int i = 0; i < 2'000; i += 2) Put("r" + std::to_string(i), "f", "v", 2, "5");
  clock_.Advance(kViewTestSecond);
  ASSERT_EQ(keepers.CatchUp(), absl::OkStatus());
  EXPECT_EQ(Shown("v"), Expected("v"));
  EXPECT_EQ(keepers[0].progress().changed_rows, 1'000U);
}

TEST_F(ViewKeeperTest, ExpiredCellsLeaveTheView) {
  CreateView("v", "SELECT CAST(day['k'] AS STRING) AS k, COUNT(*) AS n FROM t GROUP BY k");
  Put("a", "day", "k", kViewTestStart / kViewTestSecond, "x");
  Put("a", "f", "other", 1, "");
  CatchUp();
  EXPECT_NE(Shown("v"), "");
  clock_.Advance(2 * kViewTestDay);
  ASSERT_EQ(store_.streams.Upkeep(), absl::OkStatus());
  CatchUp();
  EXPECT_EQ(Shown("v"), "");
  EXPECT_EQ(Shown("v"), Expected("v"));
}

TEST_F(ViewKeeperTest, ARowThatFailsIsLeftOut) {
  Put("a", "f", "k", 1, "1");
  Put("b", "f", "k", 1, "no number");
  Put("c", "f", "k", 1, "1");
  CreateView("v", "SELECT CAST(CAST(f['k'] AS STRING) AS INT64) AS k, COUNT(*) AS n FROM t GROUP BY k");
  CatchUp();
  EXPECT_EQ(Shown("v"), "\\x81 default:@0 \n\\x81 default:n@0 \\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x02\n");
  EXPECT_EQ((*keepers_)[0].progress().rows_left_out, 1U);
}

TEST_F(ViewKeeperTest, AGroupWithoutAResultIsLeftOut) {
  Put("a", "f", "k", 1, "x");
  Put("a", "f", "v", 1, "9223372036854775807");
  CreateView("v", kCounts);
  CatchUp();
  EXPECT_NE(Shown("v"), "");
  Put("b", "f", "k", 1, "x");
  Put("b", "f", "v", 1, "1");
  CatchUp();
  EXPECT_EQ(Shown("v"), "") << "the sum overflows";
  EXPECT_EQ((*keepers_)[0].progress().groups_left_out, 1U);
  ASSERT_EQ(store_.Mutate("b", {DeleteFromRow{}}), absl::OkStatus());
  CatchUp();
  EXPECT_EQ(Shown("v"), Expected("v"));
  EXPECT_NE(Shown("v"), "");
}

TEST_F(ViewKeeperTest, ARowGivesToSoManyGroupsAtMost) {
  Put("a", "f", "k", 1, "60000");
  Put("b", "f", "k", 1, "100001");
  Put("c", "f", "k", 1, "60000");
  CreateView("v",
             "SELECT x AS x, COUNT(*) AS n FROM t, "
             "UNNEST(GENERATE_ARRAY(1, CAST(CAST(f['k'] AS STRING) AS INT64))) AS x GROUP BY x");
  CatchUp();
  EXPECT_EQ((*keepers_)[0].progress().rows_left_out, 1U);
  ASSERT_EQ(store_.Mutate("b", {DeleteFromRow{}}), absl::OkStatus());
  CatchUp();
  EXPECT_TRUE(Shown("v") == Expected("v"));
}

TEST_F(ViewKeeperTest, ALogThatEndsTooEarlyIsMadeUpFor) {
  CreateView("v", kCounts);
  Put("a", "f", "k", 1, "x");
  Put("b", "f", "k", 1, "x");
  CatchUp();
  keepers_.reset();
  ASSERT_EQ(store_.Mutate("a", {DeleteFromRow{}}), absl::OkStatus());
  Put("c", "f", "k", 1, "y");
  clock_.Advance(3 * kViewTestDay);
  ASSERT_EQ(store_.streams.Upkeep(), absl::OkStatus());
  CatchUp();
  EXPECT_EQ(Shown("v"), Expected("v"));
  EXPECT_EQ((*keepers_)[0].progress().populated_rows, 3U)
      << "a is not there any more, but had given to the view";
}

TEST_F(ViewKeeperTest, ARuleThatShowsCellsAgainIsFollowed) {
  CreateView("v", "SELECT CAST(day['k'] AS STRING) AS k, COUNT(*) AS n FROM t GROUP BY k");
  Put("a", "day", "k", 1, "x");
  CatchUp();
  EXPECT_EQ(Shown("v"), "");
  ASSERT_TRUE(
      store_.catalog->Modify(store_.TableName(), {UpdateFamily{.name = "day", .gc_rule = GcRule()}}).ok());
  CatchUp();
  EXPECT_EQ(Shown("v"), Expected("v"));
  EXPECT_NE(Shown("v"), "");
}

TEST_F(ViewKeeperTest, LargeGroupsHaveATreeThatComesToTheSame) {
  CreateView("v", kCounts);
  options_.shape.bits = 2;
  int64_t made = 0;
  for (int round = 0; round < 6; ++round) {
    for (int i = 0; i < 60; ++i) {
      const std::string row = "r" + std::to_string(made++);
      Put(row, "f", "k", 1, "x");
      Put(row, "f", "v", 1, std::to_string(made));
    }
    CatchUp();
    ASSERT_EQ(Shown("v"), Expected("v")) << made;
  }
  for (int64_t i = 0; i < made; ++i) {
    ASSERT_EQ(store_.Mutate("r" + std::to_string(i), {DeleteFromRow{}}), absl::OkStatus());
    if (i % 50 != 0) continue;
    CatchUp();
    ASSERT_EQ(Shown("v"), Expected("v")) << i;
  }
  CatchUp();
  EXPECT_EQ(Shown("v"), "");
}

TEST_F(ViewKeeperTest, TreesOfTheUsualFanOutComeToTheSame) {
  CreateView("v", kCounts);
  for (int i = 0; i < 3'000; ++i) Put("r" + std::to_string(i), "f", "k", 1, "x");
  CatchUp();
  EXPECT_EQ(Shown("v"), Expected("v"));
  Put("r17", "f", "v", 1, "4");
  ASSERT_EQ(store_.Mutate("r18", {DeleteFromRow{}}), absl::OkStatus());
  CatchUp();
  EXPECT_EQ(Shown("v"), Expected("v"));
}

}  // namespace
}  // namespace sonde::sql
