// Random histories of a row that is settled now and then, against the reference engine's table.
#include "engine/hbase/settle/settle_edit.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "engine/hbase/packed/packed_cells.h"
#include "engine/hbase/packed_edit.h"
#include "engine/hbase/played_hbase_test_support.h"
#include "engine/memory/memory_table.h"

namespace sonde {
namespace {

constexpr char kRow[] = "row";

StoredRow RowOf(const PlayedHBase& hbase) {
  StoredRow row;
  for (const hbase::Cell& cell : hbase.Cells(kRow)) EXPECT_TRUE(row.Add(cell).ok());
  EXPECT_TRUE(row.Finish().ok());
  return row;
}

size_t CellsAlone(const StoredRow& row) {
  size_t count = 0;
  for (const SeamCell& cell : row.cells()) count += cell.is_packed ? 0 : 1;
  return count;
}

// Applies a change as the engine does.
void Apply(const RowDelta& delta, PlayedHBase* hbase) {
  absl::StatusOr<EditNeeds> needs = NeedsOf(delta);
  ASSERT_TRUE(needs.ok()) << needs.status();
  AddPackedNeeds(delta, CellStorage::kPacked, &*needs);
  const StoredRow row = needs->is_guarded ? RowOf(*hbase) : StoredRow();
  RowEdit edit;
  ASSERT_TRUE(MakeEdit(kRow, delta, row, &edit).ok());
  AddPackedEdit(delta, row, &edit);
  hbase->Apply(edit.change);
}

TEST(SettleEdit, RandomHistoriesAreAsInMemory) {
  size_t settled = 0;
  for (uint64_t seed = 1; seed <= 300; ++seed) {
    SeededRandom random(seed);
    Words words(&random);
    PlayedHBase hbase;
    MemoryTable table;
    for (int step = 0; step < 40; ++step) {
      std::deque<std::string> values;
      if (random.Uniform(4) == 0) {
        RowEdit edit;
        const size_t cells = MakeSettleEdit(kRow, RowOf(hbase), {.cells_min = 1 + random.Uniform(4)}, &edit);
        EXPECT_EQ(cells == 0, edit.is_empty());
        hbase.Apply(edit.change);
        settled += cells;
      } else {
        RowDelta delta;
        if (random.Uniform(3) > 0)
          delta.families.push_back(DeltaOf(1, AggregateKind::kNone, &words, &values));
        if (random.Uniform(3) == 0)
          delta.families.push_back(DeltaOf(2, AggregateKind::kSum, &words, &values));
        Apply(delta, &hbase);
        table.Apply(kRow, delta);
      }
      const MemoryRow* const wanted = table.Find(kRow);
      ASSERT_EQ(SeenOf(RowOf(hbase).Families()),
                wanted == nullptr ? Seen() : SeenOf(SelectCells(*wanted, {})))
          << "seed " << seed << " step " << step;
    }
  }
  EXPECT_GT(settled, 3'000u);
}

// Series that are never overwritten: cells are packed when they are written, deleted, settled.
TEST(SettleEdit, CellsThatWerePackedAtOnceAreAsInMemory) {
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    PlayedHBase hbase;
    MemoryTable table;
    int64_t next_micros = 1;
    for (int step = 0; step < 40; ++step) {
      const std::string value = std::to_string(step);
      if (random.Uniform(5) == 0) {
        RowEdit edit;
        (void)MakeSettleEdit(kRow, RowOf(hbase), {}, &edit);
        hbase.Apply(edit.change);
        EXPECT_EQ(CellsAlone(RowOf(hbase)), 0u);
      } else if (random.Uniform(5) == 0) {
        const int64_t start = static_cast<int64_t>(random.Uniform(static_cast<uint64_t>(next_micros)));
        const RowDelta deletion{.families = {{.family = 1, .deletes = {{"a", {start, start + 10}}}}}};
        Apply(deletion, &hbase);
        table.Apply(kRow, deletion);
      } else {
        const RowDelta puts{
            .families = {{.family = 1, .puts = {{"a", next_micros + 1, value}, {"a", next_micros, value}}}}};
        next_micros += 2;
        RowEdit edit;
        ASSERT_TRUE(MakePackedPuts(kRow, puts, CellStorage::kPackedAtOnce, step, &random, &edit));
        hbase.Apply(edit.change);
        table.Apply(kRow, puts);
      }
      const MemoryRow* const wanted = table.Find(kRow);
      ASSERT_EQ(SeenOf(RowOf(hbase).Families()),
                wanted == nullptr ? Seen() : SeenOf(SelectCells(*wanted, {})))
          << "seed " << seed << " step " << step;
    }
  }
}

PlayedHBase WithPuts(const RowDelta& puts) {
  PlayedHBase hbase;
  Apply(puts, &hbase);
  return hbase;
}

TEST(SettleEdit, ARowWithANewCellIsLeftAlone) {
  const PlayedHBase hbase = WithPuts({.families = {{.family = 1, .puts = {{"q", 100, "v"}, {"q", 1, "v"}}}}});
  RowEdit edit;
  EXPECT_EQ(MakeSettleEdit(kRow, RowOf(hbase), {.newest_micros = 99}, &edit), 0u);
  EXPECT_TRUE(edit.is_empty());
  EXPECT_EQ(MakeSettleEdit(kRow, RowOf(hbase), {.newest_micros = 100}, &edit), 2u);
}

TEST(SettleEdit, FewCellsAreLeftAloneUntilThereIsAValue) {
  PlayedHBase hbase = WithPuts({.families = {{.family = 1, .puts = {{"q", 2, "v"}, {"q", 1, "v"}}}}});
  RowEdit none, edit, more;
  EXPECT_EQ(MakeSettleEdit(kRow, RowOf(hbase), {.cells_min = 3}, &none), 0u);
  EXPECT_EQ(MakeSettleEdit(kRow, RowOf(hbase), {.cells_min = 2}, &edit), 2u);
  hbase.Apply(edit.change);
  Apply({.families = {{.family = 1, .puts = {{"q", 3, "v"}}}}}, &hbase);
  EXPECT_EQ(MakeSettleEdit(kRow, RowOf(hbase), {.cells_min = 3}, &more), 1u);
}

TEST(SettleEdit, LongValuesStayByThemselves) {
  const std::string long_value(kPackedCellBytesMax + 1, 'v');
  PlayedHBase hbase = WithPuts(
      {.families = {{.family = 1, .puts = {{"long", 2, long_value}, {"long", 1, "v"}, {"q", 1, "v"}}}}});
  const Seen before = SeenOf(RowOf(hbase).Families());
  RowEdit edit;
  EXPECT_EQ(MakeSettleEdit(kRow, RowOf(hbase), {}, &edit), 1u);
  hbase.Apply(edit.change);
  EXPECT_EQ(CellsAlone(RowOf(hbase)), 2u);
  EXPECT_EQ(SeenOf(RowOf(hbase).Families()), before);

  // A family that would be too long does not keep others from being packed.
  std::deque<std::string> names;
  FamilyDelta wide{.family = 2};
  const std::string value(kPackedCellBytesMax, 'w');
  for (int i = 100; i < 200; ++i) wide.puts.push_back({names.emplace_back(std::to_string(i)), 1, value});
  Apply({.families = {{.family = 1, .puts = {{"r", 1, "v"}}}, wide}}, &hbase);
  RowEdit second;
  EXPECT_EQ(MakeSettleEdit(kRow, RowOf(hbase), {}, &second), 1u);
  hbase.Apply(second.change);
  EXPECT_EQ(CellsAlone(RowOf(hbase)), 102u);
}

}  // namespace
}  // namespace sonde
