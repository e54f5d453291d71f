#include "series/write/stored_rows.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "model/limits.h"
#include "series/key/blob_codec.h"

namespace sonde::series {
namespace {

constexpr size_t kRowsPerRead = 1'000;

// By row of the batch; rows that the table does not have are missing.
using Stored = absl::flat_hash_map<size_t, std::vector<ReadCell>>;

RowRead MakeRead(const RowBatch& batch) {
  const SeriesSchema& schema = batch.schema();
  RowRead read;
  if (schema.keeps_corrections) {
    for (const RowWrite& row : batch.rows()) read.ranges.push_back(RowRange::Single(row.row_key));
    read.cells_per_column_max = 1;
    return read;
  }
  read.columns = {{schema.family, schema.blob_column}};
  if (schema.IsRowPerPoint()) read.cells_per_column_max = 1;
  read.start_micros = INT64_MAX;
  size_t last_row = SIZE_MAX;
  for (const RowBatch::CellPlace& partial : batch.partial_blobs()) {
    const RowWrite& row = batch.rows()[partial.row];
    if (partial.row != last_row) read.ranges.push_back(RowRange::Single(row.row_key));
    last_row = partial.row;
    const int64_t timestamp_micros = row.cells[partial.cell].timestamp_micros;
    read.start_micros = std::min(read.start_micros, timestamp_micros);
    read.end_micros = std::max(read.end_micros, timestamp_micros + kMicrosPerMilli);
  }
  return read;
}

absl::Status ReadStored(const RowBatch& batch, TableAccess* tables, Stored* stored) {
  absl::flat_hash_map<std::string_view, size_t> rows;
  for (size_t i = 0; i < batch.rows().size(); ++i) rows.emplace(batch.rows()[i].row_key, i);
  RowRead read = MakeRead(batch);
  const std::vector<RowRange> all = std::move(read.ranges);
  for (size_t begin = 0; begin < all.size(); begin += kRowsPerRead) {
    const size_t end = std::min(begin + kRowsPerRead, all.size());
    read.ranges.assign(all.begin() + static_cast<ptrdiff_t>(begin),
                       all.begin() + static_cast<ptrdiff_t>(end));
    const absl::Status status = tables->ReadRows(batch.schema().table, read, [&](ReadRow&& row) {
      if (const auto known = rows.find(row.row_key); known != rows.end())
        (*stored)[known->second] = std::move(row.cells);
      return true;
    });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// All cells of the row keep their order and their distances.
void StampRow(const std::vector<ReadCell>& stored, RowWrite* row) {
  int64_t newest_micros = 0;
  for (const ReadCell& cell : stored) newest_micros = std::max(newest_micros, cell.timestamp_micros);
  int64_t first_micros = INT64_MAX;
  for (const CellWrite& cell : row->cells) first_micros = std::min(first_micros, cell.timestamp_micros);
  if (first_micros > newest_micros) return;
  const int64_t later_micros = newest_micros + kMicrosPerMilli - first_micros;
  for (CellWrite& cell : row->cells) cell.timestamp_micros += later_micros;
}

// Columns are points: each has stamps of its own.
void StampColumns(const std::vector<ReadCell>& stored, RowWrite* row) {
  std::map<std::pair<std::string_view, std::string_view>, int64_t> newest;
  for (const ReadCell& cell : stored) newest[{cell.family, cell.qualifier}] = cell.timestamp_micros;
  for (CellWrite& cell : row->cells) {
    const auto [before, is_new] = newest.try_emplace({cell.family, cell.qualifier}, cell.timestamp_micros);
    if (is_new) continue;
    cell.timestamp_micros = std::max(cell.timestamp_micros, before->second + kMicrosPerMilli);
    before->second = cell.timestamp_micros;
  }
}

// Gives *blob the fields of `before` that it does not have.  Bytes that are no blob have none.
absl::Status AddFields(const SeriesSchema& schema, std::string_view before, std::string* blob) {
  std::vector<std::string> old_values, values;
  std::vector<bool> had, has;
  if (!DecodeBlob(schema, before, &old_values, &had).ok()) return absl::OkStatus();
  if (absl::Status status = DecodeBlob(schema, *blob, &values, &has); !status.ok()) return status;
  std::vector<std::string_view> all(schema.fields.size());
  for (size_t i = 0; i < all.size(); ++i) {
    if (has[i]) {
      all[i] = values[i];
    } else if (had[i]) {
      all[i] = old_values[i];
    }
  }
  return EncodeBlob(schema, all, blob);
}

// `partial`: which of the cells are blobs that leave fields out, ascending.
absl::Status MergeBlobs(const SeriesSchema& schema, const std::vector<ReadCell>& stored,
                        const std::vector<size_t>& partial, std::vector<CellWrite>* cells) {
  // By the time of the point; a row of one point has one, whenever its cells were written.
  std::map<int64_t, std::string_view> blobs;
  const auto time_of = [&](int64_t timestamp_micros) {
    return schema.IsRowPerPoint() ? 0 : timestamp_micros;
  };
  for (const ReadCell& cell : stored) {
    if (cell.family == schema.family && cell.qualifier == schema.blob_column)
      blobs[time_of(cell.timestamp_micros)] = cell.value;
  }
  for (size_t i = 0; i < cells->size(); ++i) {
    CellWrite& cell = (*cells)[i];
    if (cell.family != schema.family || cell.qualifier != schema.blob_column) continue;
    std::string_view& before = blobs[time_of(cell.timestamp_micros)];
    if (before.data() != nullptr && std::ranges::binary_search(partial, i)) {
      if (absl::Status status = AddFields(schema, before, &cell.value); !status.ok()) return status;
    }
    before = cell.value;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status JoinStored(RowBatch* batch, TableAccess* tables) {
  const SeriesSchema& schema = batch->schema();
  const std::vector<RowBatch::CellPlace>& partial = batch->partial_blobs();
  if (batch->rows().empty() || (!schema.keeps_corrections && partial.empty())) return absl::OkStatus();
  Stored stored;
  if (absl::Status status = ReadStored(*batch, tables, &stored); !status.ok()) return status;
  std::map<size_t, std::vector<size_t>> partial_of_row;
  for (const RowBatch::CellPlace& place : partial) partial_of_row[place.row].push_back(place.cell);
  for (const auto& [row, cells] : partial_of_row) {
    const absl::Status status = MergeBlobs(schema, stored[row], cells, &batch->mutable_rows()[row].cells);
    if (!status.ok()) return status;
  }
  if (!schema.keeps_corrections) return absl::OkStatus();
  for (size_t i = 0; i < batch->rows().size(); ++i) {
    RowWrite* const row = &batch->mutable_rows()[i];
    if (schema.IsRowPerPoint()) {
      if (const auto found = stored.find(i); found != stored.end()) StampRow(found->second, row);
    } else {
      StampColumns(stored[i], row);
    }
  }
  return absl::OkStatus();
}

}  // namespace sonde::series
