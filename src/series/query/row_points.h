// The points that a row holds.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"

namespace sonde::series {

// One point of a row; the views point into the row.
struct RowPoint {
  int64_t time_micros = 0;
  std::vector<const ReadCell*> cells;  // by field; null: the point has none
};

class RowPoints {
 public:
  // `fields`: those that are asked for, by index; cells of others are passed over.
  RowPoints(const SeriesSchema& schema, std::vector<size_t> fields);

  // The points of `row` in [from, to), by time ascending, into `points`, which is reused: the first Count()
  // of it. `key`: the row's key, decoded.
  void Read(const ReadRow& row, const DecodedKey& key, int64_t from_micros, int64_t to_micros);
  size_t Count() const { return count_; }
  const RowPoint& Get(size_t index) const { return points_[index]; }

 private:
  struct Column {
    size_t begin = 0;  // of its cells in the row; the newest is first
    size_t end = 0;
  };

  RowPoint* AddPoint(int64_t time_micros);

  const SeriesSchema& schema_;
  std::vector<size_t> fields_;
  std::vector<RowPoint> points_;
  size_t count_ = 0;
  std::vector<Column> columns_;  // of fields_
};

}  // namespace sonde::series
