// Random changes of a row, made into markers and puts, against the reference engine's table: HBase is played by its rule for families
// with NEW_VERSION_BEHAVIOR.
#include "engine/hbase/row_edit.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "engine/hbase/played_hbase_test_support.h"
#include "engine/memory/memory_table.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

TEST(RowEdit, RandomChangesAreAsInMemory) {
  int guarded = 0, blind = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SeededRandom random(seed);
    Words words(&random);
    PlayedHBase hbase;
    MemoryTable table;
    const std::string row_key = "row";
    for (int step = 0; step < 40; ++step) {
      std::deque<std::string> values;
      RowDelta delta;
      if (random.Uniform(3) > 0) delta.families.push_back(DeltaOf(1, AggregateKind::kNone, &words, &values));
      if (random.Uniform(3) == 0) delta.families.push_back(DeltaOf(2, AggregateKind::kSum, &words, &values));
      const absl::StatusOr<EditNeeds> needs = NeedsOf(delta);
      ASSERT_TRUE(needs.ok()) << needs.status();
      (needs->is_guarded ? guarded : blind) += 1;
      StoredRow row;
      if (needs->is_guarded) {
        for (const hbase::Cell& cell : hbase.Cells(row_key)) ASSERT_TRUE(row.Add(cell).ok());
      }
      RowEdit edit;
      ASSERT_TRUE(MakeEdit(row_key, delta, row, &edit).ok());
      hbase.Apply(edit.change);
      table.Apply(row_key, delta);
      StoredRow now;
      for (const hbase::Cell& cell : hbase.Cells(row_key)) ASSERT_TRUE(now.Add(cell).ok());
      const MemoryRow* const wanted = table.Find(row_key);
      ASSERT_EQ(SeenOf(now.Families()), wanted == nullptr ? Seen() : SeenOf(SelectCells(*wanted, {})))
          << "seed " << seed << " step " << step;
    }
  }
  EXPECT_GT(guarded, 1'000);
  EXPECT_GT(blind, 1'000);
}

TEST(RowEdit, PutsAndWholeColumnsNeedNoLook) {
  const auto is_guarded = [](FamilyDelta delta) {
    return NeedsOf({.families = {std::move(delta)}})->is_guarded;
  };
  EXPECT_FALSE(is_guarded({.family = 1, .puts = {{"q", 1, "v"}}}));
  EXPECT_FALSE(is_guarded({.family = 1, .deletes = {{"q", {}}, {"r", {0, 5}}}, .puts = {{"s", 1, "v"}}}));
  EXPECT_TRUE(is_guarded({.family = 1, .deletes = {{"q", {}}}, .puts = {{"q", 1, "v"}}}));
  EXPECT_TRUE(is_guarded({.family = 1, .deletes = {{"q", {5, 0}}}}));
  EXPECT_TRUE(is_guarded({.family = 1, .delete_all = true}));
  EXPECT_TRUE(is_guarded({.family = 1, .aggregate = AggregateKind::kSum, .adds = {{"q", 1, 1}}}));
}

TEST(RowEdit, ALoggedChangeIsGuardedAndNeedsNoCells) {
  const std::vector<std::string> pieces = {"a record"};
  RowDelta logged{.families = {{.family = 1, .puts = {{"q", 1, "v"}}}}};
  logged.log = {1, pieces};
  EXPECT_TRUE(NeedsOf(logged)->is_guarded);
  EXPECT_TRUE(NeedsOf(logged)->choice.qualifiers.empty());
}

TEST(RowEdit, WhatIsNotBuiltSaysSo) {
  const RowDelta expiring{.families = {{.family = kExpiringFamilies, .delete_all = true}}};
  EXPECT_TRUE(absl::IsUnimplemented(NeedsOf(expiring).status()));
}

}  // namespace
}  // namespace sonde
