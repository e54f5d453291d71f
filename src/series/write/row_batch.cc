#include "series/write/row_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "model/limits.h"
#include "series/key/blob_codec.h"
#include "series/schema/time_range.h"

namespace sonde::series {

RowBatch::RowBatch(SeriesSchema schema) : codec_(std::move(schema)) {
  const SeriesSchema& s = codec_.schema();
  times_ = TimesOfTable(s);
  is_row_per_field_ = s.FindPart(KeyPart::Kind::kField) != nullptr;
  has_copies_ = !s.time_column.empty() ||
                std::any_of(s.tags.begin(), s.tags.end(), [](const Tag& tag) { return !tag.column.empty(); });
  const size_t rows_per_piece = is_row_per_field_ ? s.fields.size() : 1;
  last_rows_.assign(rows_per_piece, kNoRow);
  keys_.resize(rows_per_piece);
}

bool RowBatch::IsInLastRow(const EncodedPoint& point) const {
  return point.time_micros >= last_start_ && point.time_micros < last_end_ &&
         std::equal(point.tags.begin(), point.tags.end(), last_tags_.begin(), last_tags_.end());
}

absl::Status RowBatch::Prepare(const EncodedPoint& point) {
  const SeriesSchema& s = schema();
  if (!times_.Holds(point.time_micros)) return RefuseTime(s, point.time_micros);
  if (s.layout == Layout::kColumns) {
    for (size_t i = 0; i < s.fields.size(); ++i) {
      if (point.values[i].size() <= kQualifierBytesMax) continue;
      return absl::InvalidArgumentError(
          fmt::format("field '{}': a value of {} bytes; allowed in layout columns: up to {}",
                      s.fields[i].name, point.values[i].size(), kQualifierBytesMax));
    }
  }
  if (s.layout == Layout::kBlob) {
    if (absl::Status status = EncodeBlob(s, point.values, &blob_); !status.ok()) return status;
  }
  is_prepared_in_last_row_ = IsInLastRow(point);
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (is_row_per_field_ && point.values[i].data() == nullptr) continue;
    if (is_prepared_in_last_row_ && last_rows_[i] != kNoRow) continue;
    if (absl::Status status = codec_.Encode(point.tags, point.time_micros, i, &keys_[i]); !status.ok()) {
      return status;
    }
  }
  return absl::OkStatus();
}

size_t RowBatch::RowOf(size_t field) {
  size_t& row = last_rows_[is_row_per_field_ ? field : 0];
  if (row != kNoRow) return row;
  const std::string& key = keys_[is_row_per_field_ ? field : 0];
  const auto [entry, is_new] = row_of_key_.try_emplace(key, rows_.size());
  if (is_new) {
    RowWrite& made = rows_.emplace_back();
    made.row_key = key;
    made.cells.reserve(cells_expected_);
    if (schema().keeps_corrections) newest_stamps_.push_back(0);
  }
  row = entry->second;
  return row;
}

int64_t RowBatch::TimestampOf(const EncodedPoint& point, size_t row) {
  if (!schema().keeps_corrections) return schema().TimestampOf(point.time_micros);
  const int64_t now_micros = WholeMillis(point.now_micros);
  if (!schema().IsRowPerPoint()) return now_micros;
  int64_t& newest = newest_stamps_[row];
  newest = std::max(newest + kMicrosPerMilli, now_micros);
  return newest;
}

void RowBatch::AddCell(size_t row, const std::string& family, std::string_view qualifier,
                       int64_t timestamp_micros, std::string_view value) {
  CellWrite& cell = rows_[row].cells.emplace_back();
  cell.family = family;
  cell.qualifier.assign(qualifier);
  cell.timestamp_micros = timestamp_micros;
  cell.value.assign(value);
  value_bytes_ += value.size();
  ++cell_count_;
}

// Copies of tags and time stand in each row once: under the time of its first piece, or that of its event.
void RowBatch::AddCopies(const EncodedPoint& point, size_t row, int64_t timestamp_micros) {
  const SeriesSchema& s = schema();
  for (size_t i = 0; i < s.tags.size(); ++i) {
    if (!s.tags[i].column.empty()) AddCell(row, s.family, s.tags[i].column, timestamp_micros, point.tags[i]);
  }
  if (!s.time_column.empty()) {
    AddCell(row, s.family, s.time_column, timestamp_micros,
            fmt::format("{}", FloorMicros(point.time_micros, kMicrosPerMilli) / kMicrosPerMilli));
  }
}

void RowBatch::Commit(const EncodedPoint& point) {
  const SeriesSchema& s = schema();
  if (!is_prepared_in_last_row_) {
    if (!std::equal(point.tags.begin(), point.tags.end(), last_tags_.begin(), last_tags_.end())) {
      last_tags_.assign(point.tags.begin(), point.tags.end());
    }
    last_start_ = s.RowStart(point.time_micros);
    last_end_ = s.RowEnd(point.time_micros);
    std::fill(last_rows_.begin(), last_rows_.end(), kNoRow);
  }
  int64_t timestamp_micros = 0;  // of all cells of one row
  size_t stamped_row = kNoRow;
  if (!is_row_per_field_) {
    const size_t row = stamped_row = RowOf(0);
    timestamp_micros = TimestampOf(point, row);
    if (has_copies_ && rows_[row].cells.empty()) {
      AddCopies(
          point, row,
          s.keeps_corrections || !s.bucket ? timestamp_micros : s.TimestampOf(s.RowStart(point.time_micros)));
    }
    if (s.layout == Layout::kBlob) {
      const bool is_partial = std::any_of(point.values.begin(), point.values.end(),
                                          [](std::string_view value) { return value.data() == nullptr; });
      if (is_partial) partial_blobs_.push_back({row, rows_[row].cells.size()});
      return AddCell(row, s.family, s.blob_column, timestamp_micros, blob_);
    }
  }
  std::string slot;
  if (s.layout == Layout::kOffsets) {
    AppendSlot(s.slot_format, *s.bucket, s.slot_micros,
               point.time_micros - s.bucket->Start(point.time_micros), &slot);
  }
  for (size_t i = 0; i < s.fields.size(); ++i) {
    if (point.values[i].data() == nullptr) continue;
    const Field& field = s.fields[i];
    const size_t row = RowOf(i);
    if (row != stamped_row) {
      timestamp_micros = TimestampOf(point, row);
      stamped_row = row;
    }
    switch (s.layout) {
      case Layout::kColumns:
        AddCell(row, field.family, point.values[i], timestamp_micros, "");
        break;
      case Layout::kOffsets:
        AddCell(row, field.family, is_row_per_field_ ? slot : field.qualifier + slot, timestamp_micros,
                point.values[i]);
        break;
      default:
        AddCell(row, field.family, field.qualifier, timestamp_micros, point.values[i]);
        break;
    }
  }
}

void RowBatch::Clear() {
  if (!rows_.empty()) cells_expected_ = (cell_count_ + rows_.size() - 1) / rows_.size();
  rows_.clear();
  newest_stamps_.clear();
  partial_blobs_.clear();
  row_of_key_.clear();
  cell_count_ = value_bytes_ = 0;
  last_start_ = last_end_ = 0;
}

}  // namespace sonde::series
