// Makes pages (cellblock/page.h) from sorted cells.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/types/span.h"
#include "cellblock/page.h"
#include "cellblock/page_format.h"
#include "codec/strings.h"
#include "model/cell.h"

namespace sonde {

struct PageLimits {
  // A page is full at this number of cells.  It must not be more than kPageCellsMax.
  size_t cells_max = size_t{128} << 10;
  // A page is full at this number of bytes of row keys and values before encoding.  A single cell may be
  // larger.
  size_t plain_bytes_max = size_t{1} << 20;
};

// Copies what it is given.  Not for several threads.
class PageWriter {
 public:
  explicit PageWriter(PageLimits limits = {}) : limits_(limits) {}

  // Adds cells of a row.  Keys and cells must ascend (CHECKed): each call has a greater row key than the call
  // before, or later cells of the same row.  Returns how many cells it added.  Fewer than all of them, or none,
  // means that the page is full.
  size_t Add(std::string_view row_key, absl::Span<const CellView> cells);

  // Changes when pages are full, from the current page on.  The current page may be full at once.
  void set_cells_max(size_t cells_max) { limits_.cells_max = cells_max; }

  size_t cells() const { return timestamps_.size(); }

  // Appends the page of all added cells, of which there must be at least one (CHECKed), and begins the next
  // page.
  void Finish(std::string* page);

 private:
  using ColumnId = uint32_t;  // columns are numbered as they first come
  struct Row {
    std::string_view key;
    size_t group = 0;  // index of its first group
  };
  // The cells of one column of a row.
  struct Group {
    ColumnId column = 0;
    size_t cell = 0;  // index of its first cell
  };

  size_t RoomFor(bool same_row, absl::Span<const CellView> cells, size_t* value_bytes) const;
  ColumnId FindColumn(std::string_view qualifier);
  std::string_view Keep(std::string_view bytes);
  size_t CountOf(size_t group) const { return groups_[group + 1].cell - groups_[group].cell; }
  absl::Span<const int64_t> TimesOf(size_t group) const {
    return {timestamps_.data() + groups_[group].cell, CountOf(group)};
  }
  absl::Span<const std::string_view> ValuesOf(size_t group) const {
    return {values_.data() + groups_[group].cell, CountOf(group)};
  }

  // These write the sections of a page.
  void EncodeKeys(std::string* out) const;
  void SortColumns();
  void EncodeColumns(std::string* out) const;
  void EncodeShape(std::string* out, std::string* times);
  void EncodeSets(std::string* out) const;
  PageOrder EncodeValues(std::string* out) const;
  void EncodeValuesByColumn(std::string* out) const;

  PageLimits limits_;
  codec::ByteArena arena_;
  std::vector<Row> rows_;
  std::vector<Group> groups_;
  std::vector<int64_t> timestamps_;
  std::vector<std::string_view> values_;
  size_t plain_bytes_ = 0;  // the keys and values of the cells

  std::vector<std::string_view> columns_;  // by ColumnId
  absl::flat_hash_map<std::string_view, ColumnId> column_ids_;
  // By ColumnId: the column's place in sorted order, and its number of cells.
  std::vector<uint32_t> ranks_;
  std::vector<size_t> counts_;
  std::vector<ColumnId> sorted_;
};

}  // namespace sonde
