// Rows that come in parts are those that come whole.
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "table/mutate_row_test_support.h"
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
    if (*step == RowReader::Step::kPaused) {
      EXPECT_TRUE(!in_row || reader->in_row());
      continue;
    }
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
      ASSERT_TRUE(MutateRow(tables, *schema, {row, mutations}).ok());
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

// Reads on as a client would for whom rows are begun once more, now and then within a row, or one that was
// whole.
Seen ReadWithRestarts(RowReader* reader, SeededRandom* random, int* restarts) {
  Seen seen;
  std::string row;
  while (true) {
    const auto step = reader->Next(2);
    EXPECT_TRUE(step.ok()) << step.status();
    if (!step.ok() || *step == RowReader::Step::kEnd) break;
    if (*step == RowReader::Step::kRow || *step == RowReader::Step::kPart) {
      if (row.empty()) row = reader->row_key() + ":";
      for (const FilterCell& cell : reader->cells()) {
        row += " " + reader->family_name(cell) + ":" + std::string(cell.cell.qualifier) + "@" +
               std::to_string(cell.cell.timestamp_micros) + "=" + std::string(cell.cell.value);
      }
    }
    const bool again = *step == RowReader::Step::kRow && random->Uniform(4) == 0;
    if (again || random->Uniform(4) == 0) {
      // A row that was given out to its end is not given out again, unless that is asked for.
      if (*step == RowReader::Step::kRow && !again) seen.cells += row + "\n";
      if (again || reader->in_row() || *step == RowReader::Step::kRow) row.clear();
      reader->Restart(again);
      ++*restarts;
    } else if (*step == RowReader::Step::kRow) {
      seen.cells += std::exchange(row, "") + "\n";
    }
  }
  EXPECT_EQ(row, "");
  seen.stats = reader->stats();
  return seen;
}

TEST_F(TablesTest, ReadsThatAreBegunAgainWithinARowAreTheSame) {
  SeededRandom random(12);
  int restarts = 0;
  for (int round = 0; round < 40; ++round) {
    const auto engine = MemoryEngine::Create({.cells_per_piece_max = 1 + random.Uniform(4)});
    const auto catalog = *Catalog::Open(engine.get());
    Tables tables(engine.get(), catalog.get(), &clock_, /*seed=*/1);
    const TableSchemaRef schema = *catalog->Create(*schema_);
    for (int i = 0; i < 60; ++i) {
      const std::string row(1, static_cast<char>('a' + random.Uniform(8)));
      const std::string qualifier(1, static_cast<char>('p' + random.Uniform(3)));
      const std::vector<Mutation> mutations = {SetCell{"z", qualifier, kNow + i * 1'000, std::to_string(i)}};
      ASSERT_TRUE(MutateRow(tables, *schema, {row, mutations}).ok());
    }
    for (const bool reversed : {false, true}) {
      for (const bool in_parts : {false, true}) {
        const auto open = [&] {
          auto reader = tables.Read(
              schema,
              {.ranges = {RowRange::All()}, .rows_limit = 6, .reversed = reversed, .in_parts = in_parts});
          EXPECT_TRUE(reader.ok());
          return *std::move(reader);
        };
        const auto plain_reader = open(), reader = open();
        const Seen plain = ReadAll(plain_reader.get());
        const Seen again = ReadWithRestarts(reader.get(), &random, &restarts);
        EXPECT_EQ(again.cells, plain.cells) << "round " << round;
        EXPECT_EQ(again.stats.rows_seen, plain.stats.rows_seen);
        EXPECT_EQ(again.stats.rows_returned, plain.stats.rows_returned);
        EXPECT_EQ(again.stats.cells_seen, plain.stats.cells_seen);
        EXPECT_EQ(again.stats.cells_returned, plain.stats.cells_returned);
      }
    }
  }
  EXPECT_GT(restarts, 100);
}

FilterSpec Chain(std::vector<FilterSpec> filters) { return {FilterSpec::Chain{std::move(filters)}}; }
FilterSpec Interleave(std::vector<FilterSpec> filters) {
  return {FilterSpec::Interleave{std::move(filters)}};
}

TEST_F(TablesTest, PartsAreFilteredAsTheWholeIs) {
  const FilterSpec all{FilterSpec::PassAll{}}, none{FilterSpec::BlockAll{}}, strip{FilterSpec::StripValue{}},
      label{FilterSpec::ApplyLabel{"l"}}, sink{FilterSpec::Sink{}}, some{FilterSpec::ValueRegex{".*[02468]"}},
      column{FilterSpec::QualifierRegex{"[pq]"}}, family{FilterSpec::FamilyRegex{"day|z"}},
      row{FilterSpec::RowKeyRegex{"[a-d]"}}, mask{FilterSpec::ValueBitmask{"\x31"}},
      late{FilterSpec::TimestampRange{{kNow - 70'000 * kSecond, 0}}},
      range{FilterSpec::ColumnRange{"last", {Bound::Kind::kClosed, "q"}, {}}},
      values{FilterSpec::ValueRange{{Bound::Kind::kClosed, "3"}, {}}};
  const std::vector<FilterSpec> alone = {some,
                                         column,
                                         family,
                                         row,
                                         mask,
                                         late,
                                         range,
                                         values,
                                         none,
                                         Chain({some, strip}),
                                         Interleave({column, some, Chain({late, label})}),
                                         Chain({Interleave({all, Chain({some, sink})}), family}),
                                         Chain({row, Interleave({Chain({range, label}), strip, sink})})};
  const std::vector<FilterSpec> whole = {
      {FilterSpec::CellsPerRowLimit{2}},
      {FilterSpec::CellsPerRowOffset{1}},
      Chain({some, {FilterSpec::CellsPerColumnLimit{1}}}),
      {FilterSpec::Condition{std::make_shared<FilterSpec>(mask), std::make_shared<FilterSpec>(all), nullptr}},
      Interleave({some, {FilterSpec::RowSample{0.5}}})};
  const auto engine = MemoryEngine::Create({.honour_hints = false, .cells_per_piece_max = 2});
  const auto catalog = *Catalog::Open(engine.get());
  const TableSchemaRef schema = *catalog->Create(*schema_);
  SeededRandom random(12);
  {
    Tables tables(engine.get(), catalog.get(), &clock_, /*seed=*/1);
    for (int i = 0; i < 200; ++i) {
      const std::string row_key(1, static_cast<char>('a' + random.Uniform(6)));
      const std::string qualifier(1, static_cast<char>('p' + random.Uniform(3)));
      const char* const name = std::vector<const char*>{"z", "last", "day"}[random.Uniform(3)];
      const int64_t timestamp = kNow - static_cast<int64_t>(random.Uniform(20)) * 4'000 * kSecond;
      const std::string value = std::to_string(i);
      const std::vector<Mutation> set = {SetCell{name, qualifier, timestamp, value}};
      ASSERT_TRUE(MutateRow(tables, *schema, {row_key, set}).ok());
    }
  }
  const auto read = [&](const FilterSpec& filter, bool in_parts) {
    Tables tables(engine.get(), catalog.get(), &clock_, /*seed=*/1);  // draws the same samples each time
    auto reader = tables.Read(
        schema,
        {.ranges = {RowRange::All()}, .filter = Filter(filter), .rows_limit = 5, .in_parts = in_parts});
    EXPECT_TRUE(reader.ok());
    return ReadAll(reader->get());
  };
  int parts = 0;
  for (size_t i = 0; i < alone.size(); ++i) {
    const Seen once = read(alone[i], false), in_parts = read(alone[i], true);
    EXPECT_EQ(in_parts.cells, once.cells) << "filter " << i;
    EXPECT_EQ(in_parts.stats.rows_returned, once.stats.rows_returned) << "filter " << i;
    EXPECT_EQ(in_parts.stats.cells_returned, once.stats.cells_returned) << "filter " << i;
    EXPECT_EQ(once.parts, 0);
    parts += in_parts.parts;
  }
  EXPECT_GT(parts, 100);
  for (const FilterSpec& filter : whole) {
    const Seen once = read(filter, false), in_parts = read(filter, true);
    EXPECT_EQ(in_parts.cells, once.cells);
    EXPECT_EQ(in_parts.parts, 0);
    EXPECT_NE(once.cells, "");
  }
}

TEST_F(TablesTest, WhatIsPutTogetherHasABound) {
  const auto engine = MemoryEngine::Create({.cells_per_piece_max = 1});
  ASSERT_TRUE(engine->CreateTable({.id = 1}).ok());
  const std::string value(1000, 'v');
  for (const char* row : {"a", "b"}) {
    RowDelta delta;
    delta.families.push_back({.family = schema_->FindFamily("z")->id, .puts = {{"q", 1000, value}}});
    if (row[0] == 'b') delta.families[0].puts.push_back({"r", 1000, value});
    ASSERT_TRUE(engine->Apply(1, {{row, delta}}).ok());
  }
  const VisibleCells visible(schema_, kNow, nullptr);
  for (const size_t bytes_max : {1500, 500}) {
    auto stream = engine->Scan(1, {RowRange::All()}, {});
    ASSERT_TRUE(stream.ok());
    RowAssembler assembler(*std::move(stream), &visible, nullptr, bytes_max);
    std::string row_key;
    std::vector<FilterCell> cells;
    absl::StatusOr<bool> more = assembler.Next(&row_key, &cells);
    for (int rows = 1; more.ok() && *more; ++rows) {
      EXPECT_EQ(cells.size(), rows);
      more = assembler.Next(&row_key, &cells);
    }
    EXPECT_EQ(more.status().code(),
              bytes_max == 500 ? absl::StatusCode::kFailedPrecondition : absl::StatusCode::kOk)
        << more.status();
  }
}

TEST_F(TablesTest, WhatIsPutTogetherTakesRoom) {
  const auto engine = MemoryEngine::Create({.cells_per_piece_max = 1});
  ASSERT_TRUE(engine->CreateTable({.id = 1}).ok());
  const std::string value(RowAssembler::kRowUncountedBytes / 2, 'v');
  for (const int cells : {1, 8, 2}) {
    RowDelta delta;
    delta.families.push_back({.family = schema_->FindFamily("z")->id});
    for (int64_t i = 0; i < cells; ++i) delta.families[0].puts.push_back({"q", 9'000 - i * 1'000, value});
    ASSERT_TRUE(engine->Apply(1, {{std::string(1, static_cast<char>('a' + cells)), delta}}).ok());
  }
  const VisibleCells visible(schema_, kNow, nullptr);
  for (const size_t limit : {SIZE_MAX, 6 * value.size()}) {
    auto stream = engine->Scan(1, {RowRange::All()}, {});
    ASSERT_TRUE(stream.ok());
    size_t taken = 0, most = 0;
    {
      RowAssembler assembler(*std::move(stream), &visible, [&](size_t bytes) {
        if (bytes > limit) return absl::UnavailableError("busy");
        taken = bytes;
        most = std::max(most, taken);
        return absl::OkStatus();
      });
      std::string row_key;
      std::vector<FilterCell> cells;
      for (const size_t wanted : {1, 2, 8}) {
        const absl::StatusOr<bool> more = assembler.Next(&row_key, &cells);
        if (wanted == 8 && limit != SIZE_MAX) {
          EXPECT_EQ(more.status().message(), "busy");
          continue;
        }
        ASSERT_TRUE(more.ok() && *more) << more.status();
        EXPECT_EQ(cells.size(), wanted);
        // All but the last are copies.
        EXPECT_GE(taken + RowAssembler::kRowUncountedBytes, (wanted - 1) * value.size());
        EXPECT_EQ(taken > 0, wanted == 8);
      }
    }
    EXPECT_GT(most, 0u);
    EXPECT_EQ(taken, 0u) << "given back at the end";
  }
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
