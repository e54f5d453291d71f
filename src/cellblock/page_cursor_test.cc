#include "cellblock/page_cursor.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "base/random.h"
#include "cellblock/page_writer.h"
#include "cellblock/rows_for_tests.h"

namespace sonde {
namespace {

// The rows, and the cells of them, that hints and a range leave.
Rows Select(const Rows& rows, const RowRange& range, const ReadHints& hints, bool reverse) {
  Rows selected;
  for (const Row& row : rows) {
    if (!range.Contains(row.key)) continue;
    Row some{row.key, {}};
    std::map<std::string, int64_t> counts;
    for (const Cell& cell : row.cells) {
      const bool wanted = !hints.columns.has_value() ||
                          std::any_of(hints.columns->begin(), hints.columns->end(),
                                      [&](const ReadHints::ColumnRange& columns) {
                                        return cell.qualifier >= columns.start &&
                                               (columns.end.empty() || cell.qualifier < columns.end);
                                      });
      if (!wanted || !hints.time_range.Contains(cell.timestamp_micros)) continue;
      if (hints.newest_per_column.has_value() && ++counts[cell.qualifier] > *hints.newest_per_column)
        continue;
      some.cells.push_back(hints.keys_only ? Cell{cell.qualifier, cell.timestamp_micros, ""} : cell);
    }
    if (hints.newest_of_row && !some.cells.empty()) {
      some.cells = {*std::ranges::max_element(some.cells, {}, &Cell::timestamp_micros)};
    }
    if (!some.cells.empty()) selected.push_back(std::move(some));
  }
  if (reverse) std::reverse(selected.begin(), selected.end());
  return selected;
}

TEST(PageCursor, GivesWhatIsAskedForAndNoMore) {
  SeededRandom random(4);
  for (int round = 0; round < 30; ++round) {
    for (const Kind kind : kKinds) {
      const Rows rows = MakeRows(&random, kind, static_cast<int>(1 + random.Uniform(120)));
      PageWriter writer;
      for (const Row& row : rows) ASSERT_EQ(writer.Add(row.key, Views(row.cells)), row.cells.size());
      std::string page;
      writer.Finish(&page);
      const auto any_row = [&] { return rows[random.Uniform(rows.size())]; };
      const auto any_cell = [&] {
        const Row row = any_row();
        return row.cells[random.Uniform(row.cells.size())];
      };
      for (int i = 0; i < 6; ++i) {
        RowRange range;
        if (random.Uniform(2) == 0) range.start = any_row().key;
        if (random.Uniform(2) == 0) range.end = any_row().key;
        if (random.Uniform(4) == 0) range = RowRange::Single(any_row().key);
        ReadHints hints;
        if (random.Uniform(2) == 0) {
          std::vector<std::string> ends = {any_cell().qualifier, any_cell().qualifier, any_cell().qualifier};
          std::sort(ends.begin(), ends.end());
          hints.columns.emplace();
          if (ends[0] != ends[1]) hints.columns->push_back({ends[0], ends[1]});
          hints.columns->push_back({ends[2], random.Uniform(2) == 0 ? "" : ends[2] + '\0'});
        }
        if (random.Uniform(2) == 0) hints.time_range.start_micros = any_cell().timestamp_micros;
        if (random.Uniform(2) == 0) hints.time_range.end_micros = any_cell().timestamp_micros;
        if (random.Uniform(2) == 0) hints.newest_per_column = static_cast<int64_t>(1 + random.Uniform(3));
        hints.keys_only = random.Uniform(6) == 0;
        hints.newest_of_row = random.Uniform(6) == 0;
        const bool reverse = random.Uniform(2) == 0;
        Rows got;
        Read(page, range, hints, reverse, &got);
        Rows selected = Select(rows, range, hints, reverse);
        ASSERT_EQ(got, selected) << "kind " << static_cast<int>(kind);

        // Some rows are not wanted, alone and many together.
        const uint64_t seed = random.Uniform(1'000), share = 1 + random.Uniform(8);
        hints.wants_row = [&](std::string_view key) {
          return std::hash<std::string>{}(fmt::format("{} {}", seed, key)) % 8 < share;
        };
        got.clear();
        Read(page, range, hints, reverse, &got);
        std::erase_if(selected, [&](const Row& row) { return !hints.wants_row(row.key); });
        // In reverse it is advice that nobody takes.
        if (reverse) std::erase_if(got, [&](const Row& row) { return !hints.wants_row(row.key); });
        ASSERT_EQ(got, selected) << "kind " << static_cast<int>(kind);
      }
    }
  }
}

// The rows of many ranges, one after the other, with one cursor: near each other and far, of rows that are there and rows between them.
TEST(PageCursor, GivesOneRangeAfterTheOther) {
  SeededRandom random(9);
  for (const Kind kind : kKinds) {
    Rows rows = MakeRows(&random, kind, 900);
    for (Row& row : rows) row.cells.resize(std::min<size_t>(row.cells.size(), 3));
    PageWriter writer;
    for (const Row& row : rows) ASSERT_EQ(writer.Add(row.key, Views(row.cells)), row.cells.size());
    std::string page;
    writer.Finish(&page);
    const std::unique_ptr<PageReader> reader = OpenPage(page);
    for (const uint64_t step : {1, 3, 40, 200}) {
      for (int round = 0; round < 12; ++round) {
        ReadHints hints;
        if (round % 3 == 1) hints.wants_row = [](std::string_view key) { return key.size() % 2 == 0; };
        std::vector<RowRange> ranges;
        for (size_t at = random.Uniform(step + 1); at < rows.size(); at += 1 + random.Uniform(step)) {
          RowRange range = RowRange::Single(rows[at].key);
          if (random.Uniform(3) == 0) range.start += '\0';
          if (random.Uniform(3) == 0) at = std::min(at + random.Uniform(step), rows.size() - 1);
          range.end = rows[at].key + (random.Uniform(2) == 0 ? "" : "\1");
          if (!range.IsEmpty()) ranges.push_back(range);
          if (random.Uniform(100) == 0) ranges.push_back({rows[at].key + "\2", rows[at].key + "\3"});
        }
        if (round % 4 == 3) std::shuffle(ranges.begin(), ranges.end(), std::mt19937(round));
        std::optional<PageCursor> cursor;
        for (const RowRange& range : ranges) {
          if (cursor.has_value()) {
            cursor->Restart(range);
          } else {
            cursor.emplace(reader.get(), range, hints, /*reverse=*/false);
          }
          std::vector<std::string> got, expected;
          RowPiece piece;
          const bool is_whole = random.Uniform(8) != 0;  // or it is left before its end
          for (absl::StatusOr<bool> more = cursor->Next(&piece); more.ok() && *more;
               more = cursor->Next(&piece)) {
            got.emplace_back(piece.row_key);
            if (!is_whole) break;
          }
          for (auto row = std::ranges::lower_bound(rows, range.start, {}, &Row::key);
               row != rows.end() && range.Contains(row->key); ++row) {
            if (!hints.wants_row || hints.wants_row(row->key)) expected.push_back(row->key);
          }
          if (!is_whole && expected.size() > 1) expected.resize(1);
          ASSERT_EQ(got, expected) << "kind " << static_cast<int>(kind) << ", steps of " << step;
        }
      }
    }
  }
}

std::string NumberText(const ColumnView& numbers, size_t i) {
  return numbers.type() == ColumnType::kInt64 ? fmt::format("{}", numbers.ints()[i])
                                              : fmt::format("{}", numbers.doubles()[i]);
}

// The rows that a cursor gives, numbers as text.
Rows ReadNumbers(PageReader* reader, const RowRange& range, const ReadHints& hints, bool reverse,
                 size_t* numbers) {
  PageCursor cursor(reader, range, hints, reverse);
  Rows rows;
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = cursor.Next(&piece);
    EXPECT_TRUE(more.ok()) << more.status();
    if (!more.ok() || !*more) return rows;
    Row& row = rows.emplace_back();
    row.key = piece.row_key;
    for (const CellView& cell : piece.cells) {
      row.cells.push_back({std::string(cell.qualifier), cell.timestamp_micros, std::string(cell.value)});
    }
    for (const NumberColumn& column : piece.numbers) {
      EXPECT_EQ(column.timestamps_micros.size(), column.numbers.size());
      const ReadHints::ColumnRange& wanted = hints.columns->at(column.range);
      EXPECT_TRUE(column.qualifier >= wanted.start && (wanted.end.empty() || column.qualifier < wanted.end));
      *numbers += column.numbers.size();
      for (size_t i = 0; i < column.numbers.size(); ++i) {
        row.cells.push_back(
            {std::string(column.qualifier), column.timestamps_micros[i], NumberText(column.numbers, i)});
      }
    }
    std::stable_sort(row.cells.begin(), row.cells.end(),
                     [](const Cell& a, const Cell& b) { return a.qualifier < b.qualifier; });
  }
}

TEST(PageCursor, NumbersOfColumnsAreThoseOfCells) {
  SeededRandom random(5);
  size_t numbers = 0;
  for (int round = 0; round < 40; ++round) {
    for (const Kind kind : {Kind::kTall, Kind::kBucket, Kind::kBucketWithGaps, Kind::kTallWithGaps}) {
      Rows rows = MakeRows(&random, kind, 150);
      // One column more, which is not all numbers.
      if (random.Uniform(2) == 0) rows[random.Uniform(rows.size())].cells.push_back({"zz", 7, "1e3"});
      for (Row& row : rows) {
        for (Cell& cell : row.cells) {  // as a double is printed
          if (cell.value != "1e3") cell.value = fmt::format("{}", std::stod(cell.value));
        }
      }
      const std::vector<std::string> pages = MakePages(rows);
      ASSERT_EQ(pages.size(), 1u);
      const std::unique_ptr<PageReader> reader = OpenPage(pages[0]);
      ReadHints hints;
      hints.columns.emplace();
      for (const std::string_view column : reader->columns()) {
        if (random.Uniform(3) == 0) continue;
        hints.columns->push_back({std::string(column), std::string(column) + '\0'});
        hints.numbers.push_back(random.Uniform(5) == 0 ? NumberBytes::kBigEndianDouble
                                                       : NumberBytes::kDecimalText);
      }
      if (random.Uniform(5) == 0) {
        hints.columns.emplace(1);
        hints.numbers = {NumberBytes::kDecimalText};
      }
      const auto any_time = [&] { return rows[random.Uniform(rows.size())].cells.front().timestamp_micros; };
      if (random.Uniform(2) == 0) hints.time_range.start_micros = any_time();
      if (random.Uniform(2) == 0) hints.time_range.end_micros = any_time();
      if (random.Uniform(4) == 0) {  // all of it
        hints.time_range = {reader->header().timestamp_micros_min, reader->header().timestamp_micros_max + 1};
      }
      if (random.Uniform(3) == 0) hints.newest_per_column = static_cast<int64_t>(1 + random.Uniform(3));
      const bool reverse = random.Uniform(2) == 0;
      RowRange range;
      if (random.Uniform(2) == 0) range.start = rows[random.Uniform(rows.size())].key;
      ASSERT_EQ(ReadNumbers(reader.get(), range, hints, reverse, &numbers),
                Select(rows, range, hints, reverse))
          << "round " << round << ", kind " << static_cast<int>(kind);
    }
  }
  EXPECT_GT(numbers, 100'000u);
}

// All of a column that is read has to be written as it is asked for, and then there are no cells of it.
TEST(PageCursor, NumbersAreOnlyOfColumnsThatAreWrittenSo) {
  Rows rows;
  for (int i = 0; i < 500; ++i) {
    rows.push_back({fmt::format("row{:04}", i),
                    {{"a", 1000, fmt::format("{}", i * 7 % 100)},
                     {"b", 1000, i == 77 ? "x" : fmt::format("{}", i * 13 % 100)},
                     {"c", 1000, fmt::format("{}.5", i * 17 % 100)}}});
  }
  const std::vector<std::string> pages = MakePages(rows);
  const std::unique_ptr<PageReader> reader = OpenPage(pages[0]);
  for (const NumberBytes of_c : {NumberBytes::kDecimalText, NumberBytes::kBigEndianDouble}) {
    ReadHints hints;
    hints.columns = {{"a", "c"}, {"c", ""}};
    hints.numbers = {NumberBytes::kDecimalText, of_c};
    PageCursor cursor(reader.get(), RowRange::Single("row0005"), hints, false);
    RowPiece piece;
    ASSERT_TRUE(*cursor.Next(&piece));
    const bool c_too = of_c == NumberBytes::kDecimalText;
    ASSERT_EQ(piece.numbers.size(), c_too ? 2u : 1u);
    EXPECT_EQ(piece.numbers[0].qualifier, "a");
    EXPECT_EQ(NumberText(piece.numbers[0].numbers, 0), "35");
    EXPECT_EQ(NumberText(piece.numbers.back().numbers, 0), c_too ? "85.5" : "35");
    ASSERT_EQ(piece.cells.size(), c_too ? 1u : 2u);
    EXPECT_EQ(piece.cells[0].value, "65");
  }
}

}  // namespace
}  // namespace sonde
