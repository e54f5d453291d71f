// Makes pages (cellblock/page.h) of sorted cells.
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
  // A page is full with so many cells; at most kPageCellsMax.
  size_t cells_max = size_t{128} << 10;
  // A page is full with so many bytes of row keys and values, before they are encoded; one cell may be more.
  size_t plain_bytes_max = size_t{1} << 20;
};

// Copies what it is given.  Not for several threads.
class PageWriter {
 public:
  explicit PageWriter(PageLimits limits = {}) : limits_(limits) {}

  // Takes cells of a row, in order, after all that it took before: a greater row key, or more of the same
  // row (CHECKed). Returns how many it took; fewer than all when the page is full, and none only then.
  size_t Add(std::string_view row_key, absl::Span<const CellView> cells);

  // When the page that is being filled, and those after it, are full; it may be so at once.
  void set_cells_max(size_t cells_max) { limits_.cells_max = cells_max; }

  size_t cells() const { return timestamps_.size(); }

  // Appends the page of what was added, which must not be nothing (CHECKed), and begins the next.
  void Finish(std::string* page);

 private:
  using ColumnId = uint32_t;  // in the order in which they first came
  struct Row {
    std::string_view key;
    size_t group = 0;  // its first
  };
  // The cells of one column of a row.
  struct Group {
    ColumnId column = 0;
    size_t cell = 0;  // its first
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

  // The sections of a page.
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
  // By ColumnId: where it comes among the sorted, and how many cells it has.
  std::vector<uint32_t> ranks_;
  std::vector<size_t> counts_;
  std::vector<ColumnId> sorted_;
};

}  // namespace sonde
