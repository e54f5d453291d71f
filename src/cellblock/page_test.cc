#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <optional>
#include <random>

#include "base/random.h"
#include "base/varint.h"
#include "cellblock/page_fuzz.h"
#include "cellblock/page_reader.h"
#include "cellblock/page_writer.h"

namespace sonde {
namespace {

// Rows of one family, by the order of cells.
struct Cell {
  std::string qualifier;
  int64_t timestamp_micros = 0;
  std::string value;
  bool operator==(const Cell&) const = default;
};
struct Row {
  std::string key;
  std::vector<Cell> cells;
  bool operator==(const Row&) const = default;
};
using Rows = std::vector<Row>;

std::ostream& operator<<(std::ostream& out, const Row& row) {
  out << row.key << " (" << row.cells.size() << " cells)";
  return out;
}

std::vector<CellView> Views(const std::vector<Cell>& cells) {
  std::vector<CellView> views;
  for (const Cell& cell : cells) views.push_back({cell.qualifier, cell.timestamp_micros, cell.value});
  return views;
}

std::vector<std::string> MakePages(const Rows& rows, PageLimits limits = {}) {
  std::vector<std::string> pages;
  PageWriter writer(limits);
  for (const Row& row : rows) {
    const std::vector<CellView> views = Views(row.cells);
    absl::Span<const CellView> left = views;
    while (!left.empty()) {
      left.remove_prefix(writer.Add(row.key, left));
      if (!left.empty()) writer.Finish(&pages.emplace_back());
    }
  }
  writer.Finish(&pages.emplace_back());
  return pages;
}

std::unique_ptr<PageReader> Open(std::string_view page) {
  absl::StatusOr<std::unique_ptr<PageReader>> reader = PageReader::Open(page);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader.ok() ? *std::move(reader) : nullptr;
}

// Rows that a cursor gives; pieces of one row are joined.
void Read(std::string_view page, const RowRange& range, const ReadHints& hints, bool reverse, Rows* rows) {
  const std::unique_ptr<PageReader> reader = Open(page);
  ASSERT_NE(reader, nullptr);
  PageCursor cursor(reader.get(), range, hints, reverse);
  RowPiece piece;
  while (true) {
    const absl::StatusOr<bool> more = cursor.Next(&piece);
    ASSERT_TRUE(more.ok()) << more.status();
    if (!*more) return;
    ASSERT_FALSE(piece.cells.empty());
    if (rows->empty() || rows->back().key != piece.row_key) rows->push_back({piece.row_key, {}});
    for (const CellView& cell : piece.cells) {
      rows->back().cells.push_back(
          {std::string(cell.qualifier), cell.timestamp_micros, std::string(cell.value)});
    }
  }
}

Rows ReadAll(const std::vector<std::string>& pages) {
  Rows rows;
  for (const std::string& page : pages) Read(page, RowRange::All(), {}, false, &rows);
  return rows;
}

// What hints and a range leave of rows.
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

constexpr int64_t kStart = 1'467'000'000'000'000;
constexpr int64_t kSecond = 1'000'000;

// Tables of the kinds that pages are made for, and of none.
enum class Kind { kTall, kBucket, kBucketWithGaps, kTallWithGaps, kWide, kTimeInQualifier, kAnything };
constexpr Kind kKinds[] = {Kind::kTall, Kind::kBucket,          Kind::kBucketWithGaps, Kind::kTallWithGaps,
                           Kind::kWide, Kind::kTimeInQualifier, Kind::kAnything};

std::string Name(int column) { return fmt::format("metric_{}", column); }

void Sort(Row* row) {
  std::sort(row->cells.begin(), row->cells.end(), [](const Cell& a, const Cell& b) {
    return a.qualifier != b.qualifier ? a.qualifier < b.qualifier : a.timestamp_micros > b.timestamp_micros;
  });
  row->cells.erase(std::unique(row->cells.begin(), row->cells.end(),
                               [](const Cell& a, const Cell& b) {
                                 return a.qualifier == b.qualifier &&
                                        a.timestamp_micros == b.timestamp_micros;
                               }),
                   row->cells.end());
}

std::string RandomBytes(RandomSource* random, uint64_t length_max) {
  std::string bytes;
  for (uint64_t i = random->Uniform(length_max); i > 0; --i)
    bytes.push_back(static_cast<char>(random->Next()));
  return bytes;
}

Row MakeRow(RandomSource* random, Kind kind, int i) {
  Row row;
  const int64_t time = kStart + (i % 50) * 10 * kSecond;
  const auto value = [&] { return std::to_string(random->Uniform(100)); };
  switch (kind) {
    case Kind::kTall:
    case Kind::kTallWithGaps:
      row.key = fmt::format("host_{:03}#{}", i / 50, time / kSecond);
      for (int column = 0; column < 10; ++column) {
        if (kind == Kind::kTall || random->Uniform(8) != 0)
          row.cells.push_back({Name(column), time, value()});
      }
      if (row.cells.empty()) row.cells.push_back({Name(0), time, value()});
      break;
    case Kind::kBucket:
    case Kind::kBucketWithGaps:
      row.key = fmt::format("host_{:03}#{}", i / 50, time * 6 / kSecond);
      for (int column = 0; column < 4; ++column) {
        for (int step = 19; step >= 0; --step) {
          if (kind == Kind::kBucketWithGaps && column > 0 && random->Uniform(5) == 0) continue;
          row.cells.push_back({Name(column), time * 6 + step * kSecond, value()});
        }
      }
      break;
    case Kind::kWide:
      row.key = fmt::format("user{}", i);
      for (uint64_t column = 1 + random->Uniform(300); column > 0; --column) {
        row.cells.push_back({fmt::format("item{:06}", random->Uniform(1'000'000)),
                             kStart + static_cast<int64_t>(random->Uniform(1'000'000)) * 1000, value()});
      }
      break;
    case Kind::kTimeInQualifier:
      row.key = fmt::format("series{}", i);
      for (int step = 0; step < 100; ++step) {
        row.cells.push_back(
            {fmt::format("{:04}", step), kStart + step * kSecond, std::to_string(1'000'000 * i + step)});
      }
      break;
    case Kind::kAnything:
      row.key = RandomBytes(random, 12);
      for (uint64_t cell = 1 + random->Uniform(20); cell > 0; --cell) {
        const auto any_time = static_cast<int64_t>(random->Next() >> (1 + random->Uniform(63)));
        row.cells.push_back({RandomBytes(random, 3),
                             random->Uniform(4) == 0 ? INT64_MAX - any_time % 2 : any_time,
                             RandomBytes(random, 40)});
      }
      break;
  }
  Sort(&row);
  return row;
}

Rows MakeRows(RandomSource* random, Kind kind, int count) {
  Rows rows;
  for (int i = 0; i < count; ++i) rows.push_back(MakeRow(random, kind, i));
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.key < b.key; });
  rows.erase(std::unique(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.key == b.key; }),
             rows.end());
  return rows;
}

TEST(Page, GivesBackWhatItWasMadeOf) {
  SeededRandom random(1);
  for (int round = 0; round < 10; ++round) {
    for (const Kind kind : kKinds) {
      const Rows rows = MakeRows(&random, kind, static_cast<int>(1 + random.Uniform(200)));
      ASSERT_EQ(ReadAll(MakePages(rows)), rows) << "kind " << static_cast<int>(kind);
    }
  }
}

TEST(Page, EndsAnywhere) {
  SeededRandom random(2);
  for (int round = 0; round < 8; ++round) {
    for (const Kind kind : kKinds) {
      const Rows rows = MakeRows(&random, kind, 30);
      const PageLimits limits{.cells_max = static_cast<size_t>(1 + random.Uniform(100)),
                              .plain_bytes_max = static_cast<size_t>(1 + random.Uniform(2000))};
      const std::vector<std::string> pages = MakePages(rows, limits);
      EXPECT_GT(pages.size(), 1u);
      ASSERT_EQ(ReadAll(pages), rows);
      for (const std::string& page : pages) EXPECT_LE(ReadPageHeader(page)->cells, limits.cells_max);
    }
  }
}

TEST(Page, WholeRowsAreKeptTogether) {
  SeededRandom random(3);
  const Rows rows = MakeRows(&random, Kind::kTall, 100);
  for (const std::string& page : MakePages(rows, {.cells_max = 101})) {
    EXPECT_EQ(ReadPageHeader(page)->cells % 10, 0u);
  }
}

TEST(Page, HeaderSaysWhatIsInIt) {
  const Rows rows = {{"a", {{"x", 30, "1"}, {"x", 20, "2"}}}, {"ab", {{"y", 10, "3"}}}};
  const std::vector<std::string> pages = MakePages(rows);
  ASSERT_EQ(pages.size(), 1u);
  const absl::StatusOr<PageHeader> header = ReadPageHeader(pages[0]);
  ASSERT_TRUE(header.ok()) << header.status();
  EXPECT_EQ(header->rows, 2u);
  EXPECT_EQ(header->cells, 3u);
  EXPECT_EQ(header->columns, 2u);
  EXPECT_EQ(header->timestamp_micros_min, 10);
  EXPECT_EQ(header->timestamp_micros_max, 30);
  EXPECT_EQ(header->first_row_key, "a");
  EXPECT_EQ(header->last_row_key, "ab");
  const std::unique_ptr<PageReader> reader = Open(pages[0]);
  EXPECT_THAT(reader->columns(), testing::ElementsAre("x", "y"));
  EXPECT_EQ(reader->CellsOf(0), 2u);
  EXPECT_EQ(reader->CellsOf(1), 1u);
}

TEST(Page, GivesWhatIsAskedForAndNoMore) {
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
TEST(Page, GivesOneRangeAfterTheOther) {
  SeededRandom random(9);
  for (const Kind kind : kKinds) {
    Rows rows = MakeRows(&random, kind, 900);
    for (Row& row : rows) row.cells.resize(std::min<size_t>(row.cells.size(), 3));
    PageWriter writer;
    for (const Row& row : rows) ASSERT_EQ(writer.Add(row.key, Views(row.cells)), row.cells.size());
    std::string page;
    writer.Finish(&page);
    const std::unique_ptr<PageReader> reader = Open(page);
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

// What a cursor gives, numbers as text.
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

TEST(Page, NumbersOfColumnsAreThoseOfCells) {
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
      const std::unique_ptr<PageReader> reader = Open(pages[0]);
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
TEST(Page, NumbersAreOnlyOfColumnsThatAreWrittenSo) {
  Rows rows;
  for (int i = 0; i < 500; ++i) {
    rows.push_back({fmt::format("row{:04}", i),
                    {{"a", 1000, fmt::format("{}", i * 7 % 100)},
                     {"b", 1000, i == 77 ? "x" : fmt::format("{}", i * 13 % 100)},
                     {"c", 1000, fmt::format("{}.5", i * 17 % 100)}}});
  }
  const std::vector<std::string> pages = MakePages(rows);
  const std::unique_ptr<PageReader> reader = Open(pages[0]);
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

TEST(Page, ARowOfAMillionColumnsAndOneOfAMillionTimes) {
  Row wide{"row", {}}, long_row{"row", {}};
  for (int i = 0; i < 1'000'000; ++i) {
    wide.cells.push_back({fmt::format("column{:07}", i), kStart, std::to_string(i % 100)});
    long_row.cells.push_back({"value", kStart - i * kSecond, std::to_string(i % 100)});
  }
  for (const Row& row : {wide, long_row}) {
    const std::vector<std::string> pages = MakePages({row});
    EXPECT_GT(pages.size(), 7u);
    size_t bytes = 0;
    for (const std::string& page : pages) bytes += page.size();
    EXPECT_LT(bytes, 100'000u);
    EXPECT_EQ(ReadAll(pages), Rows{row});
  }
}

TEST(Page, OneValueOfAHundredMegabytes) {
  const Rows rows = {{"a", {{"q", 3, "small"}}},
                     {"b", {{"q", 2, std::string(size_t{100} << 20, 'x')}}},
                     {"c", {{"q", 1, "small"}}}};
  const std::vector<std::string> pages = MakePages(rows);
  EXPECT_EQ(pages.size(), 3u);
  EXPECT_TRUE(ReadAll(pages) == rows);
}

TEST(Page, TallAndBucketRowsTakeLessThanThreeTenthsOfAByteACell) {
  // Ten walks of whole numbers, a step a ten seconds, for half a day; the entropy of a step is 2.1 bits.
  SeededRandom random(6);
  const auto step = [&random] {
    double sum = 0;
    for (int i = 0; i < 12; ++i) sum += random.UniformReal();
    return sum - 6;
  };
  constexpr int kSteps = 4320, kStepsPerHour = 360, kHosts = 4, kColumns = 10;
  Rows tall, bucket;
  for (int host = 0; host < kHosts; ++host) {
    std::vector<double> levels(kColumns, 50);
    for (int i = 0; i < kSteps; ++i) {
      const int64_t time = kStart + i * 10 * kSecond;
      const int64_t hour = kStart + i / kStepsPerHour * 3600 * kSecond;
      if (i % kStepsPerHour == 0) bucket.push_back({fmt::format("host_{}#cpu#{}", host, hour / kSecond), {}});
      tall.push_back({fmt::format("host_{}#cpu#{}", host, time / kSecond), {}});
      for (int column = 0; column < kColumns; ++column) {
        levels[column] = std::clamp(levels[column] + step(), 0.0, 100.0);
        const Cell cell{Name(column), time, std::to_string(static_cast<int>(levels[column]))};
        tall.back().cells.push_back(cell);
        bucket.back().cells.push_back(cell);
      }
    }
  }
  for (Row& row : bucket) Sort(&row);
  for (const Rows& rows : {tall, bucket}) {
    size_t bytes = 0;
    for (const std::string& page : MakePages(rows)) bytes += page.size();
    EXPECT_LT(static_cast<double>(bytes) / (kHosts * kSteps * kColumns), 0.30);
  }
}

// Whichever of them a trial looks at, columns that have nothing in common stay apart.
TEST(Page, ARowOfManyColumnsTakesNoMoreThanTwoOfFewer) {
  constexpr int kColumns = 128, kTimes = 360;
  SeededRandom random(7);
  for (const int period : {2, 4, 8, 16, 32}) {
    Row whole{"h", {}};
    Rows halves{{"h", {}}, {"h", {}}};
    for (int column = 0; column < kColumns; ++column) {
      const bool is_constant = column % period < period / 4 + 1;
      int64_t level = int64_t{1} << (column % 40);
      for (int i = kTimes; i > 0; --i) {
        level += static_cast<int64_t>(random.Uniform(8));
        const Cell cell{fmt::format("m{:03}", column), kStart + i * kSecond,
                        is_constant ? "idle" : std::to_string(level)};
        whole.cells.push_back(cell);
        halves[column * 2 / kColumns].cells.push_back(cell);
      }
    }
    size_t bytes = 0;
    for (const Row& half : halves) bytes += MakePages({half}).front().size();
    EXPECT_LT(MakePages({whole}).front().size(), bytes) << "period " << period;
  }
}

TEST(Page, EveryDamageIsFound) {
  SeededRandom random(7);
  for (const Kind kind : kKinds) {
    const std::string page = MakePages(MakeRows(&random, kind, 20))[0];
    for (int round = 0; round < 300; ++round) {
      std::string damaged = page;
      if (random.Uniform(3) == 0) {
        damaged.resize(random.Uniform(damaged.size()));
      } else if (random.Uniform(3) == 0) {
        damaged.insert(random.Uniform(damaged.size()), 1, static_cast<char>(random.Next()));
      } else {
        damaged[random.Uniform(damaged.size())] ^= static_cast<char>(1 << random.Uniform(8));
      }
      if (damaged == page) continue;
      EXPECT_EQ(ReadAnyPage(damaged).status().code(), absl::StatusCode::kDataLoss);
    }
  }
}

TEST(Page, DamageThatTheChecksumsHideIsSurvived) {
  SeededRandom random(8);
  int refused = 0;
  for (int round = 0; round < 50; ++round) {
    const Kind kind = kKinds[random.Uniform(std::size(kKinds))];
    const std::string whole = MakePages(MakeRows(&random, kind, static_cast<int>(1 + random.Uniform(30))))[0];
    for (int i = 0; i < 60; ++i) {
      std::string page = whole;
      for (uint64_t flips = 1 + random.Uniform(3); flips > 0; --flips) {
        page[random.Uniform(page.size())] ^= static_cast<char>(1 << random.Uniform(8));
      }
      SealPage(&page);
      const absl::StatusOr<size_t> cells = ReadAnyPage(page);
      if (!cells.ok()) {
        EXPECT_EQ(cells.status().code(), absl::StatusCode::kDataLoss);
        ++refused;
      }
    }
  }
  EXPECT_GT(refused, 500);
}

TEST(Page, AWriterIsUsedAgain) {
  SeededRandom random(9);
  PageWriter writer;
  for (const Kind kind : kKinds) {
    const Rows rows = MakeRows(&random, kind, 30);
    for (const Row& row : rows) ASSERT_EQ(writer.Add(row.key, Views(row.cells)), row.cells.size());
    std::string page;
    writer.Finish(&page);
    EXPECT_EQ(writer.cells(), 0u);
    ASSERT_EQ(ReadAll({page}), rows);
  }
}

TEST(PageWriterDeathTest, CellsOutOfOrderEndTheProgram) {
  const CellView newer{"q", 20, "v"}, older{"q", 10, "v"}, later_column{"r", 10, "v"};
  PageWriter writer;
  ASSERT_EQ(writer.Add("row b", {newer}), 1u);
  EXPECT_DEATH(writer.Add("row a", {newer}), "CHECK failed: .*key < row_key");
  EXPECT_DEATH(writer.Add("row b", {newer}), "CHECK failed: .*timestamp_micros");
  EXPECT_DEATH(writer.Add("row c", {older, newer}), "CHECK failed: .*timestamp_micros");
  EXPECT_DEATH(writer.Add("row c", {later_column, older}), "CHECK failed: .*qualifier");
  EXPECT_EQ(writer.Add("row b", {older, later_column}), 2u);
}

TEST(PageWriterDeathTest, NoCellsAreNoPage) {
  std::string page;
  EXPECT_DEATH(PageWriter().Finish(&page), "CHECK failed: .*timestamps_");
}

}  // namespace
}  // namespace sonde
