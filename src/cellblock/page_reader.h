// Opens pages (cellblock/page.h).  The cells of an opened page are read by a cursor (page_cursor.h).
//
// Errors of all functions: DATA_LOSS if the bytes are no page.  Any bytes may be given; none makes a reader
// look outside them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
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

}  // namespace sonde
