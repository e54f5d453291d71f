#include "engine/hbase/packed_edit.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "base/random.h"
#include "engine/hbase/packed/packed_cells.h"
#include "engine/hbase/played_hbase_test_support.h"
#include "engine/memory/memory_table.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

constexpr char kRow[] = "row";

EditNeeds NeedsWithPacked(const RowDelta& delta, CellStorage storage) {
  absl::StatusOr<EditNeeds> needs = NeedsOf(delta);
  EXPECT_TRUE(needs.ok()) << needs.status();
  AddPackedNeeds(delta, storage, &*needs);
  return *std::move(needs);
}

StoredRow RowOf(const PlayedHBase& hbase) {
  StoredRow row;
  for (const hbase::Cell& cell : hbase.Cells(kRow)) EXPECT_TRUE(row.Add(cell).ok());
  EXPECT_TRUE(row.Finish().ok());
  return row;
}

TEST(PackedEdit, AllDeletesAreGuarded) {
  const RowDelta put{.families = {{.family = 1, .puts = {{"q", 1, "v"}}}}};
  const RowDelta deletion{.families = {{.family = 1, .deletes = {{"q", {}}}}}};
  EXPECT_FALSE(NeedsWithPacked(put, CellStorage::kPacked).is_guarded);
  EXPECT_TRUE(NeedsWithPacked(deletion, CellStorage::kPacked).is_guarded);
  EXPECT_FALSE(NeedsWithPacked(deletion, CellStorage::kPlain).is_guarded);
  EXPECT_EQ(NeedsWithPacked(deletion, CellStorage::kPlain).choice.storage, CellStorage::kPlain);
}

// A packed cell that another one stands for must not come back when both are deleted.
TEST(PackedEdit, ADeletedCellIsGoneFromBothPlaces) {
  PlayedHBase hbase;
  RowEdit packed;
  PackedRow::Family none;
  none.family = 1;
  WritePacked(none, {{"q", 5, "old"}, {"q", 4, "older"}, {"r", 5, "other"}}, &packed);
  hbase.Apply(packed.change);
  RowEdit put;
  ASSERT_TRUE(MakeEdit(kRow, {.families = {{.family = 1, .puts = {{"q", 5, "new"}}}}}, {}, &put).ok());
  hbase.Apply(put.change);
  EXPECT_EQ(SeenOf(RowOf(hbase).Families()),
            (Seen{{1, "q", 5, "new"}, {1, "q", 4, "older"}, {1, "r", 5, "other"}}));
  const RowDelta deletion{.families = {{.family = 1, .deletes = {{"q", {5, 6}}}}}};
  RowEdit deleted;
  const StoredRow before = RowOf(hbase);
  ASSERT_TRUE(MakeEdit(kRow, deletion, before, &deleted).ok());
  AddPackedEdit(deletion, before, &deleted);
  hbase.Apply(deleted.change);
  EXPECT_EQ(SeenOf(RowOf(hbase).Families()), (Seen{{1, "q", 4, "older"}, {1, "r", 5, "other"}}));
}

TEST(PackedEdit, PutsArePackedAtOnceWhereTheTableWantsThat) {
  SeededRandom random(1);
  const auto pack = [&](const RowDelta& delta, CellStorage storage, RowEdit* edit) {
    return MakePackedPuts(kRow, delta, storage, 77, &random, edit);
  };
  const RowDelta puts{
      .families = {{.family = 1, .puts = {{"q", 1, "v"}}}, {.family = 2, .puts = {{"r", 2, "w"}}}}};
  for (const CellStorage storage : {CellStorage::kPlain, CellStorage::kPacked}) {
    RowEdit edit;
    EXPECT_FALSE(pack(puts, storage, &edit));
    EXPECT_TRUE(edit.is_empty());
  }
  RowEdit edit;
  ASSERT_TRUE(pack(puts, CellStorage::kPackedAtOnce, &edit));
  PlayedHBase hbase;
  hbase.Apply(edit.change);
  EXPECT_EQ(edit.change.puts.size(), 2u);
  EXPECT_EQ(WrittenAt(edit.change.puts[0].qualifier), 77);
  EXPECT_EQ(SeenOf(RowOf(hbase).Families()), (Seen{{1, "q", 1, "v"}, {2, "r", 2, "w"}}));

  const std::string long_value(kPackedCellBytesMax + 1, 'v');
  const std::vector<std::string> pieces = {"a record"};
  RowDelta logged = puts;
  logged.log = {1, pieces};
  for (const RowDelta& other : std::vector<RowDelta>{
           {.families = {{.family = 1, .puts = {{"q", 1, long_value}}}}},
           {.families = {{.family = 1, .deletes = {{"q", {}}}, .puts = {{"r", 1, "v"}}}}},
           {.families = {{.family = 1, .aggregate = AggregateKind::kSum, .adds = {{"q", 1, 1}}}}},
           {.families = {{.family = kExpiringFamilies, .puts = {{"q", 1, "v"}}}}},
           logged}) {
    RowEdit none;
    EXPECT_FALSE(pack(other, CellStorage::kPackedAtOnce, &none));
    EXPECT_TRUE(none.is_empty());
  }
}

TEST(PackedEdit, HBaseIsAskedForThePackedCellsOfTheFamilies) {
  const auto choice = [](const ReadHints& hints, CellStorage storage, bool reverse = false) {
    return HBaseChoiceOf(ChoiceOf(hints, storage), reverse);
  };
  const auto asks_for = [](const std::vector<hbase::QualifierRange>& ranges, const std::string& qualifier) {
    return std::any_of(ranges.begin(), ranges.end(), [&](const hbase::QualifierRange& range) {
      return qualifier >= range.start && (range.end.empty() || qualifier < range.end);
    });
  };
  SeededRandom random(1);
  const std::string settled = SettledQualifier(3), written = WrittenQualifier(3, 9, &random);
  const std::vector<ReadHints::ColumnRange> columns = {{"a", "b"}};
  const ReadHints one{.families = {{3}}, .columns = columns, .time_range = {5, 9}};
  const hbase::CellChoice plain = choice(one, CellStorage::kPlain);
  EXPECT_EQ(plain.families, (std::vector<std::string>{"d"}));
  EXPECT_FALSE(asks_for(plain.qualifiers, settled));
  for (const bool reverse : {false, true}) {
    const hbase::CellChoice packed = choice(one, CellStorage::kPackedAtOnce, reverse);
    EXPECT_EQ(packed.families, (std::vector<std::string>{"d", "b", "c"}));
    EXPECT_EQ(packed.times_of_family, "d");
    EXPECT_TRUE(asks_for(packed.qualifiers, settled));
    EXPECT_TRUE(asks_for(packed.qualifiers, written));
    EXPECT_TRUE(asks_for(packed.qualifiers, UsualColumn(3, "aa")));
    EXPECT_EQ(packed.qualifiers.size(), reverse ? 1u : 3u);
  }
  const hbase::CellChoice keys = choice({.keys_only = true}, CellStorage::kPacked);
  EXPECT_TRUE(keys.keys_only);
  EXPECT_TRUE(asks_for(keys.whole, settled));
  EXPECT_FALSE(asks_for(keys.whole, UsualColumn(3, "aa")));
  EXPECT_FALSE(choice({.keys_only = true}, CellStorage::kPacked, true).keys_only);
  EXPECT_TRUE(choice({}, CellStorage::kPacked).qualifiers.empty());
}

}  // namespace
}  // namespace sonde
