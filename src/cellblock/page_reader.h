// Reads pages (cellblock/page.h), whole or only the cells that a reader wants; the rest is not decoded.
//
// Errors of all functions: DATA_LOSS if the bytes are no page.  Any bytes may be given; none makes a reader
// look outside them.
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

// An opened page.  It views the page's bytes, and decodes each part when the part is first asked for.  Not
// for several threads.
class PageReader {
 public:
  // Checks the checksum and the page's directory.
  static absl::StatusOr<std::unique_ptr<PageReader>> Open(std::string_view page);

  const PageHeader& header() const { return parts_.header; }

  // Sets [begin, end) to the rows whose keys are in `range`.
  absl::Status FindRows(const RowRange& range, size_t* begin, size_t* end);
  absl::Status RowKey(size_t row, std::string* row_key);

  // The qualifiers, ascending.  The views hold as long as the reader.
  const std::vector<std::string_view>& columns() const { return columns_; }
  size_t CellsOf(size_t column) const { return static_cast<size_t>(cells_of_[column]); }

  // The number of value streams.  A stream has the values of one column, or of several columns that have few
  // cells.
  size_t streams_count() const { return streams_.size(); }
  // About how many bytes of decoded data the reader keeps.
  size_t KeptBytes() const;

 private:
  friend class PageCursor;

  // The values of one column, or of several.
  struct Stream {
    std::string_view bytes;
    size_t cells = 0;
    std::unique_ptr<codec::ValueColumn> values;  // null until it is first asked for
  };

  PageReader() = default;
  absl::Status Parse(std::string_view page);
  absl::Status ParseColumns(std::string_view bytes);
  absl::Status ParseStreams(std::string_view bytes);
  // Sets *row to the first one from `from` on whose key is not less than `key`, or to the count of rows.  False: damage.
  bool FindKey(size_t from, std::string_view key, size_t* row);
  // As FindKey, in the window.  False: it is not there.
  bool FindInWindow(size_t from, std::string_view key, size_t* row) const;
  absl::StatusOr<PageShape*> Shape();
  absl::StatusOr<codec::ValueColumn*> Values(size_t stream);

  PageParts parts_;
  codec::TextColumn keys_;
  // The rows before found_end_row_ lie before found_end_; empty: it is not known of any.
  std::string found_end_;
  size_t found_end_row_ = 0;
  // Some keys, the same number of rows apart; empty: few were searched for.
  std::vector<std::string> some_keys_;
  int finds_ = 0;
  // Keys of rows from window_begin_ on, decoded together while ranges come that are near each other.
  std::vector<std::string_view> window_;
  size_t window_begin_ = 0;
  codec::ByteArena window_bytes_;
  int near_finds_ = 0;  // so many ranges began near the end of the one before
  std::string_view shape_bytes_, times_bytes_;
  std::vector<std::string_view> columns_;
  std::vector<int64_t> cells_of_;
  codec::ByteArena names_;
  std::vector<Stream> streams_;
  std::vector<uint32_t> stream_of_;  // by column
  std::vector<uint32_t> base_of_;    // by column: the column's first cell in its stream, if the page is
                                     // kByColumn
  std::unique_ptr<PageShape> shape_;
};

// The cells of a page that lie in a range of rows and that the hints ask for (columns, time_range,
// newest_per_column, keys_only, newest_of_row, numbers; ascending, wants_row).  Rows come ascending or descending.  newest_per_column counts in
// each row by itself.  Not for several threads.
class PageCursor {
 public:
  // `reader` must outlive the cursor.  No other cursor of this reader may be in use.
  PageCursor(PageReader* reader, RowRange rows, ReadHints hints, bool reverse);
  ~PageCursor();
  PageCursor(const PageCursor&) = delete;
  PageCursor& operator=(const PageCursor&) = delete;

  // Goes to other rows of the page.
  void Restart(RowRange rows);
  // Fills row_key, cells and numbers for the next row that has any.  Returns false at the end.  The views
  // hold until the next call.
  absl::StatusOr<bool> Next(RowPiece* piece);

 private:
  // Columns [begin, end) of the page, which one of the hints' column ranges asks for.
  struct Wanted {
    uint32_t begin = 0, end = 0;
    size_t range = 0;
  };
  // A wanted column in a set of columns that rows share.
  struct Picked {
    uint32_t place = 0;  // among the columns of the row
    uint32_t range = 0;
  };
  // The cells of one column of one row, or of the first of several alike rows.
  struct Group {
    uint32_t column = 0;
    uint32_t count = 0;
    const int64_t* timestamps = nullptr;
    uint32_t stream = 0;
    uint32_t range = 0;  // index among the hints' column ranges
    size_t value = 0;    // its first value, as an index into the decoded values of its stream
  };
  // How a stream is read.
  struct ReadAs {
    bool times_only = true;                             // nothing of it is wanted but times
    std::optional<NumberBytes> written;                 // none: as cells
    codec::NumberKind kind = codec::NumberKind::kNone;  // kNone: as cells
  };
  // What is decoded of a stream for some rows.
  struct Decoded {
    std::vector<std::pair<size_t, size_t>> ranges;  // ranges of the stream's cells
    size_t count = 0;
    // One of these, by what the stream is read as.
    std::vector<std::string_view> values;
    std::vector<int64_t> ints;
    std::vector<double> doubles;
  };

  // What holds for all rows of the page.
  absl::Status Choose();
  absl::Status FindRows();
  void ChooseColumns();
  absl::Status ChooseNumbers();
  absl::Status DecodeRows();
  // Moves rows_begin_ to the next row that is wanted.  Sets *end to the end of the wanted rows that follow it, as far as is known.
  absl::Status PassOverRows(size_t* end);
  void ChooseRows(const PageShape& shape, size_t* begin, size_t* end);
  void PickColumns(const PageShape& shape, size_t row);
  // Whether the rows are alike and wanted with all their times.  Alike rows are planned together, by
  // PlanAlike.
  bool AreAlike(const PageShape& shape) const;
  void PlanAlike(const PageShape& shape, size_t begin, size_t end);
  void PlanRows(const PageShape& shape, size_t begin, size_t end);
  void PlanGroup(const PageShape& shape, size_t row, const Picked& picked);
  void PlanValues(uint32_t stream, size_t begin, size_t end);
  absl::Status DecodeValues();
  // False: the numbers are none that doubles say; they are to come as cells.
  absl::StatusOr<bool> DecodeNumbers(const ReadAs& read_as, codec::ValueColumn* values,
                                     Decoded* decoded) const;
  // Fills in the newest of the cells that lie `shift` cells behind each group's; or all of them.
  void FillNewest(absl::Span<const Group> groups, size_t shift, RowPiece* piece) const;
  void FillPiece(std::string_view key, absl::Span<const Group> groups, size_t shift, RowPiece* piece) const;

  PageReader* reader_;
  RowRange rows_;
  const ReadHints hints_;
  const bool reverse_;

  // All memory that a read needs.  A point read would allocate dozens of times without it, so the scratch of
  // a small read is left for the next cursor of its thread.
  struct Scratch {
    void Clear();
    size_t MemoryBytes() const;

    std::vector<Wanted> wanted;   // ascending
    std::vector<ReadAs> read_as;  // by stream; empty: all are read as cells
    std::vector<Picked> picked;   // of a row of picked_set_, ascending

    std::vector<size_t> row_groups;  // the first group of each decoded row, and the end; empty: the rows are
                                     // alike
    std::vector<Group> groups;
    std::vector<Decoded> decoded;  // by stream
    codec::ByteArena arena;
    std::vector<std::string_view> keys;
    std::vector<uint8_t> are_wanted;  // of rows from asked_begin_ on
  };
  static std::unique_ptr<Scratch>& SpareOfThread();

  std::unique_ptr<Scratch> scratch_;
  bool has_chosen_ = false, are_rows_found_ = false;
  bool wants_none_ = false;  // the page has nothing that the hints ask for
  bool takes_all_times_ = false;
  size_t rows_begin_ = 0, rows_end_ = 0;  // rows that are not decoded yet
  size_t asked_begin_ = 0;                // the first row that hints_.wants_row was asked for at last
  std::optional<size_t> picked_set_;
  size_t rows_decoded_ = 0, rows_done_ = 0;  // rows_done_ of the rows_decoded_ were given out
};

}  // namespace sonde
