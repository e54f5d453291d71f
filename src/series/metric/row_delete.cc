#include "series/metric/row_delete.h"

#include <algorithm>
#include <string>
#include <utility>

#include "series/metric/metric_batch.h"
#include "series/query/query_header.h"

namespace sonde::series {
namespace {

constexpr size_t kRowsAWrite = 1'000;

// What of `ranges` lies behind `key`.
std::vector<RowRange> Behind(const std::string& key, const std::vector<RowRange>& ranges) {
  std::vector<RowRange> rest;
  const std::string next = key + '\0';
  for (RowRange range : ranges) {
    if (!range.end.empty() && range.end <= next) continue;
    if (range.start < next) range.start = next;
    rest.push_back(std::move(range));
  }
  return rest;
}

void AddColumn(const std::string& family, std::string qualifier, RowWrite* write) {
  std::pair<std::string, std::string> column(family, std::move(qualifier));
  if (std::find(write->delete_columns.begin(), write->delete_columns.end(), column) ==
      write->delete_columns.end())
    write->delete_columns.push_back(std::move(column));
}

void AddTimes(const std::string& family, std::string qualifier, const RowRead& read, RowWrite* write) {
  const auto is_same = [&](const RowWrite::ColumnTimes& times) {
    return times.family == family && times.qualifier == qualifier;
  };
  if (std::none_of(write->delete_times.begin(), write->delete_times.end(), is_same))
    write->delete_times.push_back({family, std::move(qualifier), read.start_micros, read.end_micros});
}

RowWrite WriteFor(const SeriesScan& rows, const RowDelete& what, const RowRead& read) {
  const SeriesSchema& schema = rows.schema();
  RowWrite write;
  write.row_key = rows.row_key();
  if (schema.layout == Layout::kBlob) {
    if (schema.IsRowPerPoint()) {
      AddColumn(schema.family, schema.blob_column, &write);
    } else {
      AddTimes(schema.family, schema.blob_column, read, &write);
    }
    return write;
  }
  if (schema.layout == Layout::kCells || schema.layout == Layout::kRow) {
    for (const size_t place : what.fields) {
      const Field& field = schema.fields[place];
      if (schema.layout == Layout::kRow) {
        AddColumn(field.family, field.qualifier, &write);
      } else {
        AddTimes(field.family, field.qualifier, read, &write);
      }
    }
    return write;
  }
  // The columns are readings, or slots.
  for (size_t p = 0; p < rows.points().Count(); ++p) {
    const RowPoint& point = rows.points().Get(p);
    for (size_t i = 0; i < what.fields.size(); ++i) {
      if (point.values[i].data() == nullptr) continue;
      const Field& field = schema.fields[what.fields[i]];
      if (schema.layout == Layout::kColumns) {
        AddTimes(field.family, std::string(point.values[i]), read, &write);
        continue;
      }
      std::string column = rows.key().field ? "" : field.qualifier;
      AppendSlot(schema.slot_format, *schema.bucket, schema.slot_micros,
                 point.time_micros - rows.key().bucket_start_micros.value_or(0), &column);
      AddColumn(field.family, std::move(column), &write);
    }
  }
  return write;
}

absl::Status Write(const std::string& table, const std::vector<RowWrite>& writes, const RowDelete& what,
                   TableAccess* tables) {
  if (writes.empty()) return absl::OkStatus();
  if (what.before_write) {
    if (absl::Status status = what.before_write(); !status.ok()) return status;
  }
  const absl::StatusOr<std::vector<absl::Status>> statuses = tables->MutateRows(table, writes);
  if (!statuses.ok()) return statuses.status();
  for (const absl::Status& status : *statuses) {
    if (!status.ok()) return status;
  }
  return what.after_write ? what.after_write() : absl::OkStatus();
}

}  // namespace

absl::StatusOr<QueryPlan> PlanDelete(const MetricDelete& what, MetricScan* scan) {
  MetricRead read;
  read.start_millis = what.start_millis;
  read.end_millis = what.end_millis;
  read.interrupted = what.interrupted;
  read.index = what.index;
  PrepareQuery(read, &scan->query);
  scan->query.now_micros.reset();
  if (scan->stale) scan->query.fields.push_back(scan->stale->second);
  absl::StatusOr<ResultHeader> header = HeaderOf(scan->view, scan->query);
  if (!header.ok()) return header.status();
  return QueryPlan::Make(scan->view, scan->query, *std::move(header));
}

absl::StatusOr<int64_t> DeleteRowsOf(SeriesScan* rows, const RowDelete& what, TableAccess* tables) {
  int64_t count = 0;
  // Reads and deletes in turns, so that no read is open for long.
  std::vector<RowRange> rest = NormalizeRanges(rows->ranges());
  while (!rest.empty()) {
    std::vector<RowWrite> writes;
    RowRead read = rows->MakeRead(rest);
    if (!what.tells_all_points) read.cells_per_column_max = 1;
    const absl::Status status = rows->Read(read, [&]() -> absl::StatusOr<bool> {
      if (rows->points().Count() == 0) return true;
      writes.push_back(WriteFor(*rows, what, read));
      if (absl::Status told = what.row(*rows, &writes.back()); !told.ok()) return told;
      return writes.size() < kRowsAWrite;
    });
    if (absl::IsNotFound(status)) return count;  // no point has come yet
    if (!status.ok()) return status;
    const bool is_end = writes.size() < kRowsAWrite;
    const std::string last = writes.empty() ? "" : writes.back().row_key;
    if (absl::Status written = Write(rows->stats().table, writes, what, tables); !written.ok())
      return written;
    count += std::ssize(writes);
    if (is_end) break;
    rest = Behind(last, rest);
  }
  return count;
}

}  // namespace sonde::series
