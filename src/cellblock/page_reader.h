// Reads pages (cellblock/page.h): all of their cells, or those that a reader wants without decoding the rest.
//
// Errors, everywhere: DATA_LOSS, the bytes are no page.  Any bytes may be given; none lead outside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "cellblock/page.h"
#include "cellblock/page_format.h"
#include "cellblock/page_shape.h"
#include "codec/strings.h"
#include "codec/texts.h"
#include "codec/values.h"
#include "model/cell.h"
#include "model/read_hints.h"
#include "model/row_range.h"

namespace sonde {

// A page that is taken apart.  Views the page's bytes, and decodes what it is asked for when it first is; not
// for several threads.
class PageReader {
 public:
  // Checks the checksum and the directory.
  static absl::StatusOr<std::unique_ptr<PageReader>> Open(std::string_view page);

  const PageHeader& header() const { return parts_.header; }

  // The row keys [begin, end) of those in `range`.
  absl::Status FindRows(const RowRange& range, size_t* begin, size_t* end);
  absl::Status RowKey(size_t row, std::string* row_key);

  // Ascending; the views hold as long as this does.
  const std::vector<std::string_view>& columns() const { return columns_; }
  size_t CellsOf(size_t column) const { return static_cast<size_t>(cells_of_[column]); }

  // Columns of values: of one qualifier each, or of several that have few cells.
  size_t streams_count() const { return streams_.size(); }
  // Of what was decoded and is kept, about.
  size_t KeptBytes() const;

 private:
  friend class PageCursor;

  // A column of values, with those of one qualifier or of several.
  struct Stream {
    std::string_view bytes;
    size_t cells = 0;
    std::unique_ptr<codec::ValueColumn> values;  // once it was asked for
  };

  PageReader() = default;
  absl::Status Parse(std::string_view page);
  absl::Status ParseColumns(std::string_view bytes);
  absl::Status ParseStreams(std::string_view bytes);
  absl::StatusOr<PageShape*> Shape();
  absl::StatusOr<codec::ValueColumn*> Values(size_t stream);

  PageParts parts_;
  codec::TextColumn keys_;
  std::string_view shape_bytes_, times_bytes_;
  std::vector<std::string_view> columns_;
  std::vector<int64_t> cells_of_;
  codec::ByteArena names_;
  std::vector<Stream> streams_;
  std::vector<uint32_t> stream_of_;  // by column
  std::vector<uint32_t> base_of_;    // by column: its first cell in its stream, when it is by column
  std::unique_ptr<PageShape> shape_;
};

// The cells of a page that are in a range of rows and that the hints ask for (columns, time_range,
// newest_per_column, keys_only, numbers), row by row, ascending or descending.  A column of more than one row
// has its newest in each.
class PageCursor {
 public:
  // `reader` must outlive it, and no other cursor of the same reader may be in use.
  PageCursor(PageReader* reader, RowRange rows, ReadHints hints, bool reverse);
  ~PageCursor();
  PageCursor(const PageCursor&) = delete;
  PageCursor& operator=(const PageCursor&) = delete;

  // Fills row_key, cells and numbers of the next row that has any; false at the end.  The views hold
  // until the next call.
  absl::StatusOr<bool> Next(RowPiece* piece);

 private:
  // Columns [begin, end) of the page, for one of the hints' ranges.
  struct Wanted {
    uint32_t begin = 0, end = 0;
    size_t range = 0;
  };
  // A wanted column of rows that have the same ones.
  struct Picked {
    uint32_t place = 0;  // among the columns of the row
    uint32_t range = 0;
  };
  // Cells of one column of one row; or of the first of rows that are alike.
  struct Group {
    uint32_t column = 0;
    uint32_t count = 0;
    const int64_t* timestamps = nullptr;
    uint32_t stream = 0;
    uint32_t range = 0;  // of the hints' columns
    size_t value = 0;    // its first, among those decoded of the stream
  };
  // How a stream is read.
  struct ReadAs {
    std::optional<NumberBytes> written;                 // none: as cells
    codec::NumberKind kind = codec::NumberKind::kNone;  // kNone: as cells
  };
  // What is decoded of a stream for some rows.
  struct Decoded {
    std::vector<std::pair<size_t, size_t>> ranges;  // of the stream's cells
    size_t count = 0;
    // One of these, by what the stream is read as.
    std::vector<std::string_view> values;
    std::vector<int64_t> ints;
    std::vector<double> doubles;
  };

  absl::Status Start();
  void ChooseColumns();
  absl::Status ChooseNumbers();
  absl::Status DecodeRows();
  void ChooseRows(const PageShape& shape, size_t* begin, size_t* end);
  void PickColumns(const PageShape& shape, size_t row);
  // Rows that are alike, all wanted in all of their times, need no plan each.
  bool AreAlike(const PageShape& shape) const;
  void PlanAlike(const PageShape& shape, size_t begin, size_t end);
  void PlanRows(const PageShape& shape, size_t begin, size_t end);
  void PlanGroup(const PageShape& shape, size_t row, const Picked& picked);
  void PlanValues(uint32_t stream, size_t begin, size_t end);
  absl::Status DecodeValues();
  // False: the numbers are none that doubles say; they are to come as cells.
  absl::StatusOr<bool> DecodeNumbers(const ReadAs& read_as, codec::ValueColumn* values,
                                     Decoded* decoded) const;
  // Of each group, the cells that lie so many behind it.
  void FillPiece(std::string_view key, absl::Span<const Group> groups, size_t shift, RowPiece* piece) const;

  PageReader* reader_;
  const RowRange rows_;
  const ReadHints hints_;
  const bool reverse_;

  // What is made for a read, but for its memory: a point read would ask for it dozens of times, so that of a
  // small one is left for the next cursor that begins on the thread.
  struct Scratch {
    void Clear();
    size_t MemoryBytes() const;

    std::vector<Wanted> wanted;   // ascending
    std::vector<ReadAs> read_as;  // by stream; empty: all are read as cells
    std::vector<Picked> picked;   // of a row of picked_set_, ascending

    std::vector<size_t> row_groups;  // the first of each decoded row, and the end; none: rows that are alike
    std::vector<Group> groups;
    std::vector<Decoded> decoded;  // by stream
    codec::ByteArena arena;
    std::vector<std::string_view> keys;
  };
  static std::unique_ptr<Scratch>& SpareOfThread();

  std::unique_ptr<Scratch> scratch_;
  bool started_ = false;
  bool takes_all_times_ = false;
  size_t rows_begin_ = 0, rows_end_ = 0;  // of those that are not decoded yet
  std::optional<size_t> picked_set_;
  size_t rows_decoded_ = 0, rows_done_ = 0;  // the latter of the former
};

}  // namespace sonde
