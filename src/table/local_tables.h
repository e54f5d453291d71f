// Tables in this process: the series layer uses them for the tables of a data directory, and so do copies.  They give
// numbers, too.
//
// Threads: all functions may be called at once.  merging() is one for all of the same `tables`.
#pragma once

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "model/copy_access.h"
#include "table/commit_line.h"
#include "table/tables.h"

namespace sonde {

class LocalTables final : public CopyAccess, private NumberAccess {
 public:
  // `tables` must outlive this.  Tables are looked for in `instance`: projects/P/instances/I.  `caller` is
  // the name that observers of full scans see.  Short writes join those of others in `line`, which must
  // outlive this; null: each write is committed by itself.
  LocalTables(Tables* tables, std::string instance, std::string caller = "Sonde itself",
              CommitLine* line = nullptr)
      : LocalTables(std::shared_ptr<Tables>(std::shared_ptr<void>(), tables), std::move(instance),
                    std::move(caller)) {
    line_ = line;
  }
  // Holds `tables`, and the store that shares its owner.
  LocalTables(std::shared_ptr<Tables> tables, std::string instance, std::string caller = "Sonde itself")
      : CopyAccess(tables->merging()),
        tables_(std::move(tables)),
        instance_(std::move(instance)),
        caller_(std::move(caller)) {}

  absl::Status EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) override;
  absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string& table) override;
  absl::Status UpdateFamilies(const std::string& table, const std::vector<FamilyRequest>& families) override;
  absl::StatusOr<std::vector<std::string>> ListTables() override;
  absl::Status DropTable(const std::string& table) override {
    return tables_->catalog().Delete(NameOf(table));
  }
  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                       const std::vector<RowWrite>& rows) override;
  absl::Status ReadRows(const std::string& table, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& row) override;
  NumberAccess* numbers() override { return this; }
  absl::StatusOr<Described> Describe(const std::string& table) override;
  absl::StatusOr<std::vector<std::string>> Create(const TableSchema& schema) override;
  absl::StatusOr<std::vector<absl::Status>> MergeRows(const std::string& table,
                                                      const std::vector<RowWrite>& rows,
                                                      const std::set<std::string>& merged) override;

 private:
  absl::Status Read(const std::string& table, const NumberRead& read,
                    const std::function<bool(const NumberRow&)>& row) override;
  absl::StatusOr<DividedRanges> Divide(const std::string& table, const std::string& family,
                                       const std::vector<RowRange>& ranges) override;
  void NoteFullScan(const std::string& table, int64_t rows) override;
  std::string NameOf(const std::string& table) const { return instance_ + "/tables/" + table; }

  const std::shared_ptr<Tables> tables_;
  const std::string instance_;
  const std::string caller_;
  CommitLine* line_ = nullptr;
};

}  // namespace sonde
