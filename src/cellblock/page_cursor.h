// Reads the cells of an opened page (page_reader.h): all of them, or those that a reader wants; the rest is not decoded.
//
// Errors of all functions: DATA_LOSS if the bytes are no page.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "cellblock/page_reader.h"
#include "cellblock/page_shape.h"
#include "codec/strings.h"
#include "codec/values.h"
#include "model/cell.h"
#include "model/read_hints.h"
#include "model/row_range.h"

namespace sonde {

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
  // The values that are decoded of a stream, for some rows.
  struct Decoded {
    std::vector<std::pair<size_t, size_t>> ranges;  // ranges of the stream's cells
    size_t count = 0;
    // One of these, by what the stream is read as.
    std::vector<std::string_view> values;
    std::vector<int64_t> ints;
    std::vector<double> doubles;
  };

  // Makes the choices that hold for all rows of the page.
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
