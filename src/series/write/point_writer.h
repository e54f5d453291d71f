// Points of a declared series into the rows of its tables.
//
// A point becomes cells (SeriesSchema::family, the field's qualifier, the point's time rounded down to the
// resolution) of the row that KeyCodec gives it.  Points are gathered and written as requests of many rows,
// the cells of one row together.  The same point written twice is one point: its cells have the same
// timestamps, and the later value stays.  So a load that was broken off is repaired by loading again.
//
// Tables of newest values (LatestTable) get, with each request, the newest value of each field and series in
// it, under the point's own time.  An older point that comes late is an older cell: readers take the newest,
// so it never hides a newer one.  They are written after the series' own table; between the two they may lag
// behind it.
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

namespace sonde::series {

// Makes the tables of the declaration, where they are missing, with their family and its GC rule.
absl::Status EnsureSeriesTables(const SeriesSchema& schema, TableAccess* tables);

struct Point {
  absl::Span<const std::string_view> tags;  // in the order of SeriesSchema::tags
  int64_t time_micros = 0;
  absl::Span<const std::string_view> fields;  // in the order of SeriesSchema::fields; "": the point has none
};

class PointWriter {
 public:
  struct Limits {
    size_t rows_max = 1'000;
    size_t cells_max = 20'000;
    size_t value_bytes_max = 4 << 20;
  };
  struct Totals {
    int64_t points = 0;
    int64_t cells = 0;
    int64_t rows = 0;  // entries of requests; a row that is written by two requests counts twice
    int64_t requests = 0;
    int64_t oldest_micros = kTimeEndMicros;  // of the points' times
  };

  // `tables` must outlive the writer.
  PointWriter(SeriesSchema schema, TableAccess* tables, Limits limits);
  PointWriter(SeriesSchema schema, TableAccess* tables) : PointWriter(std::move(schema), tables, Limits()) {}

  // Gathers; writes nothing.  INVALID_ARGUMENT: the point is refused as a whole, for what KeyCodec::Encode
  // and EncodeValue refuse, and when it has no field at all.
  absl::Status Add(const Point& point);

  bool IsFull() const {
    return row_count_ >= limits_.rows_max || cell_count_ >= limits_.cells_max ||
           value_bytes_ >= limits_.value_bytes_max;
  }
  // Writes what is gathered.  After an error it is forgotten: whoever wants it written adds it again.
  // The error has the code of the first row that failed, and says how many did.
  absl::Status Flush();
  absl::Status FlushIfFull() { return IsFull() ? Flush() : absl::OkStatus(); }
  // Forgets what is gathered: for a look at the points that writes nothing.
  void Clear();

  const Totals& totals() const { return totals_; }
  const KeyCodec& codec() const { return codec_; }

 private:
  struct NewestValue {
    int64_t timestamp_micros = -1;
    std::string value;
  };
  struct NewestRow {
    std::string row_key;
    std::vector<NewestValue> fields;
  };

  absl::Status FindRow(const Point& point, int64_t time_micros, size_t* row);
  bool IsRowOfLastPoint(const Point& point, int64_t time_micros) const;
  absl::Status EncodeFields(const Point& point);
  void KeepNewest(const Point& point, int64_t timestamp_micros);
  absl::Status WriteRows(const std::string& table, const std::vector<RowWrite>& rows);

  KeyCodec codec_;
  KeyCodec latest_codec_;
  TableAccess* tables_;
  Limits limits_;
  Totals totals_;

  std::vector<RowWrite> rows_;
  absl::flat_hash_map<std::string, size_t> row_of_key_;
  size_t row_count_ = 0;
  size_t cell_count_ = 0;
  size_t value_bytes_ = 0;
  std::string key_;
  std::vector<std::string> values_;  // of the point at hand; reused

  // The last point's row: points mostly come series by series, and in order.
  std::vector<std::string> last_tags_;
  int64_t last_bucket_start_ = 0;
  int64_t last_bucket_end_ = 0;  // 0: there is none
  size_t last_row_ = 0;
  std::optional<size_t> last_newest_;

  std::vector<NewestRow> newest_;
  absl::flat_hash_map<std::string, size_t> newest_of_key_;
};

}  // namespace sonde::series
