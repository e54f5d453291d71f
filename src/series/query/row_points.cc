#include "series/query/row_points.h"

#include <algorithm>
#include <utility>

namespace sonde::series {

RowPoints::RowPoints(const SeriesSchema& schema, std::vector<size_t> fields)
    : schema_(schema), fields_(std::move(fields)), columns_(fields_.size()) {}

RowPoint* RowPoints::AddPoint(int64_t time_micros) {
  if (count_ == points_.size()) points_.emplace_back();
  RowPoint& point = points_[count_++];
  point.time_micros = time_micros;
  point.cells.assign(fields_.size(), nullptr);
  return &point;
}

void RowPoints::Read(const ReadRow& row, const DecodedKey& key, int64_t from_micros, int64_t to_micros) {
  count_ = 0;
  for (Column& column : columns_) column = {};
  for (size_t at = 0; at < row.cells.size();) {
    const ReadCell& first = row.cells[at];
    size_t end = at + 1;
    while (end < row.cells.size() && row.cells[end].qualifier == first.qualifier &&
           row.cells[end].family == first.family) {
      ++end;
    }
    for (size_t i = 0; i < fields_.size(); ++i) {
      if (schema_.fields[fields_[i]].qualifier == first.qualifier && first.family == schema_.family) {
        columns_[i] = {at, end};
      }
    }
    at = end;
  }
  if (schema_.layout == Layout::kRow) {
    // One point a row; an amended value is a newer version of its cell.
    const int64_t time_micros = key.time_micros.value_or(0);
    if (time_micros < from_micros || time_micros >= to_micros) return;
    RowPoint* point = nullptr;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].begin == columns_[i].end) continue;
      if (point == nullptr) point = AddPoint(time_micros);
      point->cells[i] = &row.cells[columns_[i].begin];
    }
    return;
  }
  // The columns are merged from their ends, which are their oldest cells.
  while (true) {
    int64_t oldest_micros = INT64_MAX;
    for (const Column& column : columns_) {
      if (column.begin == column.end) continue;
      oldest_micros = std::min(oldest_micros, row.cells[column.end - 1].timestamp_micros);
    }
    if (oldest_micros == INT64_MAX) return;
    RowPoint* point =
        oldest_micros >= from_micros && oldest_micros < to_micros ? AddPoint(oldest_micros) : nullptr;
    for (size_t i = 0; i < columns_.size(); ++i) {
      Column& column = columns_[i];
      if (column.begin == column.end || row.cells[column.end - 1].timestamp_micros != oldest_micros) continue;
      --column.end;
      if (point != nullptr) point->cells[i] = &row.cells[column.end];
    }
  }
}

}  // namespace sonde::series
