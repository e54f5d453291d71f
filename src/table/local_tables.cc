#include "table/local_tables.h"

#include "absl/synchronization/notification.h"
#include "model/limits.h"
#include "model/names.h"
#include "model/read_filter.h"

namespace sonde {
namespace {

constexpr int64_t kRowsPerStep = 1'000;

// A write of whose end somebody waits, who has its rows.
class WaitedFor final : public PendingWrite {
 public:
  WaitedFor(TableSchemaRef schema, absl::Span<const RowMutations> rows, uint64_t bytes,
            absl::StatusOr<std::vector<absl::Status>>* statuses, absl::Notification* done)
      : PendingWrite(absl::InfiniteFuture(), bytes), rows_(rows), statuses_(statuses), done_(done) {
    target_.schema = std::move(schema);
  }
  WhyAlone Open() override { return WhyAlone::kNot; }
  std::optional<absl::Span<const RowMutations>> ReadTogether(std::unique_ptr<Memory>*) override {
    return rows_;
  }
  absl::StatusOr<absl::Span<const RowMutations>> ReadAlone() override { return rows_; }
  absl::Status Interrupted() const override { return absl::OkStatus(); }
  void Done(absl::StatusOr<std::vector<absl::Status>> statuses) override {
    *statuses_ = std::move(statuses);
    done_->Notify();
  }

 private:
  const absl::Span<const RowMutations> rows_;
  absl::StatusOr<std::vector<absl::Status>>* const statuses_;
  absl::Notification* const done_;
};

}  // namespace

absl::Status LocalTables::EnsureTable(const std::string& table, const std::vector<FamilyRequest>& families) {
  const std::string name = NameOf(table);
  if (absl::Status status = CheckTableName(name); !status.ok()) return status;
  for (const FamilyRequest& family : families) {
    if (absl::Status status = CheckFamilyName(family.name); !status.ok()) return status;
  }
  absl::StatusOr<TableSchemaRef> found = tables_->catalog().Find(name);
  if (absl::IsNotFound(found.status())) {
    TableSchema schema;
    schema.name = name;
    for (const FamilyRequest& family : families) {
      schema.families.push_back({.name = family.name, .gc_rule = family.gc_rule});
    }
    return tables_->catalog().Create(std::move(schema)).status();
  }
  if (!found.ok()) return found.status();
  std::vector<FamilyModification> missing;
  for (const FamilyRequest& family : families) {
    if ((*found)->FindFamily(family.name) == nullptr) {
      missing.push_back(CreateFamily{{.name = family.name, .gc_rule = family.gc_rule}});
    }
  }
  return missing.empty() ? absl::OkStatus() : tables_->catalog().Modify(name, missing).status();
}

absl::StatusOr<std::vector<FamilyRequest>> LocalTables::ListFamilies(const std::string& table) {
  const absl::StatusOr<TableSchemaRef> found = tables_->catalog().Find(NameOf(table));
  if (!found.ok()) return found.status();
  std::vector<FamilyRequest> families;
  for (const FamilySchema& family : (*found)->families) families.push_back({family.name, family.gc_rule});
  return families;
}

absl::Status LocalTables::UpdateFamilies(const std::string& table,
                                         const std::vector<FamilyRequest>& families) {
  std::vector<FamilyModification> updates;
  for (const FamilyRequest& family : families) {
    updates.push_back(UpdateFamily{.name = family.name, .gc_rule = family.gc_rule});
  }
  return tables_->catalog().Modify(NameOf(table), updates).status();
}

absl::StatusOr<std::vector<std::string>> LocalTables::ListTables() {
  std::vector<std::string> result;
  for (const TableSchemaRef& table : tables_->catalog().List(instance_, "", kTablesMax)) {
    result.emplace_back(IdOfTable(table->name));
  }
  return result;
}

absl::StatusOr<CopyAccess::Described> LocalTables::Describe(const std::string& table) {
  const absl::StatusOr<TableSchemaRef> found = tables_->catalog().Find(NameOf(table));
  if (!found.ok()) return found.status();
  Described described{**found, {}};
  TableSchema& schema = described.schema;
  schema.name = table;
  schema.id = 0;
  for (FamilySchema& family : schema.families) family.id = 0;
  if (schema.change_stream.has_value()) described.left_out.emplace_back("its change stream");
  schema.change_stream.reset();
  schema.log_uses.clear();
  schema.restored_from.reset();
  return described;
}

absl::StatusOr<std::vector<std::string>> LocalTables::Create(const TableSchema& schema) {
  TableSchema named = schema;
  named.name = NameOf(schema.name);
  if (absl::Status status = CheckTableName(named.name); !status.ok()) return status;
  if (absl::Status status = tables_->catalog().Create(std::move(named)).status(); !status.ok()) return status;
  return std::vector<std::string>();
}

absl::StatusOr<std::vector<absl::Status>> LocalTables::MutateRows(const std::string& table,
                                                                  const std::vector<RowWrite>& rows) {
  return MergeRows(table, rows, {});
}

absl::StatusOr<std::vector<absl::Status>> LocalTables::MergeRows(const std::string& table,
                                                                 const std::vector<RowWrite>& rows,
                                                                 const std::set<std::string>& merged) {
  absl::StatusOr<TableSchemaRef> schema = tables_->catalog().Find(NameOf(table));
  if (!schema.ok()) return schema.status();
  size_t mutation_count = 0;
  for (const RowWrite& row : rows) {
    mutation_count += row.delete_columns.size() + row.delete_times.size() + row.cells.size();
  }
  std::vector<Mutation> mutations;
  mutations.reserve(mutation_count);  // the requests view it
  std::vector<RowMutations> requests;
  requests.reserve(rows.size());
  for (const RowWrite& row : rows) {
    const size_t first = mutations.size();
    for (const auto& [family, qualifier] : row.delete_columns) {
      mutations.push_back(DeleteFromColumn{family, qualifier, {}});
    }
    for (const RowWrite::ColumnTimes& times : row.delete_times) {
      mutations.push_back(
          DeleteFromColumn{times.family, times.qualifier, {times.start_micros, times.end_micros}});
    }
    for (const CellWrite& cell : row.cells) {
      if (!merged.empty() && merged.contains(cell.family)) {
        mutations.push_back(MergeToCell{cell.family, cell.qualifier, cell.timestamp_micros, cell.value});
        continue;
      }
      mutations.push_back(SetCell{cell.family, cell.qualifier, cell.timestamp_micros, cell.value});
    }
    requests.push_back({row.row_key, absl::MakeConstSpan(mutations).subspan(first)});
  }
  if (line_ == nullptr) return tables_->MutateRows(**schema, requests);
  // A long write would keep others waiting; this thread waits anyway.
  constexpr uint64_t kTogetherBytesMax = 64 << 10;
  uint64_t bytes = 0;
  for (size_t i = 0; i < requests.size() && bytes <= kTogetherBytesMax; ++i)
    bytes += BytesOf(requests[i].mutations);
  if (bytes > kTogetherBytesMax) return tables_->MutateRows(**schema, requests);
  absl::Notification done;
  absl::StatusOr<std::vector<absl::Status>> statuses;
  line_->Add(std::make_unique<WaitedFor>(*schema, requests, bytes, &statuses, &done));
  done.WaitForNotification();
  return statuses;
}

absl::Status LocalTables::ReadRows(const std::string& table, const RowRead& read,
                                   const std::function<bool(ReadRow&&)>& row) {
  absl::StatusOr<TableSchemaRef> schema = tables_->catalog().Find(NameOf(table));
  if (!schema.ok()) return schema.status();
  absl::StatusOr<std::shared_ptr<const CompiledFilter>> filter = CompileFilter(FilterOf(read));
  if (!filter.ok()) return filter.status();
  absl::StatusOr<std::unique_ptr<RowReader>> reader =
      tables_->Read(*schema, {.ranges = NormalizeRanges(read.ranges),
                              .filter = *filter,
                              .rows_limit = read.rows_max,
                              .reversed = read.reversed,
                              .interrupted = read.interrupted,
                              .caller = [this] { return caller_; }});
  if (!reader.ok()) return reader.status();
  while (true) {
    absl::StatusOr<RowReader::Step> step = (*reader)->Next(kRowsPerStep);
    if (!step.ok()) return step.status();
    if (*step == RowReader::Step::kEnd) return absl::OkStatus();
    if (*step == RowReader::Step::kPaused) continue;
    ReadRow result{(*reader)->row_key(), {}};
    result.cells.reserve((*reader)->cells().size());
    for (const FilterCell& cell : (*reader)->cells()) {
      result.cells.push_back({(*reader)->family_name(cell), std::string(cell.cell.qualifier),
                              cell.cell.timestamp_micros, std::string(cell.cell.value)});
    }
    if (!row(std::move(result))) return absl::OkStatus();
  }
}

absl::Status LocalTables::Read(const std::string& table, const NumberRead& read,
                               const std::function<bool(const NumberRow&)>& row) {
  absl::StatusOr<TableSchemaRef> schema = tables_->catalog().Find(NameOf(table));
  if (!schema.ok()) return schema.status();
  return tables_->ReadNumbers(*schema, read, row, [this] { return caller_; });
}

absl::StatusOr<DividedRanges> LocalTables::Divide(const std::string& table, const std::string& family,
                                                  const std::vector<RowRange>& ranges) {
  absl::StatusOr<TableSchemaRef> schema = tables_->catalog().Find(NameOf(table));
  if (!schema.ok()) return schema.status();
  return tables_->Divide(**schema, family, ranges);
}

void LocalTables::NoteFullScan(const std::string& table, int64_t rows) {
  const absl::StatusOr<TableSchemaRef> schema = tables_->catalog().Find(NameOf(table));
  if (schema.ok()) tables_->NoteFullScan(**schema, rows, [this] { return caller_; });
}

}  // namespace sonde
