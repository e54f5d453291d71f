// Rows that come in parts are those that come whole.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "table/tables_test_support.h"

namespace sonde {
namespace {

struct Seen {
  std::string cells;  // row by row
  ReadStats stats;
  int parts = 0;
};

Seen ReadAll(RowReader* reader) {
  Seen seen;
  bool in_row = false;
  while (true) {
    const auto step = reader->Next(2);
    EXPECT_TRUE(step.ok()) << step.status();
    if (!step.ok() || *step == RowReader::Step::kEnd) break;
    EXPECT_FALSE(in_row && *step == RowReader::Step::kPaused) << "within a row";
    if (*step == RowReader::Step::kPaused) continue;
    const bool ends = *step == RowReader::Step::kRow;
    EXPECT_TRUE((ends && in_row) || !reader->cells().empty());
    if (!in_row) seen.cells += reader->row_key() + ":";
    for (const FilterCell& cell : reader->cells()) {
      seen.cells += " " + reader->family_name(cell) + ":" + std::string(cell.cell.qualifier) + "@" +
                    std::to_string(cell.cell.timestamp_micros) + "=" + std::string(cell.cell.value);
    }
    in_row = !ends;
    if (ends) seen.cells += "\n";
    if (!ends) ++seen.parts;
    if (in_row) reader->Suspend();  // which must not lose the rest
  }
  EXPECT_FALSE(in_row);
  seen.stats = reader->stats();
  return seen;
}

TEST_F(TablesTest, RowsInPartsAreTheSameAsWhole) {
  SeededRandom random(11);
  int parts = 0;
  for (int round = 0; round < 40; ++round) {
    const size_t piece_cells = 1 + random.Uniform(4);
    const auto engine =
        MemoryEngine::Create({.honour_hints = random.Uniform(2) == 0, .cells_per_piece_max = piece_cells});
    const auto catalog = *Catalog::Open(engine.get());
    Tables tables(engine.get(), catalog.get(), &clock_, /*seed=*/1);
    const TableSchemaRef schema = *catalog->Create(*schema_);
    for (int i = 0; i < 60; ++i) {
      const std::vector<std::string> families = {"z", "last", "day"};
      const std::string row(1, static_cast<char>('a' + random.Uniform(8)));
      const std::string qualifier(1, static_cast<char>('p' + random.Uniform(3)));
      // Some are older than a day, and more than two of a column are too many of "last".
      const int64_t timestamp = kNow - static_cast<int64_t>(random.Uniform(20)) * 7'200 * kSecond;
      const std::string value = std::to_string(i);
      const std::vector<Mutation> mutations = {
          SetCell{families[random.Uniform(3)], qualifier, timestamp, value}};
      ASSERT_TRUE(tables.MutateRow(*schema, {row, mutations}).ok());
    }
    const auto read = [&](bool in_parts, bool reversed) {
      auto reader = tables.Read(
          schema, {.ranges = {RowRange::All()}, .rows_limit = 6, .reversed = reversed, .in_parts = in_parts});
      EXPECT_TRUE(reader.ok());
      return ReadAll(reader->get());
    };
    for (const bool reversed : {false, true}) {
      const Seen whole = read(false, reversed), in_parts = read(true, reversed);
      EXPECT_EQ(in_parts.cells, whole.cells) << "round " << round;
      EXPECT_EQ(in_parts.stats.rows_seen, whole.stats.rows_seen);
      EXPECT_EQ(in_parts.stats.rows_returned, whole.stats.rows_returned);
      EXPECT_EQ(in_parts.stats.cells_seen, whole.stats.cells_seen);
      EXPECT_EQ(in_parts.stats.cells_returned, whole.stats.cells_returned);
      EXPECT_EQ(whole.parts, 0);
      EXPECT_TRUE(in_parts.parts == 0 || !reversed) << "families may come in any order";
      parts += in_parts.parts;
    }
  }
  EXPECT_GT(parts, 500);
}

// The families' ids are not in the order of their names then.
TEST_F(TablesTest, RowsComeWholeWhereFamiliesWouldComeInAnotherOrder) {
  schema_ = *catalog_->Modify(schema_->name, {CreateFamily{{.name = "a"}}});
  Put("r", {SetCell{"z", "q", kNow, "1"}, SetCell{"a", "q", kNow, "2"}});
  auto reader = tables_.Read(schema_, {.ranges = {RowRange::All()}, .in_parts = true});
  ASSERT_TRUE(reader.ok());
  const Seen seen = ReadAll(reader->get());
  EXPECT_EQ(seen.parts, 0);
  EXPECT_EQ(seen.cells, "r: a:q@1600000000000000=2 z:q@1600000000000000=1\n");
}

}  // namespace
}  // namespace sonde
