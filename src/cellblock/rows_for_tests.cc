#include "cellblock/rows_for_tests.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <utility>

#include "absl/types/span.h"
#include "cellblock/page_cursor.h"

namespace sonde {
namespace {

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

}  // namespace

std::ostream& operator<<(std::ostream& out, const Row& row) {
  out << row.key << " (" << row.cells.size() << " cells)";
  return out;
}

std::vector<CellView> Views(const std::vector<Cell>& cells) {
  std::vector<CellView> views;
  for (const Cell& cell : cells) views.push_back({cell.qualifier, cell.timestamp_micros, cell.value});
  return views;
}

std::vector<std::string> MakePages(const Rows& rows, PageLimits limits) {
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

std::unique_ptr<PageReader> OpenPage(std::string_view page) {
  absl::StatusOr<std::unique_ptr<PageReader>> reader = PageReader::Open(page);
  EXPECT_TRUE(reader.ok()) << reader.status();
  return reader.ok() ? *std::move(reader) : nullptr;
}

void Read(std::string_view page, const RowRange& range, const ReadHints& hints, bool reverse, Rows* rows) {
  const std::unique_ptr<PageReader> reader = OpenPage(page);
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

Rows MakeRows(RandomSource* random, Kind kind, int count) {
  Rows rows;
  for (int i = 0; i < count; ++i) rows.push_back(MakeRow(random, kind, i));
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.key < b.key; });
  rows.erase(std::unique(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.key == b.key; }),
             rows.end());
  return rows;
}

}  // namespace sonde
