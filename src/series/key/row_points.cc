#include "series/key/row_points.h"

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "model/limits.h"
#include "series/key/blob_codec.h"

namespace sonde::series {

RowRead MakeRowRead(const SeriesSchema& schema, const std::vector<size_t>& fields, int64_t from_micros,
                    int64_t to_micros, std::vector<RowRange> ranges) {
  RowRead read;
  read.ranges = std::move(ranges);
  const std::set<size_t> asked(fields.begin(), fields.end());  // each once
  std::set<std::string> families;
  for (const size_t field : asked) families.insert(schema.fields[field].family);
  // Slots and readings are columns without a name that could be asked for.
  const bool has_named_columns = schema.layout == Layout::kCells || schema.layout == Layout::kRow;
  if (schema.layout == Layout::kBlob) {
    read.columns.push_back({schema.family, schema.blob_column});
  } else if (has_named_columns && (asked.size() < schema.fields.size() || families.size() > 1)) {
    for (const size_t field : asked) {
      read.columns.push_back({schema.fields[field].family, schema.fields[field].qualifier});
    }
  } else if (families.size() == 1) {
    read.family = *families.begin();
  }
  if (schema.IsRowPerPoint() || schema.layout == Layout::kOffsets) read.cells_per_column_max = 1;
  if (schema.IsRowPerPoint() || schema.keeps_corrections) return read;
  // Timestamps of cells are whole milliseconds.
  const auto round_up = [](int64_t micros) {
    return (micros + kMicrosPerMilli - 1) / kMicrosPerMilli * kMicrosPerMilli;
  };
  const int64_t origin_micros = schema.TimestampOrigin();
  read.start_micros = round_up(std::max<int64_t>(from_micros - origin_micros, 0));
  // 0 would be no end at all.
  if (to_micros < kTimeEndMicros) {
    read.end_micros = std::max(round_up(std::max<int64_t>(to_micros - origin_micros, 0)), kMicrosPerMilli);
  }
  return read;
}

RowPoints::RowPoints(const SeriesSchema& schema, std::vector<size_t> fields)
    : schema_(schema), fields_(std::move(fields)), columns_(fields_.size()) {}

RowPoint* RowPoints::AddPoint(int64_t time_micros) {
  if (count_ == points_.size()) points_.emplace_back();
  RowPoint& point = points_[count_++];
  point.time_micros = time_micros;
  point.values.assign(fields_.size(), {});
  return &point;
}

template <typename Callback>
void RowPoints::ForEachColumn(const ReadRow& row, Callback column) {
  for (size_t at = 0; at < row.cells.size();) {
    const ReadCell& first = row.cells[at];
    size_t end = at + 1;
    while (end < row.cells.size() && row.cells[end].qualifier == first.qualifier &&
           row.cells[end].family == first.family) {
      ++end;
    }
    column(at, end);
    at = end;
  }
}

void RowPoints::FindColumns(const ReadRow& row) {
  for (Column& column : columns_) column = {};
  ForEachColumn(row, [&](size_t begin, size_t end) {
    const ReadCell& first = row.cells[begin];
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Field& field = schema_.fields[fields_[i]];
      if (field.qualifier == first.qualifier && field.family == first.family) columns_[i] = {begin, end};
    }
  });
}

// One point a row; an amended value is a newer version of its cell.
void RowPoints::ReadRowLayout(const ReadRow& row, int64_t time_micros) {
  FindColumns(row);
  RowPoint* point = nullptr;
  for (size_t i = 0; i < columns_.size(); ++i) {
    if (columns_[i].begin == columns_[i].end) continue;
    if (point == nullptr) point = AddPoint(time_micros);
    point->values[i] = row.cells[columns_[i].begin].value;
  }
}

// The columns are merged from their ends, which are their oldest cells.
void RowPoints::ReadCells(const ReadRow& row, int64_t from_micros, int64_t to_micros) {
  FindColumns(row);
  const int64_t origin_micros = schema_.TimestampOrigin();
  while (true) {
    int64_t oldest_micros = INT64_MAX;
    for (const Column& column : columns_) {
      if (column.begin == column.end) continue;
      oldest_micros = std::min(oldest_micros, row.cells[column.end - 1].timestamp_micros);
    }
    if (oldest_micros == INT64_MAX) return;
    const int64_t time_micros = oldest_micros + origin_micros;
    RowPoint* point = time_micros >= from_micros && time_micros < to_micros ? AddPoint(time_micros) : nullptr;
    for (size_t i = 0; i < columns_.size(); ++i) {
      Column& column = columns_[i];
      if (column.begin == column.end || row.cells[column.end - 1].timestamp_micros != oldest_micros) continue;
      --column.end;
      if (point != nullptr) point->values[i] = row.cells[column.end].value;
    }
  }
}

void RowPoints::ReadColumns(const ReadRow& row, const DecodedKey& key, int64_t from_micros,
                            int64_t to_micros) {
  const size_t field = key.field.value_or(0);
  const size_t index = std::find(fields_.begin(), fields_.end(), field) - fields_.begin();
  if (index == fields_.size()) return;
  for (const ReadCell& cell : row.cells) {
    if (cell.family != schema_.fields[field].family) continue;
    const int64_t time_micros = cell.timestamp_micros + schema_.TimestampOrigin();
    if (time_micros < from_micros || time_micros >= to_micros) continue;
    loose_.push_back({time_micros, index, cell.qualifier});
  }
  JoinLoose();
}

void RowPoints::ReadOffsets(const ReadRow& row, const DecodedKey& key, int64_t from_micros,
                            int64_t to_micros) {
  ForEachColumn(row, [&](size_t begin, size_t /*end*/) {
    const ReadCell& newest = row.cells[begin];
    for (size_t i = 0; i < fields_.size(); ++i) {
      const Field& field = schema_.fields[fields_[i]];
      if (field.family != newest.family || (key.field && *key.field != fields_[i])) continue;
      std::string_view slot = newest.qualifier;
      // A field that stands in the key does not stand in front of the slot.
      if (!key.field) {
        if (!slot.starts_with(field.qualifier)) continue;
        slot.remove_prefix(field.qualifier.size());
      }
      const std::optional<int64_t> offset_micros =
          ParseSlot(schema_.slot_format, *schema_.bucket, schema_.slot_micros, slot);
      if (!offset_micros) continue;
      const int64_t time_micros = key.bucket_start_micros.value_or(0) + *offset_micros;
      if (time_micros >= from_micros && time_micros < to_micros)
        loose_.push_back({time_micros, i, newest.value});
    }
  });
  JoinLoose();
}

void RowPoints::JoinLoose() {
  std::stable_sort(loose_.begin(), loose_.end(),
                   [](const Loose& a, const Loose& b) { return a.time_micros < b.time_micros; });
  RowPoint* point = nullptr;
  for (const Loose& loose : loose_) {
    if (point == nullptr || point->time_micros != loose.time_micros) point = AddPoint(loose.time_micros);
    point->values[loose.field] = loose.value;
  }
}

absl::Status RowPoints::ReadBlob(const ReadCell& cell, int64_t time_micros) {
  if (count_ == blobs_.size()) blobs_.emplace_back();
  std::vector<std::string>& values = blobs_[count_];
  if (absl::Status status = DecodeBlob(schema_, cell.value, &values, &has_); !status.ok()) return status;
  RowPoint* point = nullptr;
  for (size_t i = 0; i < fields_.size(); ++i) {
    if (!has_[fields_[i]]) continue;
    if (point == nullptr) point = AddPoint(time_micros);
    point->values[i] = values[fields_[i]];
  }
  return absl::OkStatus();
}

absl::Status RowPoints::ReadBlobs(const ReadRow& row, const DecodedKey& key, int64_t from_micros,
                                  int64_t to_micros) {
  size_t begin = 0;
  size_t end = 0;
  ForEachColumn(row, [&](size_t column_begin, size_t column_end) {
    const ReadCell& first = row.cells[column_begin];
    if (first.family == schema_.family && first.qualifier == schema_.blob_column) {
      begin = column_begin;
      end = column_end;
    }
  });
  if (begin == end) return absl::OkStatus();
  if (key.time_micros) return ReadBlob(row.cells[begin], *key.time_micros);
  for (size_t at = end; at-- > begin;) {
    const int64_t time_micros = row.cells[at].timestamp_micros + schema_.TimestampOrigin();
    if (time_micros < from_micros || time_micros >= to_micros) continue;
    if (absl::Status status = ReadBlob(row.cells[at], time_micros); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status RowPoints::Read(const ReadRow& row, const DecodedKey& key, int64_t from_micros,
                             int64_t to_micros) {
  count_ = 0;
  loose_.clear();
  if (schema_.IsRowPerPoint() && key.time_micros &&
      (*key.time_micros < from_micros || *key.time_micros >= to_micros)) {
    return absl::OkStatus();
  }
  switch (schema_.layout) {
    case Layout::kRow:
      ReadRowLayout(row, key.time_micros.value_or(0));
      break;
    case Layout::kCells:
      ReadCells(row, from_micros, to_micros);
      break;
    case Layout::kColumns:
      ReadColumns(row, key, from_micros, to_micros);
      break;
    case Layout::kOffsets:
      ReadOffsets(row, key, from_micros, to_micros);
      break;
    case Layout::kBlob:
      return ReadBlobs(row, key, from_micros, to_micros);
  }
  return absl::OkStatus();
}

}  // namespace sonde::series
