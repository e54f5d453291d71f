// Tables in memory that keep every cell: examples are written to them and read from them.
//
// GC rules are recorded, not applied.  RowRead::row_key_regex is ignored.
// Threads: several may write and read at once.  `tables` is for the time when none does.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "model/table_access.h"

namespace sonde::series {

class ExampleTables : public TableAccess {
 public:
  // Family, qualifier; newest first.
  using Column = std::map<int64_t, std::string, std::greater<>>;
  using Row = std::map<std::pair<std::string, std::string>, Column>;
  struct Table {
    std::map<std::string, GcRule> families;
    std::map<std::string, Row> rows;
  };

  std::map<std::string, Table> tables;

  absl::Status EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) override;
  absl::StatusOr<std::vector<FamilyRequest>> ListFamilies(const std::string& table) override;
  absl::Status UpdateFamilies(const std::string& table, const std::vector<FamilyRequest>& families) override;
  absl::StatusOr<std::vector<std::string>> ListTables() override;
  absl::Status DropTable(const std::string& table) override;
  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                       const std::vector<RowWrite>& rows) override;
  absl::Status ReadRows(const std::string& table, const RowRead& read,
                        const std::function<bool(ReadRow&&)>& callback) override;
  NumberAccess* numbers() override { return nullptr; }

 protected:
  absl::Mutex& mutex() const { return *mutex_; }

 private:
  absl::StatusOr<std::vector<ReadRow>> Select(const std::string& table, const RowRead& read);

  static void AppendColumn(const RowRead& read, const std::pair<std::string, std::string>& name,
                           const Column& cells, ReadRow* row);

  std::unique_ptr<absl::Mutex> mutex_ = std::make_unique<absl::Mutex>();  // moves with the rest
};

}  // namespace sonde::series
