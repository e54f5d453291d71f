// Points of one schema, gathered as rows of one table.
//
// A point becomes cells of the row that KeyCodec gives it (of a row for each field, if the key has the
// field).  The cells of one row are gathered together.  Their timestamp is that of the point's time
// (SeriesSchema::TimestampOf).  With keeps_corrections it is the time of writing, and in a row of one event
// at least a millisecond later than the row's cells in the batch, so that both stay.  stored_rows.h looks at
// the cells that the table has already.
//
// Not for several threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/types/span.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"
#include "series/schema/time_range.h"

namespace sonde::series {

struct EncodedPoint {
  absl::Span<const std::string_view> tags;
  int64_t time_micros = 0;                    // rounded down to the resolution
  absl::Span<const std::string_view> values;  // as EncodeValue made them; null data: the point has none
  int64_t now_micros = 0;                     // the time of writing
};

class RowBatch {
 public:
  explicit RowBatch(SeriesSchema schema);

  // Finds the rows of the point; nothing is gathered.  INVALID_ARGUMENT: the point is refused, for what
  // KeyCodec::Encode and EncodeBlob refuse, a time that the table can't say (RefuseTime), and a reading of
  // more than kQualifierBytesMax in layout columns.
  absl::Status Prepare(const EncodedPoint& point);
  // Gathers the point that was prepared last.
  void Commit(const EncodedPoint& point);

  const std::vector<RowWrite>& rows() const { return rows_; }
  std::vector<RowWrite>& mutable_rows() { return rows_; }
  // Blobs of points that do not have all fields, in the order in which they came.
  struct CellPlace {
    size_t row = 0;   // in rows()
    size_t cell = 0;  // of the row
  };
  const std::vector<CellPlace>& partial_blobs() const { return partial_blobs_; }
  bool has_partial_blobs() const { return !partial_blobs_.empty(); }
  size_t cell_count() const { return cell_count_; }
  size_t value_bytes() const { return value_bytes_; }
  void Clear();

  const KeyCodec& codec() const { return codec_; }
  const SeriesSchema& schema() const { return codec_.schema(); }

 private:
  static constexpr size_t kNoRow = SIZE_MAX;

  bool IsInLastRow(const EncodedPoint& point) const;
  // The row of the prepared point (of this field of it, where the key has a field), made where there is none.
  size_t RowOf(size_t field);
  int64_t TimestampOf(const EncodedPoint& point, size_t row);
  void AddCell(size_t row, const std::string& family, std::string_view qualifier, int64_t timestamp_micros,
               std::string_view value);
  void AddCopies(const EncodedPoint& point, size_t row, int64_t timestamp_micros);

  KeyCodec codec_;
  TimeRange times_;
  bool is_row_per_field_;
  bool has_copies_;

  std::vector<RowWrite> rows_;
  std::vector<int64_t> newest_stamps_;  // of rows_, with keeps_corrections
  std::vector<CellPlace> partial_blobs_;
  absl::flat_hash_map<std::string, size_t> row_of_key_;
  size_t cell_count_ = 0;
  size_t value_bytes_ = 0;
  size_t cells_expected_ = 0;  // in a row: the mean of the batch before

  // The last point's rows: points mostly come series by series, and in order.
  std::vector<std::string> last_tags_;
  int64_t last_start_ = 0;  // [last_start_, last_end_); the same: there is none
  int64_t last_end_ = 0;
  std::vector<size_t> last_rows_;  // one, or one a field; kNoRow: not known
  // What Prepare leaves for Commit: keys of rows that are not known.
  bool is_prepared_in_last_row_ = false;
  std::vector<std::string> keys_;
  std::string blob_;
};

}  // namespace sonde::series
