// Random changes of a row, made into markers and puts, against the reference engine's table: HBase is played by its rule for families
// with NEW_VERSION_BEHAVIOR.
#include "engine/hbase/row_edit.h"

#include <gtest/gtest.h>

#include <map>
#include <set>
#include <tuple>

#include "base/random.h"
#include "base/varint.h"
#include "engine/memory/memory_table.h"
#include "model/expiring_family.h"

namespace sonde {
namespace {

// A put is seen unless a marker that covers it came later or with it, or another put of its place came later.
class PlayedHBase {
 public:
  void Apply(const hbase::RowChange& change) {
    ++commit_;
    for (const hbase::Cell& put : change.puts)
      puts_[{std::string(put.family), std::string(put.qualifier), -put.timestamp}] = {commit_,
                                                                                      std::string(put.value)};
    for (const hbase::Cell& marker : change.markers) {
      ASSERT_LE(marker.timestamp, hbase::kTimestampMax);
      std::erase_if(puts_, [&](const auto& put) {
        const auto& [family, qualifier, time] = put.first;
        if (family != marker.family) return false;
        if (marker.type == hbase::CellType::kDeleteFamily) return -time <= marker.timestamp;
        if (qualifier != marker.qualifier) return false;
        return marker.type == hbase::CellType::kDeleteColumn ? -time <= marker.timestamp
                                                             : -time == marker.timestamp;
      });
    }
  }
  // What is seen, in HBase's order.
  std::vector<hbase::Cell> Cells(const std::string& row) const {
    std::vector<hbase::Cell> cells;
    for (const auto& [place, put] : puts_) {
      const auto& [family, qualifier, time] = place;
      cells.push_back({row, family, qualifier, -time, hbase::CellType::kPut, put.second});
    }
    return cells;
  }

 private:
  uint64_t commit_ = 0;
  std::map<std::tuple<std::string, std::string, int64_t>, std::pair<uint64_t, std::string>> puts_;
};

struct Words {
  explicit Words(RandomSource* source) : random(source) {}
  std::string_view Qualifier() {
    static const std::vector<std::string> qualifiers = {"", std::string(1, '\0'), "a", "ab",
                                                        std::string("a\0\2", 3)};
    return qualifiers[random->Uniform(qualifiers.size())];
  }
  int64_t Micros() {
    static const std::vector<int64_t> times = {0, 1, 2, 1000, INT64_MAX - 1, INT64_MAX};
    return times[random->Uniform(times.size())];
  }
  RandomSource* random;
};

FamilyDelta DeltaOf(FamilyId family, AggregateKind aggregate, Words* words, std::deque<std::string>* values) {
  FamilyDelta delta{.family = family, .aggregate = aggregate, .delete_all = words->random->Uniform(6) == 0};
  std::map<std::string_view, TimeRange> deletes;
  for (uint64_t i = words->random->Uniform(3); i > 0; --i) {
    const int64_t start = words->random->Uniform(2) == 0 ? 0 : words->Micros();
    const int64_t end = words->random->Uniform(2) == 0 ? 0 : words->Micros();
    if (end != 0 && end <= start) continue;
    deletes[words->Qualifier()] = {start, end};
  }
  for (const auto& [qualifier, range] : deletes) delta.deletes.push_back({qualifier, range});
  std::map<std::pair<std::string_view, int64_t>, bool>
      written;  // by place, newest first: whether it is an add
  for (uint64_t i = words->random->Uniform(4); i > 0; --i)
    written[{words->Qualifier(), -words->Micros()}] =
        aggregate != AggregateKind::kNone && words->random->Uniform(3) > 0;
  for (const auto& [place, is_add] : written) {
    const int64_t number = static_cast<int64_t>(words->random->Uniform(100));
    if (is_add) {
      delta.adds.push_back({place.first, -place.second, number});
      continue;
    }
    std::string& value = values->emplace_back();
    PutFixed64(&value, static_cast<uint64_t>(number));
    delta.puts.push_back({place.first, -place.second, value});
  }
  return delta;
}

using Seen = std::vector<std::tuple<FamilyId, std::string, int64_t, std::string>>;

Seen SeenOf(const std::vector<RowFamily>& families) {
  Seen seen;
  for (const RowFamily& family : families) {
    for (const CellView& cell : family.cells)
      seen.emplace_back(family.family, std::string(cell.qualifier), cell.timestamp_micros,
                        std::string(cell.value));
  }
  return seen;
}

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
