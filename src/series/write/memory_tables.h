// Tables in memory that keep every cell: what tests of the series layer, and examples, write to and read
// from.  Several threads may write and read; the members are for when they do not.  GC rules are recorded,
// not applied; row_key_regex is not looked at.
#pragma once

#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/row_range.h"
#include "model/table_access.h"

namespace sonde::series {

class MemoryTables final : public TableAccess {
 public:
  // Family, qualifier; newest first.
  using Column = std::map<int64_t, std::string, std::greater<>>;
  using Row = std::map<std::pair<std::string, std::string>, Column>;
  struct Table {
    std::map<std::string, GcRule> families;
    std::map<std::string, Row> rows;
  };

  std::map<std::string, Table> tables;
  std::set<std::string> refused_rows;  // MutateRows answers UNAVAILABLE for these
  int mutate_requests = 0;
  int read_requests = 0;
  int update_requests = 0;  // of families
  int64_t rows_read = 0;

  absl::Status EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) override {
    const std::lock_guard lock(*mutex_);
    for (const FamilyRequest& family : families) tables[table].families.emplace(family.name, family.gc_rule);
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string& table) override {
    const std::lock_guard lock(*mutex_);
    if (!tables.contains(table)) return absl::NotFoundError("no table " + table);
    std::vector<FamilyRequest> families;
    for (const auto& [name, rule] : tables[table].families) families.push_back({name, rule});
    return families;
  }

  absl::Status UpdateFamilies(const std::string& table, const std::vector<FamilyRequest>& families) override {
    const std::lock_guard lock(*mutex_);
    ++update_requests;
    if (!tables.contains(table)) return absl::NotFoundError("no table " + table);
    for (const FamilyRequest& family : families) {
      const auto found = tables[table].families.find(family.name);
      if (found == tables[table].families.end()) return absl::NotFoundError("no family " + family.name);
      found->second = family.gc_rule;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<std::vector<std::string>> ListTables() override {
    const std::lock_guard lock(*mutex_);
    std::vector<std::string> names;
    for (const auto& [name, table] : tables) names.push_back(name);
    return names;
  }

  absl::Status DropTable(const std::string& table) override {
    const std::lock_guard lock(*mutex_);
    return tables.erase(table) == 1 ? absl::OkStatus() : absl::NotFoundError("no table " + table);
  }

  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                       const std::vector<RowWrite>& rows) override {
    const std::lock_guard lock(*mutex_);
    if (!tables.contains(table)) return absl::NotFoundError("no table " + table);
    ++mutate_requests;
    std::vector<absl::Status> statuses;
    for (const RowWrite& write : rows) {
      if (refused_rows.contains(write.row_key)) {
        statuses.push_back(absl::UnavailableError("the row is away"));
        continue;
      }
      const auto is_odd = [](const CellWrite& cell) { return cell.timestamp_micros % 1000 != 0; };
      if (std::any_of(write.cells.begin(), write.cells.end(), is_odd)) {
        return absl::InvalidArgumentError("a timestamp that is not a whole millisecond");
      }
      Row& row = tables[table].rows[write.row_key];
      for (const auto& column : write.delete_columns) row.erase(column);
      for (const CellWrite& cell : write.cells) {
        row[{cell.family, cell.qualifier}][cell.timestamp_micros] = cell.value;
      }
      if (row.empty()) tables[table].rows.erase(write.row_key);
      statuses.push_back(absl::OkStatus());
    }
    return statuses;
  }

  absl::Status ReadRows(const std::string& table, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& callback) override {
    absl::StatusOr<std::vector<ReadRow>> rows = Select(table, read);
    if (!rows.ok()) return rows.status();
    for (ReadRow& row : *rows) {  // the callback may write
      {
        const std::lock_guard lock(*mutex_);
        ++rows_read;
      }
      if (!callback(std::move(row))) break;
    }
    return absl::OkStatus();
  }
  NumberAccess* numbers() override { return nullptr; }

 private:
  absl::StatusOr<std::vector<ReadRow>> Select(const std::string& table, const RowRead& read) {
    const std::lock_guard lock(*mutex_);
    if (!tables.contains(table)) return absl::NotFoundError("no table " + table);
    ++read_requests;
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

  static void AppendColumn(const RowRead& read, const std::pair<std::string, std::string>& name,
                           const Column& cells, ReadRow* row) {
    if (read.family && *read.family != name.first) return;
    bool is_asked = read.columns.empty();
    for (const RowRead::Column& column : read.columns) {
      is_asked |= column.family == name.first && column.qualifier == name.second;
    }
    int32_t count = 0;
    for (const auto& [time, value] : cells) {
      if (!is_asked || time < read.start_micros || (read.end_micros != 0 && time >= read.end_micros))
        continue;
      row->cells.push_back({name.first, name.second, time, value});
      if (++count == read.cells_per_column_max) break;
    }
  }

  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // moves with the rest
};

// The process dies before its n-th write: that one and all later requests fail.
class DyingTables final : public TableAccess {
 public:
  DyingTables(MemoryTables* tables, int writes_left) : tables_(tables), writes_left_(writes_left) {}

  absl::Status EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) override {
    return tables_->EnsureTable(table, families);
  }
  absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string& table) override {
    return tables_->ListFamilies(table);
  }
  absl::Status UpdateFamilies(const std::string& table, const std::vector<FamilyRequest>& families) override {
    return tables_->UpdateFamilies(table, families);
  }
  absl::StatusOr<std::vector<std::string>> ListTables() override { return tables_->ListTables(); }
  absl::Status DropTable(const std::string& table) override { return tables_->DropTable(table); }
  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                       const std::vector<RowWrite>& rows) override {
    if (writes_left_ == 0) return absl::UnavailableError("dead");
    --writes_left_;
    return tables_->MutateRows(table, rows);
  }
  absl::Status ReadRows(const std::string& table, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& row) override {
    if (writes_left_ == 0) return absl::UnavailableError("dead");
    return tables_->ReadRows(table, read, row);
  }
  NumberAccess* numbers() override { return nullptr; }

 private:
  MemoryTables* tables_;
  int writes_left_;
};

}  // namespace sonde::series
