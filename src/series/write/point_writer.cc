#include "series/write/point_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "model/limits.h"
#include "series/key/field_codec.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

SeriesSchema LatestSchemaOf(const SeriesSchema& schema) {
  return schema.latest.empty() ? schema : MakeLatestSchema(schema, schema.latest[0]);
}

}  // namespace

absl::Status EnsureSeriesTables(const SeriesSchema& schema, TableAccess* tables) {
  absl::Status status = tables->EnsureTable(schema.table, {{schema.family, schema.MakeGcRule()}});
  for (const LatestTable& latest : schema.latest) {
    if (!status.ok()) return status;
    const SeriesSchema latest_schema = MakeLatestSchema(schema, latest);
    status = tables->EnsureTable(latest.table, {{latest_schema.family, latest_schema.MakeGcRule()}});
  }
  return status;
}

PointWriter::PointWriter(SeriesSchema schema, TableAccess* tables, Limits limits)
    : codec_(std::move(schema)),
      latest_codec_(LatestSchemaOf(codec_.schema())),
      tables_(tables),
      limits_(limits) {
  values_.resize(codec_.schema().fields.size());
}

bool PointWriter::IsRowOfLastPoint(const Point& point, int64_t time_micros) const {
  return time_micros >= last_bucket_start_ && time_micros < last_bucket_end_ &&
         std::equal(point.tags.begin(), point.tags.end(), last_tags_.begin(), last_tags_.end());
}

absl::Status PointWriter::FindRow(const Point& point, int64_t time_micros, size_t* row) {
  if (IsRowOfLastPoint(point, time_micros)) {
    *row = last_row_;
    return absl::OkStatus();
  }
  if (absl::Status status = codec_.Encode(point.tags, time_micros, &key_); !status.ok()) return status;
  const auto [entry, is_new] = row_of_key_.try_emplace(key_, row_count_);
  if (is_new) {
    rows_.emplace_back().row_key = key_;
    ++row_count_;
  }
  *row = entry->second;
  if (!std::equal(point.tags.begin(), point.tags.end(), last_tags_.begin(), last_tags_.end())) {
    last_tags_.assign(point.tags.begin(), point.tags.end());
    last_newest_.reset();
  }
  const SeriesSchema& schema = codec_.schema();
  last_row_ = *row;
  if (schema.layout == Layout::kCells && schema.bucket) {
    last_bucket_start_ = schema.bucket->Start(time_micros);
    last_bucket_end_ = std::min(schema.bucket->End(time_micros), kTimeEndMicros);
  } else {
    last_bucket_start_ = schema.layout == Layout::kCells ? 0 : time_micros;
    last_bucket_end_ = schema.layout == Layout::kCells ? kTimeEndMicros : time_micros + 1;
  }
  return absl::OkStatus();
}

absl::Status PointWriter::EncodeFields(const Point& point) {
  const std::vector<Field>& fields = codec_.schema().fields;
  bool has_any = false;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (point.fields[i].empty()) continue;
    has_any = true;
    if (!EncodeValue(fields[i], point.fields[i], &values_[i]))
      return RefusedValue(fields[i], point.fields[i]);
  }
  return has_any ? absl::OkStatus() : absl::InvalidArgumentError("the point has no field");
}

absl::Status PointWriter::Add(const Point& point) {
  const SeriesSchema& schema = codec_.schema();
  if (absl::Status status = EncodeFields(point); !status.ok()) return status;
  const int64_t time_micros = point.time_micros < 0
                                  ? point.time_micros
                                  : point.time_micros - point.time_micros % schema.resolution_micros;
  size_t row = 0;
  if (absl::Status status = FindRow(point, time_micros, &row); !status.ok()) return status;
  const int64_t timestamp_micros = time_micros - time_micros % kMicrosPerMilli;
  for (size_t i = 0; i < schema.fields.size(); ++i) {
    if (point.fields[i].empty()) continue;
    CellWrite& cell = rows_[row].cells.emplace_back();
    cell.family = schema.family;
    cell.qualifier = schema.fields[i].qualifier;
    cell.timestamp_micros = timestamp_micros;
    cell.value = values_[i];
    value_bytes_ += values_[i].size();
    ++cell_count_;
  }
  if (!schema.latest.empty()) KeepNewest(point, timestamp_micros);
  ++totals_.points;
  totals_.oldest_micros = std::min(totals_.oldest_micros, time_micros);
  return absl::OkStatus();
}

void PointWriter::KeepNewest(const Point& point, int64_t timestamp_micros) {
  if (!last_newest_) {
    // The tags are part of the key that codec_ has taken: they can't be refused here.
    if (!latest_codec_.Encode(point.tags, 0, &key_).ok()) return;
    const auto [entry, is_new] = newest_of_key_.try_emplace(key_, newest_.size());
    if (is_new) newest_.push_back({key_, std::vector<NewestValue>(codec_.schema().fields.size())});
    last_newest_ = entry->second;
  }
  NewestRow& newest = newest_[*last_newest_];
  for (size_t i = 0; i < newest.fields.size(); ++i) {
    if (point.fields[i].empty() || timestamp_micros < newest.fields[i].timestamp_micros) continue;
    newest.fields[i] = {timestamp_micros, values_[i]};
  }
}

absl::Status PointWriter::WriteRows(const std::string& table, const std::vector<RowWrite>& rows) {
  const absl::StatusOr<std::vector<absl::Status>> statuses = tables_->MutateRows(table, rows);
  if (!statuses.ok()) return statuses.status();
  ++totals_.requests;
  totals_.rows += static_cast<int64_t>(rows.size());
  const auto is_failed = [](const absl::Status& status) { return !status.ok(); };
  const auto first = std::find_if(statuses->begin(), statuses->end(), is_failed);
  if (first == statuses->end()) return absl::OkStatus();
  const size_t index = first - statuses->begin();
  return absl::Status(
      first->code(),
      fmt::format("table '{}': {} of {} rows were not written; the first, '{}': {}", table,
                  std::count_if(first, statuses->end(), is_failed), rows.size(),
                  index < rows.size() ? Printable(rows[index].row_key) : "", TextOfStatus(*first)));
}

absl::Status PointWriter::Flush() {
  if (row_count_ == 0) return absl::OkStatus();
  const SeriesSchema& schema = codec_.schema();
  totals_.cells += static_cast<int64_t>(cell_count_);
  absl::Status status = WriteRows(schema.table, rows_);
  if (status.ok() && !newest_.empty()) {
    std::vector<RowWrite> latest_rows;
    for (NewestRow& newest : newest_) {
      RowWrite& row = latest_rows.emplace_back();
      row.row_key = std::move(newest.row_key);
      for (size_t i = 0; i < newest.fields.size(); ++i) {
        NewestValue& value = newest.fields[i];
        if (value.timestamp_micros < 0) continue;
        row.cells.push_back(
            {schema.family, schema.fields[i].qualifier, value.timestamp_micros, std::move(value.value)});
      }
    }
    for (const LatestTable& latest : schema.latest) {
      if (status.ok()) status = WriteRows(latest.table, latest_rows);
    }
  }
  Clear();
  return status;
}

void PointWriter::Clear() {
  rows_.clear();
  row_of_key_.clear();
  row_count_ = cell_count_ = value_bytes_ = 0;
  last_bucket_end_ = 0;
  last_newest_.reset();
  newest_.clear();
  newest_of_key_.clear();
}

}  // namespace sonde::series
