// Tables in memory that keep every cell, for tests of the series layer: they count, and fail on demand.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/write/example_tables.h"

namespace sonde::series {

// Threads: as ExampleTables; the members are for the time when none writes or reads.
class MemoryTables final : public ExampleTables {
 public:
  std::set<std::string> refused_rows;  // MutateRows answers UNAVAILABLE for these
  // Requests for tables that are there.
  int mutate_requests = 0;
  int read_requests = 0;
  int update_requests = 0;  // of families
  int64_t rows_read = 0;

  absl::Status UpdateFamilies(const std::string& table, const std::vector<FamilyRequest>& families) override {
    Count(&update_requests);
    return ExampleTables::UpdateFamilies(table, families);
  }

  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                       const std::vector<RowWrite>& rows) override {
    std::vector<RowWrite> taken;
    for (const RowWrite& row : rows) {
      if (!refused_rows.contains(row.row_key)) taken.push_back(row);
    }
    const absl::StatusOr<std::vector<absl::Status>> written = ExampleTables::MutateRows(table, taken);
    if (absl::IsNotFound(written.status())) return written.status();
    Count(&mutate_requests);
    if (!written.ok()) return written.status();
    std::vector<absl::Status> statuses;
    auto next = written->begin();
    for (const RowWrite& row : rows) {
      statuses.push_back(refused_rows.contains(row.row_key) ? absl::UnavailableError("the row is away")
                                                            : *next++);
    }
    return statuses;
  }

  absl::Status ReadRows(const std::string& table, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& callback) override {
    const auto count = [&](ReadRow&& row) {
      Count(&rows_read);
      return callback(std::move(row));
    };
    const absl::Status status = ExampleTables::ReadRows(table, read, count);
    if (!absl::IsNotFound(status)) Count(&read_requests);
    return status;
  }

 private:
  template <typename Number>
  void Count(Number* number) {
    const absl::MutexLock lock(&mutex());
    ++*number;
  }
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
