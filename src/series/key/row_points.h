// The points that a row holds, whatever its layout.
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"

namespace sonde::series {

// Returns a read of the rows in `ranges` with which RowPoints finds all points of `fields` in [from, to).
RowRead MakeRowRead(const SeriesSchema& schema, const std::vector<size_t>& fields, int64_t from_micros,
                    int64_t to_micros, std::vector<RowRange> ranges);

// One point of a row.  In layout columns, of one field only: another row has the others.
struct RowPoint {
  int64_t time_micros = 0;
  // By field, as DecodeValue takes them; null data: the point has none.  Views into the row or into
  // RowPoints.
  std::vector<std::string_view> values;
};

class RowPoints {
 public:
  // `schema` must outlive this.  `fields`: those that are asked for, by index; cells of others are passed
  // over.
  RowPoints(const SeriesSchema& schema, std::vector<size_t> fields);

  // The points of `row` in [from, to), by time ascending, each time once; good until the next call, as long
  // as `row` is.  `key`: the row's key, decoded.  DATA_LOSS: a cell that this declaration never writes.
  absl::Status Read(const ReadRow& row, const DecodedKey& key, int64_t from_micros, int64_t to_micros);
  size_t Count() const { return count_; }
  const RowPoint& Get(size_t index) const { return points_[index]; }

 private:
  struct Column {
    size_t begin = 0;  // of its cells in the row; the newest is first
    size_t end = 0;
  };
  // A value whose place among the points is not known yet.
  struct Loose {
    int64_t time_micros = 0;
    size_t field = 0;  // index into fields_
    std::string_view value;
  };

  RowPoint* AddPoint(int64_t time_micros);
  // Calls `column` with the begin and end of each column of the row.
  template <typename Callback>
  static void ForEachColumn(const ReadRow& row, Callback column);
  void FindColumns(const ReadRow& row);
  void ReadRowLayout(const ReadRow& row, int64_t time_micros);
  void ReadCells(const ReadRow& row, int64_t from_micros, int64_t to_micros);
  void ReadColumns(const ReadRow& row, const DecodedKey& key, int64_t from_micros, int64_t to_micros);
  void ReadOffsets(const ReadRow& row, const DecodedKey& key, int64_t from_micros, int64_t to_micros);
  absl::Status ReadBlobs(const ReadRow& row, const DecodedKey& key, int64_t from_micros, int64_t to_micros);
  absl::Status ReadBlob(const ReadCell& cell, int64_t time_micros);
  // Sorts loose_ and makes points of it.
  void JoinLoose();

  const SeriesSchema& schema_;
  std::vector<size_t> fields_;
  std::vector<RowPoint> points_;
  size_t count_ = 0;
  std::vector<Column> columns_;  // of fields_
  std::vector<Loose> loose_;
  std::vector<std::vector<std::string>> blobs_;  // the values of each point, where they are not in the row
  std::vector<bool> has_;
};

}  // namespace sonde::series
