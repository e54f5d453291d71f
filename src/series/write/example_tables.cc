#include "series/write/example_tables.h"

#include <algorithm>
#include <iterator>

#include "model/row_range.h"

namespace sonde::series {

absl::Status ExampleTables::EnsureTable(const std::string& table,
                                        const std::vector<FamilyRequest>& families) {
  const absl::MutexLock lock(mutex_.get());
  for (const FamilyRequest& family : families) tables[table].families.emplace(family.name, family.gc_rule);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<FamilyRequest>> ExampleTables::ListFamilies(const std::string& table) {
  const absl::MutexLock lock(mutex_.get());
  if (!tables.contains(table)) return absl::NotFoundError("no table " + table);
  std::vector<FamilyRequest> families;
  for (const auto& [name, rule] : tables[table].families) families.push_back({name, rule});
  return families;
}

absl::Status ExampleTables::UpdateFamilies(const std::string& table,
                                           const std::vector<FamilyRequest>& families) {
  const absl::MutexLock lock(mutex_.get());
  if (!tables.contains(table)) return absl::NotFoundError("no table " + table);
  for (const FamilyRequest& family : families) {
    const auto found = tables[table].families.find(family.name);
    if (found == tables[table].families.end()) return absl::NotFoundError("no family " + family.name);
    found->second = family.gc_rule;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> ExampleTables::ListTables() {
  const absl::MutexLock lock(mutex_.get());
  std::vector<std::string> names;
  for (const auto& [name, table] : tables) names.push_back(name);
  return names;
}

absl::Status ExampleTables::DropTable(const std::string& table) {
  const absl::MutexLock lock(mutex_.get());
  return tables.erase(table) == 1 ? absl::OkStatus() : absl::NotFoundError("no table " + table);
}

absl::StatusOr<std::vector<absl::Status>> ExampleTables::MutateRows(const std::string& table,
                                                                    const std::vector<RowWrite>& rows) {
  const absl::MutexLock lock(mutex_.get());
  if (!tables.contains(table)) return absl::NotFoundError("no table " + table);
  std::vector<absl::Status> statuses;
  for (const RowWrite& write : rows) {
    const auto is_odd = [](const CellWrite& cell) { return cell.timestamp_micros % 1000 != 0; };
    if (std::any_of(write.cells.begin(), write.cells.end(), is_odd)) {
      return absl::InvalidArgumentError("a timestamp that is not a whole millisecond");
    }
    Row& row = tables[table].rows[write.row_key];
    for (const auto& column : write.delete_columns) row.erase(column);
    for (const RowWrite::ColumnTimes& times : write.delete_times) {
      const auto column = row.find({times.family, times.qualifier});
      if (column == row.end()) continue;
      std::erase_if(column->second, [&times](const auto& cell) {
        return cell.first >= times.start_micros && (times.end_micros == 0 || cell.first < times.end_micros);
      });
      if (column->second.empty()) row.erase(column);
    }
    for (const CellWrite& cell : write.cells) {
      row[{cell.family, cell.qualifier}][cell.timestamp_micros] = cell.value;
    }
    if (row.empty()) tables[table].rows.erase(write.row_key);
    statuses.push_back(absl::OkStatus());
  }
  return statuses;
}

absl::Status ExampleTables::ReadRows(const std::string& table, const RowRead& read,
                                     const std::function<bool(ReadRow&&)>& callback) {
  absl::StatusOr<std::vector<ReadRow>> rows = Select(table, read);
  if (!rows.ok()) return rows.status();
  for (ReadRow& row : *rows) {  // the callback may write
    if (!callback(std::move(row))) break;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<ReadRow>> ExampleTables::Select(const std::string& table, const RowRead& read) {
  const absl::MutexLock lock(mutex_.get());
  if (!tables.contains(table)) return absl::NotFoundError("no table " + table);
  const std::vector<RowRange> ranges = NormalizeRanges(read.ranges);
  std::vector<std::pair<const std::string*, const Row*>> selected;
  for (const auto& [key, row] : tables[table].rows) {
    for (const RowRange& range : ranges) {
      if (range.Contains(key)) selected.emplace_back(&key, &row);
    }
  }
  if (read.reversed) selected = {selected.rbegin(), selected.rend()};
  std::vector<ReadRow> rows;
  for (const auto& [key, row] : selected) {
    ReadRow result{*key, {}};
    for (const auto& [column, cells] : *row) AppendColumn(read, column, cells, &result);
    if (result.cells.empty()) continue;
    rows.push_back(std::move(result));
    if (std::ssize(rows) == read.rows_max) break;
  }
  return rows;
}

void ExampleTables::AppendColumn(const RowRead& read, const std::pair<std::string, std::string>& name,
                                 const Column& cells, ReadRow* row) {
  if (read.family && *read.family != name.first) return;
  bool is_asked = read.columns.empty();
  for (const RowRead::Column& column : read.columns) {
    is_asked |= column.family == name.first && column.qualifier == name.second;
  }
  int32_t count = 0;
  for (const auto& [time, value] : cells) {
    if (!is_asked || time < read.start_micros || (read.end_micros != 0 && time >= read.end_micros)) continue;
    row->cells.push_back({name.first, name.second, time, value});
    if (++count == read.cells_per_column_max) break;
  }
}

}  // namespace sonde::series
