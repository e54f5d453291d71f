#include "engine/hbase/packed/packed_merge.h"

#include <gtest/gtest.h>

#include <map>
#include <tuple>
#include <utility>

#include "base/random.h"
#include "engine/hbase/packed/packed_cells.h"

namespace sonde {
namespace {

using Cells = std::map<std::tuple<FamilyId, std::string, int64_t>, std::string>;  // times inverted

std::vector<CellView> ViewsOf(const Cells& cells, FamilyId family) {
  std::vector<CellView> views;
  for (const auto& [place, value] : cells) {
    if (std::get<0>(place) == family) views.push_back({std::get<1>(place), -std::get<2>(place), value});
  }
  return views;
}

Cells SeenIn(const std::deque<RowPiece>& pieces, const std::string& row_key) {
  Cells seen;
  std::tuple<FamilyId, std::string, int64_t> last;
  for (const RowPiece& piece : pieces) {
    EXPECT_EQ(piece.row_key, row_key);
    for (const CellView& cell : piece.cells) {
      const std::tuple place{piece.family, std::string(cell.qualifier), -cell.timestamp_micros};
      EXPECT_TRUE(seen.empty() || last < place);
      last = place;
      seen[place] = std::string(cell.value);
    }
  }
  return seen;
}

Cells RandomCells(RandomSource* random, const std::string& value) {
  Cells cells;
  for (uint64_t i = random->Uniform(8); i > 0; --i) {
    const auto family = static_cast<FamilyId>(1 + random->Uniform(3));
    cells[{family, std::string(1, static_cast<char>('a' + random->Uniform(3))),
           -static_cast<int64_t>(random->Uniform(4))}] = value;
  }
  return cells;
}

// Settled, written twice, by themselves: the later ones stand for the earlier ones.
TEST(PackedMerge, RandomRowsComeInOrder) {
  PackedMerge merge({});
  SeededRandom random(3);
  for (int i = 0; i < 2'000; ++i) {
    const std::string row_key = "row" + std::to_string(i);
    const std::vector<Cells> layers = {RandomCells(&random, "settled"), RandomCells(&random, "written"),
                                       RandomCells(&random, "written again"), RandomCells(&random, "alone")};
    Cells wanted;
    for (const Cells& layer : layers) {
      for (const auto& [place, value] : layer) wanted[place] = value;
    }
    std::map<std::pair<std::string, std::string>, std::string> stored;  // as HBase sorts them
    for (size_t layer = 0; layer < 3; ++layer) {
      for (FamilyId family = 1; family <= 3; ++family) {
        std::vector<CellView> views = ViewsOf(layers[layer], family);
        if (views.empty()) continue;
        const bool is_settled = layer == 0;
        stored[{is_settled ? "b" : "c",
                is_settled ? SettledQualifier(family)
                           : WrittenQualifier(family, static_cast<int64_t>(layer), &random)}] =
            PackCells(family, std::move(views));
      }
    }
    for (const auto& [column, value] : stored) {
      const hbase::Cell cell{row_key, column.first, column.second, 1, hbase::CellType::kPut, value};
      ASSERT_TRUE(merge.Add(row_key, cell).ok());
    }
    std::deque<RowPiece> pieces;
    for (const auto& [place, value] : layers[3]) {
      const CellView cell{std::get<1>(place), -std::get<2>(place), value};
      if (!merge.has_left()) {
        AppendCell(row_key, std::get<0>(place), cell, &pieces);
      } else {
        ASSERT_TRUE(merge.Give(std::get<0>(place), cell, &pieces).ok());
      }
    }
    ASSERT_TRUE(merge.GiveRest(&pieces).ok());
    EXPECT_FALSE(merge.has_left());
    ASSERT_EQ(SeenIn(pieces, row_key), wanted) << i;
  }
}

// HBase gives the newest of the cells by themselves.  A packed cell that an older one of these stands for is of the past.
TEST(PackedMerge, WhoAsksForTheNewestGetsNoCellOfThePast) {
  PackedMerge merge({.newest_per_column = 2});
  const std::string value = PackCells(1, {{"p", 1, "p"}, {"q", 3, "old"}, {"q", 2, "old"}, {"q", 1, "old"}});
  const hbase::Cell packed{"row", "b", SettledQualifier(1), 1, hbase::CellType::kPut, value};
  ASSERT_TRUE(merge.Add("row", packed).ok());
  std::deque<RowPiece> pieces;
  for (const int64_t micros : {5, 4}) ASSERT_TRUE(merge.Give(1, {"q", micros, "new"}, &pieces).ok());
  ASSERT_TRUE(merge.GiveRest(&pieces).ok());
  EXPECT_EQ(SeenIn(pieces, "row"),
            (Cells{{{1, "p", -1}, "p"}, {{1, "q", -5}, "new"}, {{1, "q", -4}, "new"}}));
}

TEST(PackedMerge, WhatNobodyPutIsDataLoss) {
  using std::string_literals::operator""s;
  SeededRandom random(1);
  const std::string written = WrittenQualifier(1, 5, &random);
  for (const auto& [family, qualifier] :
       std::vector<std::pair<std::string, std::string>>{{"b", ""},
                                                        {"b", "\0\0\0\0"s},
                                                        {"b", "\0\0\0\1\0\0\0\1"s},
                                                        {"b", written},
                                                        {"c", SettledQualifier(1)},
                                                        {"c", written + "x"},
                                                        {"b", SettledQualifier(1) + "x"}}) {
    PackedMerge merge({});
    EXPECT_TRUE(absl::IsDataLoss(merge.Add("row", {"row", family, qualifier, 1}))) << family;
  }
  PackedMerge merge({});
  ASSERT_TRUE(
      merge.Add("row", {"row", "b", SettledQualifier(1), 1, hbase::CellType::kPut, "no fragment"}).ok());
  std::deque<RowPiece> pieces;
  EXPECT_TRUE(absl::IsDataLoss(merge.GiveRest(&pieces)));
}

}  // namespace
}  // namespace sonde
