// The end of tables: at once, or so that they can come back.
#include <fmt/format.h>

#include <utility>

#include "catalog/catalog.h"
#include "catalog/record/record_keys.h"
#include "model/limits.h"
#include "model/names.h"

namespace sonde {

absl::Status Catalog::Delete(std::string_view table_name, std::optional<int64_t> keep_from_micros) {
  const absl::StatusOr<std::string> dropping = Repeat(
      [&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryDelete(table_name, keep_from_micros); });
  if (!dropping.ok()) return dropping.status();
  WaitUntilSeen();
  if (!dropping->empty()) return FinishDrop(*dropping);
  const std::vector<DeletedTableRef> kept = ListDeleted();
  for (size_t i = 0; i + kDeletedTablesMax < kept.size(); ++i) {
    const absl::Status purged = Purge(kept[i]->record.schema.id);
    if (!purged.ok() && !absl::IsNotFound(purged)) return purged;  // NOT_FOUND: another call was first
  }
  return absl::OkStatus();
}

absl::StatusOr<std::string> Catalog::TryDelete(std::string_view table_name,
                                               std::optional<int64_t> keep_from_micros) {
  const absl::StatusOr<Table> table = FindTable(table_name);
  if (!table.ok()) return table.status();
  const TableSchema& schema = *table->schema;
  if (schema.deletion_protection) {
    return absl::FailedPreconditionError(fmt::format("Table {} is protected against deletion", table_name));
  }
  if (schema.change_stream.has_value()) {
    return absl::FailedPreconditionError(fmt::format(
        "Table {} has a change stream enabled; disable it before the table is deleted", table_name));
  }
  if (absl::Status status = CheckIsUnread(schema, nullptr); !status.ok()) return status;
  if (!keep_from_micros.has_value() && journal_ != nullptr && schema.FindLogUse(kJournalUse) != nullptr) {
    keep_from_micros = journal_->clock().NowMicros();
  }
  std::vector<RecordChange> records = {{TableKey(table_name), std::nullopt}};
  std::string dropping;
  DeletedTableRef kept;
  if (keep_from_micros.has_value()) {
    kept = std::make_shared<const DeletedTable>(
        DeletedTable{{schema, table->next_family_id}, *keep_from_micros});
    records.push_back(DeletedTables::RecordOf(*kept));
  } else {
    dropping = DroppingKey(schema.id);
    records.push_back({dropping, ""});
  }
  const std::vector<AuthorizedViewRef> views = ListViews(table_name, "", kAuthorizedViewsMax);
  for (const AuthorizedViewRef& view : views) {
    if (view->deletion_protection) {
      return absl::FailedPreconditionError(
          fmt::format("Table {} has an authorized view that is protected against deletion: {}", table_name,
                      IdOfAuthorizedView(view->name)));
    }
    records.push_back(AuthorizedViews::NoRecordOf(view->name));
  }
  const std::vector<SchemaBundleRef> bundles = ListBundles(table_name);
  for (const SchemaBundleRef& bundle : bundles) records.push_back(SchemaBundles::NoRecordOf(bundle->name));
  AddCompanions(table_name, &records);
  if (absl::Status status = Write(std::move(records)); !status.ok()) return status;
  TellCompanions(table_name);
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) {
    state_.Erase(schema);
    for (const AuthorizedViewRef& view : views) state_.views.Erase(view->name);
    for (const SchemaBundleRef& bundle : bundles) state_.bundles.Erase(bundle->name);
    if (kept != nullptr) state_.deleted.Put(std::move(kept));
  }
  return dropping;
}

absl::StatusOr<TableSchemaRef> Catalog::Undelete(std::string_view table_name) {
  absl::StatusOr<TableSchemaRef> made =
      Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryUndelete(table_name); });
  if (made.ok()) WaitUntilSeen();
  return made;
}

absl::StatusOr<TableSchemaRef> Catalog::TryUndelete(std::string_view table_name) {
  // Looks for the newest records of a shared store, too.
  if (absl::Status status = CheckIsFree(table_name); !status.ok()) return status;
  DeletedTableRef deleted;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    deleted = state_.deleted.FindLast(table_name);
  }
  if (deleted == nullptr) {
    return absl::NotFoundError(
        fmt::format("Table not found: {}. No rows of a deleted table of this name are kept", table_name));
  }
  TableRecord record = deleted->record;
  record.schema.deletion_protection = true;
  const TableId id = record.schema.id;
  absl::Status status =
      Write({{TableKey(table_name), EncodeTableRecord(record)}, DeletedTables::NoRecordOf(id)});
  if (!status.ok()) return status;
  if (status = TellEngine(record.schema); !status.ok()) return status;
  if (journal_ != nullptr) status = journal_->Pass(id);
  if (!status.ok()) return status;
  auto made = std::make_shared<const TableSchema>(std::move(record.schema));
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) {
    state_.deleted.Erase(id);
    state_.Set(made, record.next_family_id);
  }
  return made;
}

absl::Status Catalog::Purge(TableId id) {
  const absl::StatusOr<std::string> dropping =
      Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryPurge(id); });
  if (!dropping.ok()) return dropping.status();
  WaitUntilSeen();
  return FinishDrop(*dropping);
}

absl::StatusOr<std::string> Catalog::TryPurge(TableId id) {
  DeletedTableRef deleted;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    deleted = state_.deleted.FindById(id);
  }
  if (deleted == nullptr) {
    return absl::NotFoundError(fmt::format("No deleted table of the id {} is kept", id));
  }
  const std::string dropping = DroppingKey(id);
  std::optional<DroppedLog> dropped;
  if (deleted->record.schema.FindLogUse(kJournalUse) != nullptr) dropped = {id, deleted->deleted_micros};
  absl::Status status = Write({DeletedTables::NoRecordOf(id), {dropping, ""}}, dropped);
  if (!status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) state_.deleted.Erase(id);
  return dropping;
}

std::vector<DeletedTableRef> Catalog::ListDeleted() const {
  if (lease_ != nullptr) lease_->Refresh().IgnoreError();
  const absl::ReaderMutexLock lock(&mutex_);
  return state_.deleted.List();
}

}  // namespace sonde
