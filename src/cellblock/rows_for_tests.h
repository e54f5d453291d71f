// Rows of the kinds that pages are made for, their pages, and what is read of them, for tests.
#pragma once

#include <cstdint>
#include <memory>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "cellblock/page_reader.h"
#include "cellblock/page_writer.h"
#include "model/cell.h"
#include "model/read_hints.h"
#include "model/row_range.h"

namespace sonde {

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

std::ostream& operator<<(std::ostream& out, const Row& row);

std::vector<CellView> Views(const std::vector<Cell>& cells);
std::vector<std::string> MakePages(const Rows& rows, PageLimits limits = {});
// Null after a failure.
std::unique_ptr<PageReader> OpenPage(std::string_view page);
// Rows that a cursor gives; pieces of one row are joined.
void Read(std::string_view page, const RowRange& range, const ReadHints& hints, bool reverse, Rows* rows);
Rows ReadAll(const std::vector<std::string>& pages);

constexpr int64_t kStart = 1'467'000'000'000'000;
constexpr int64_t kSecond = 1'000'000;

// Tables of the kinds that pages are made for, and of none.
enum class Kind { kTall, kBucket, kBucketWithGaps, kTallWithGaps, kWide, kTimeInQualifier, kAnything };
constexpr Kind kKinds[] = {Kind::kTall, Kind::kBucket,          Kind::kBucketWithGaps, Kind::kTallWithGaps,
                           Kind::kWide, Kind::kTimeInQualifier, Kind::kAnything};

std::string Name(int column);
// Into the order of cells, without doubles.
void Sort(Row* row);
Rows MakeRows(RandomSource* random, Kind kind, int count);

}  // namespace sonde
