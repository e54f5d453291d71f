#include "copy/copy_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde {
namespace {

// FAILED_PRECONDITION: cells would combine or be forgotten in another way.
absl::Status CheckSameFamilies(const TableSchema& source, const TableSchema& target) {
  for (const FamilySchema& family : source.families) {
    const FamilySchema* const found = target.FindFamily(family.name);
    if (found != nullptr && found->gc_rule == family.gc_rule && found->aggregate == family.aggregate)
      continue;
    return absl::FailedPreconditionError(
        fmt::format("the target's table '{}' {} family '{}': give it the source's families, or drop it",
                    source.name, found == nullptr ? "has no" : "has another rule or type in", family.name));
  }
  if (source.granularity == target.granularity) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("the target's table '{}' has timestamps of another granularity", source.name));
}

absl::Status CheckIsEmpty(CopyAccess* to, const std::string& table) {
  RowRead read;
  read.ranges = {RowRange::All()};
  read.rows_max = 1;
  read.cells_per_column_max = 1;
  bool is_empty = true;
  const absl::Status status = to->ReadRows(table, read, [&](const ReadRow&) {
    is_empty = false;
    return false;
  });
  if (!status.ok() || is_empty) return status;
  return absl::FailedPreconditionError(
      fmt::format("the target's table '{}' has rows: drop it, or name the tables to copy; a copy that was "
                  "broken off goes on with --resume FILE, if it was begun so",
                  table));
}

// Makes the table at the target, or looks whether the copy may go there.
absl::Status PrepareTarget(CopyAccess* to, const TableSchema& schema, CopyState* state,
                           std::vector<std::string>* left_out) {
  const auto begun = state->tables.find(schema.name);
  const absl::StatusOr<CopyAccess::Described> target = to->Describe(schema.name);
  if (absl::IsNotFound(target.status())) {
    if (begun != state->tables.end() && (begun->second.is_done || !begun->second.next_key.empty())) {
      return absl::FailedPreconditionError(
          fmt::format("by '{}' rows of table '{}' are copied, but the target has no such table: remove "
                      "the file, and copy anew",
                      state->file(), schema.name));
    }
    absl::StatusOr<std::vector<std::string>> not_taken = to->Create(schema);
    if (!not_taken.ok()) return not_taken.status();
    std::move(not_taken->begin(), not_taken->end(), std::back_inserter(*left_out));
  } else if (!target.ok()) {
    return target.status();
  } else {
    if (absl::Status status = CheckSameFamilies(schema, target->schema); !status.ok()) return status;
    if (begun == state->tables.end()) {
      if (absl::Status status = CheckIsEmpty(to, schema.name); !status.ok()) return status;
    }
  }
  state->tables.try_emplace(schema.name);
  return state->Save();
}

}  // namespace

absl::StatusOr<std::vector<TableReport>> CopyTables(CopyAccess* from, CopyAccess* to,
                                                    std::vector<std::string> tables,
                                                    const CopyOptions& options, const Clock* clock,
                                                    CopyState* state) {
  if (tables.empty()) {
    absl::StatusOr<std::vector<std::string>> all = from->ListTables();
    if (!all.ok()) return all.status();
    if (all->empty()) return absl::NotFoundError("the source has no tables in this project and instance");
    tables = *std::move(all);
    std::sort(tables.begin(), tables.end());
  }
  std::vector<CopyAccess::Described> described;
  for (const std::string& table : tables) {
    absl::StatusOr<CopyAccess::Described> one = from->Describe(table);
    if (absl::IsNotFound(one.status()))
      return absl::NotFoundError(fmt::format("the source has no table '{}'", table));
    if (!one.ok()) return one.status();
    described.push_back(*std::move(one));
  }
  std::vector<TableReport> reports;
  for (CopyAccess::Described& table : described) {
    absl::Status status = PrepareTarget(to, table.schema, state, &table.left_out);
    if (status.ok()) status = TableCopy(from, to, table.schema, options, clock, state).Run();
    if (!status.ok()) return status;
    reports.push_back({table.schema.name, state->tables[table.schema.name], std::move(table.left_out)});
  }
  return reports;
}

}  // namespace sonde
