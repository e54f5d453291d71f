#include "hbase/wire/cell_block.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

#include "base/random.h"

namespace sonde::hbase {
namespace {

TEST(CellBlockTest, WritesTheBytesOfAKeyValue) {
  std::string block;
  AppendCell(&block, {"row", "d", "q", 258, CellType::kDeleteColumn, "value"});
  const std::string expected(
      "\0\0\0\x1e\0\0\0\x11\0\0\0\x05"
      "\0\x03row\x01"
      "dq\0\0\0\0\0\0\x01\x02\x0cvalue",
      4 + 30);
  EXPECT_EQ(block, expected);
}

struct OwnedCell {
  std::string row, family, qualifier, value;
  int64_t timestamp = 0;
  CellType type = CellType::kPut;
  Cell View() const { return {row, family, qualifier, timestamp, type, value}; }
};

std::string RandomBytes(RandomSource* random, size_t count_max) {
  std::string bytes(random->Uniform(count_max + 1), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random->Next());
  return bytes;
}

OwnedCell RandomCell(RandomSource* random) {
  constexpr CellType kTypes[] = {CellType::kPut, CellType::kDeleteCell, CellType::kDeleteFamilyAtTime,
                                 CellType::kDeleteColumn, CellType::kDeleteFamily};
  return {RandomBytes(random, random->Uniform(20) == 0 ? kRowBytesMax : 10),
          RandomBytes(random, 5),
          RandomBytes(random, 8),
          RandomBytes(random, 300),
          static_cast<int64_t>(random->Next()),
          kTypes[random->Uniform(std::size(kTypes))]};
}

TEST(CellBlockTest, ReadsWhatWasWritten) {
  SeededRandom random(1);
  for (int round = 0; round < 200; ++round) {
    std::vector<OwnedCell> cells;
    std::string block;
    for (uint64_t i = random.Uniform(8); i > 0; --i) {
      cells.push_back(RandomCell(&random));
      AppendCell(&block, cells.back().View());
    }
    CellReader reader(block);
    for (const OwnedCell& cell : cells) {
      const absl::StatusOr<Cell> read = reader.Next();
      ASSERT_TRUE(read.ok()) << read.status();
      EXPECT_EQ(*read, cell.View());
    }
    EXPECT_TRUE(reader.is_at_end());
  }
}

TEST(CellBlockTest, RefusesEveryCutCell) {
  std::string block;
  AppendCell(&block, {"row", "d", "qualifier", 1, CellType::kPut, "value"});
  for (size_t bytes = 1; bytes < block.size(); ++bytes) {
    CellReader reader(std::string_view(block).substr(0, bytes));
    EXPECT_TRUE(absl::IsDataLoss(reader.Next().status())) << bytes;
  }
}

// Every byte of the lengths and the type is changed: the cell is refused, or read within its bytes.
TEST(CellBlockTest, StaysWithinTheBlockWhateverTheLengthsSay) {
  std::string block;
  AppendCell(&block, {"row", "d", "q", 1, CellType::kPut, "v"});
  for (size_t at = 0; at < block.size(); ++at) {
    for (int byte = 0; byte < 256; ++byte) {
      std::string changed = block;
      changed[at] = static_cast<char>(byte);
      CellReader reader(changed);
      const absl::StatusOr<Cell> cell = reader.Next();
      if (!cell.ok()) continue;
      EXPECT_LE(cell->row.size() + cell->family.size() + cell->qualifier.size() + cell->value.size(),
                changed.size());
    }
  }
}

TEST(CellBlockTest, NamesWhatIsWrong) {
  std::string block;
  AppendCell(&block, {"row", "d", "q", 1, CellType::kPut, "v"});
  block[block.size() - 2] = 99;  // the type
  CellReader reader(block);
  EXPECT_EQ(reader.Next().status(),
            absl::DataLossError("HBase sent bytes that are no cell: the type is unknown"));
}

}  // namespace
}  // namespace sonde::hbase
