// Logical and materialized views.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "catalog/catalog.h"
#include "catalog/record/record_keys.h"
#include "catalog/record/table_record.h"
#include "model/limits.h"
#include "model/names.h"

namespace sonde {
namespace {

template <typename View>
constexpr std::string_view kKindOfView = "Logical view";
template <>
constexpr std::string_view kKindOfView<MaterializedViewRecord> = "Materialized view";

std::string LogicalViewsPrefix(std::string_view instance) {
  return fmt::format("{}/logicalViews/", instance);
}
std::string MaterializedViewsPrefix(std::string_view instance) {
  return fmt::format("{}/materializedViews/", instance);
}

const ViewsByName<LogicalViewRecord>& ViewsOf(const SqlViews& views, const LogicalViewRecord* /*kind*/) {
  return views.logical;
}
const ViewsByName<MaterializedViewRecord>& ViewsOf(const SqlViews& views,
                                                   const MaterializedViewRecord* /*kind*/) {
  return views.materialized;
}

template <typename View>
absl::Status CheckEtagOfView(const View& view, std::string_view etag) {
  if (etag.empty() || etag == EtagOf(view)) return absl::OkStatus();
  return absl::AbortedError(fmt::format(
      "The etag '{}' is not that of {}, which has changed: its etag is '{}'", etag, view.name, EtagOf(view)));
}

absl::Status SourceHasChanged(std::string_view name) {
  return absl::AbortedError(fmt::format("{} has changed since the view's query was bound. Try again", name));
}

template <typename View>
absl::Status CheckIsUnprotected(const View& view) {
  if (!view.deletion_protection) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("{} {} is protected against deletion", kKindOfView<View>, view.name));
}

template <typename View>
absl::Status NameIsInUse(std::string_view name) {
  return absl::AlreadyExistsError(fmt::format("{} already exists: {}", kKindOfView<View>, name));
}

// A table of a view's own, complete.
TableSchemaRef OwnTable(TableSchema schema, const std::string& view_name, TableId id) {
  schema.name = view_name;
  schema.id = id;
  std::sort(schema.families.begin(), schema.families.end(),
            [](const FamilySchema& a, const FamilySchema& b) { return a.name < b.name; });
  FamilyId next_family_id = 1;
  for (FamilySchema& family : schema.families) family.id = next_family_id++;
  return std::make_shared<const TableSchema>(std::move(schema));
}

}  // namespace

void Catalog::State::Set(const LogicalViewRef& view) { sql_views.logical.Put(view); }

void Catalog::State::Set(const MaterializedViewRef& view) {
  sql_views.materialized.Put(view);
  by_id[view->storage->id] = view->storage;
  by_id[view->workings->id] = view->workings;
}

void Catalog::State::EraseSqlView(std::string_view view_name) {
  if (const MaterializedViewRef view = sql_views.materialized.Find(view_name); view != nullptr) {
    by_id.erase(view->storage->id);
    by_id.erase(view->workings->id);
  }
  sql_views.materialized.Erase(view_name);
  sql_views.logical.Erase(view_name);
}

absl::Status Catalog::ReadSqlViews(State* state) const {
  const auto logical = engine_->ReadRecords(LogicalViewRecord::kRecordPrefix);
  if (!logical.ok()) return logical.status();
  const auto materialized = engine_->ReadRecords(MaterializedViewRecord::kRecordPrefix);
  if (!materialized.ok()) return materialized.status();
  for (const auto* const records : {&*logical, &*materialized}) {
    for (const auto& [key, value, version] : *records) state->versions[key] = version;
  }
  if (absl::Status status = state->sql_views.logical.Load(*logical); !status.ok()) return status;
  if (absl::Status status = state->sql_views.materialized.Load(*materialized); !status.ok()) return status;
  for (const MaterializedViewRef& view : state->sql_views.materialized.List("", "", materialized->size())) {
    state->Set(view);
    state->next_table_id = std::max({state->next_table_id, view->storage->id + 1, view->workings->id + 1});
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> Catalog::HasRecordOfView(const TableSchema& schema) const {
  const auto records =
      engine_->ReadRecords(fmt::format("{}{}", MaterializedViewRecord::kRecordPrefix, schema.name));
  if (!records.ok()) return records.status();
  ViewsByName<MaterializedViewRecord> views;
  if (absl::Status status = views.Load(*records); !status.ok()) return status;
  const MaterializedViewRef view = views.Find(schema.name);
  return view != nullptr && (view->storage->id == schema.id || view->workings->id == schema.id);
}

absl::Status Catalog::CheckIsUnread(const TableSchema& schema, const FamilySchema* family) const {
  const absl::ReaderMutexLock lock(&mutex_);
  const std::string reader = family == nullptr ? state_.sql_views.ReaderOf(schema.id)
                                               : state_.sql_views.ReaderOf(schema.id, family->id);
  if (reader.empty()) return absl::OkStatus();
  const std::string what = family == nullptr
                               ? fmt::format("Table {}", schema.name)
                               : fmt::format("Column family '{}' of table {}", family->name, schema.name);
  return absl::FailedPreconditionError(
      fmt::format("{} is in use: view {} reads from it. Delete the view first", what, reader));
}

absl::Status Catalog::CheckMaySetKeySchema(const TableSchema& before, const TableSchema& after) const {
  if (before.row_key_schema == after.row_key_schema) return absl::OkStatus();
  const absl::ReaderMutexLock lock(&mutex_);
  const MaterializedViewRef reader = state_.sql_views.materialized.FindIf(
      [&](const MaterializedViewRecord& view) { return view.source.table_id == before.id; });
  if (reader == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      fmt::format("The row key schema of table {} is in use: view {} reads from it. Delete the view first",
                  before.name, reader->name));
}

// --- What both kinds share.

template <typename View>
absl::StatusOr<std::shared_ptr<const View>> Catalog::FindSqlView(std::string_view view_name) const {
  const auto look_up = [&]() -> absl::StatusOr<std::shared_ptr<const View>> {
    const absl::ReaderMutexLock lock(&mutex_);
    std::shared_ptr<const View> view =
        ViewsOf(state_.sql_views, static_cast<const View*>(nullptr)).Find(view_name);
    if (view != nullptr) return view;
    return absl::NotFoundError(fmt::format("{} not found: {}", kKindOfView<View>, view_name));
  };
  if (lease_ == nullptr) return look_up();
  if (absl::Status status = lease_->Ensure(); !status.ok()) return status;
  if (absl::StatusOr<std::shared_ptr<const View>> view = look_up(); view.ok()) return view;
  // Another server may have made it just now.
  if (absl::Status status = lease_->Refresh(); !status.ok()) return status;
  return look_up();
}

template <typename View>
std::vector<std::shared_ptr<const View>> Catalog::ListSqlViews(std::string_view prefix,
                                                               std::string_view after_id,
                                                               size_t count_max) const {
  if (lease_ != nullptr) lease_->Refresh().IgnoreError();
  const absl::ReaderMutexLock lock(&mutex_);
  return ViewsOf(state_.sql_views, static_cast<const View*>(nullptr)).List(prefix, after_id, count_max);
}

absl::Status Catalog::HoldSource(const ViewSource& source, std::vector<RecordChange>* records) {
  const absl::StatusOr<Table> table = FindTable(source.table);
  if (absl::IsNotFound(table.status())) return SourceHasChanged(source.table);
  if (!table.ok()) return table.status();
  const TableSchema& schema = *table->schema;
  const bool has_all =
      schema.id == source.table_id && std::ranges::all_of(source.families, [&](FamilyId family) {
        return schema.FindFamily(family) != nullptr;
      });
  if (!has_all) return SourceHasChanged(source.table);
  // Another server that drops the table or a family of it meanwhile writes the same record.
  if (lease_ != nullptr) {
    records->push_back({TableKey(schema.name), EncodeTableRecord({schema, table->next_family_id})});
  }
  return absl::OkStatus();
}

absl::Status Catalog::HoldSources(const LogicalViewRecord& view, std::vector<RecordChange>* records) {
  for (const ViewSource& table : view.tables) {
    if (absl::Status status = HoldSource(table, records); !status.ok()) return status;
  }
  for (const std::string& name : view.views) {
    const absl::StatusOr<LogicalViewRef> logical = FindLogicalView(name);
    if (logical.ok()) {
      if (lease_ != nullptr) records->push_back(RecordOf(**logical));
      continue;
    }
    const absl::StatusOr<MaterializedViewRef> materialized = FindMaterializedView(name);
    if (absl::IsNotFound(materialized.status())) return SourceHasChanged(name);
    if (!materialized.ok()) return materialized.status();
    if (lease_ != nullptr) records->push_back(RecordOf(**materialized));
  }
  return absl::OkStatus();
}

template <typename View>
absl::StatusOr<std::shared_ptr<const View>> Catalog::WriteSqlView(View view,
                                                                  std::vector<RecordChange> records) {
  {
    const absl::ReaderMutexLock lock(&mutex_);
    if (absl::Status status = state_.sql_views.CheckRoomFor(view.name, view.query); !status.ok())
      return status;
  }
  records.push_back(RecordOf(view));
  if (absl::Status status = Write(std::move(records)); !status.ok()) return status;
  auto made = std::make_shared<const View>(std::move(view));
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) state_.Set(made);
  ++materialized_views_version_;
  return made;
}

absl::StatusOr<std::vector<std::string>> Catalog::EraseSqlViews(
    const std::vector<LogicalViewRef>& logical, const std::vector<MaterializedViewRef>& materialized) {
  std::vector<RecordChange> changes;
  std::vector<std::string> names, dropping;
  for (const LogicalViewRef& view : logical) {
    changes.push_back({RecordOf(*view).key, std::nullopt});
    names.push_back(view->name);
  }
  for (const MaterializedViewRef& view : materialized) {
    changes.push_back({RecordOf(*view).key, std::nullopt});
    names.push_back(view->name);
    for (const TableSchemaRef& own : {view->storage, view->workings}) {
      dropping.push_back(DroppingKey(own->id));
      changes.push_back({dropping.back(), ""});
    }
  }
  if (names.empty()) return dropping;
  for (const std::string& name : names) AddCompanions(name, &changes);
  if (absl::Status status = Write(std::move(changes)); !status.ok()) return status;
  for (const std::string& name : names) TellCompanions(name);
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) {
    for (const std::string& name : names) state_.EraseSqlView(name);
  }
  ++materialized_views_version_;
  return dropping;
}

template <typename View>
absl::StatusOr<std::vector<std::string>> Catalog::TryDeleteSqlView(std::string_view view_name,
                                                                   std::string_view etag) {
  const absl::StatusOr<std::shared_ptr<const View>> view = FindSqlView<View>(view_name);
  if (!view.ok()) return view.status();
  if (absl::Status status = CheckEtagOfView(**view, etag); !status.ok()) return status;
  if (absl::Status status = CheckIsUnprotected(**view); !status.ok()) return status;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    if (const std::string reader = state_.sql_views.ReaderOf(view_name); !reader.empty()) {
      return absl::FailedPreconditionError(
          fmt::format("{} {} is in use: view {} reads from it. Delete that view first", kKindOfView<View>,
                      view_name, reader));
    }
  }
  if constexpr (std::is_same_v<View, LogicalViewRecord>) {
    return EraseSqlViews({*view}, {});
  } else {
    return EraseSqlViews({}, {*view});
  }
}

absl::Status Catalog::FinishDropsOf(const absl::StatusOr<std::vector<std::string>>& dropping) {
  if (!dropping.ok()) return dropping.status();
  WaitUntilSeen();
  for (const std::string& key : *dropping) {
    if (absl::Status status = FinishDrop(key); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Catalog::DeleteSqlViews(std::string_view instance) {
  return FinishDropsOf(
      Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryDeleteSqlViews(instance); }));
}

absl::StatusOr<std::vector<std::string>> Catalog::TryDeleteSqlViews(std::string_view instance) {
  const std::vector<LogicalViewRef> logical = ListLogicalViews(instance, "", kLogicalViewsPerInstanceMax);
  for (const LogicalViewRef& view : logical) {
    if (absl::Status status = CheckIsUnprotected(*view); !status.ok()) return status;
  }
  const std::vector<MaterializedViewRef> materialized =
      ListMaterializedViews(instance, "", kMaterializedViewsPerInstanceMax);
  for (const MaterializedViewRef& view : materialized) {
    if (absl::Status status = CheckIsUnprotected(*view); !status.ok()) return status;
  }
  return EraseSqlViews(logical, materialized);
}

// --- Logical views.

absl::StatusOr<LogicalViewRef> Catalog::FindLogicalView(std::string_view view_name) const {
  return FindSqlView<LogicalViewRecord>(view_name);
}

std::vector<LogicalViewRef> Catalog::ListLogicalViews(std::string_view instance, std::string_view after_id,
                                                      size_t count_max) const {
  return ListSqlViews<LogicalViewRecord>(LogicalViewsPrefix(instance), after_id, count_max);
}

std::vector<LogicalViewRef> Catalog::ListAllLogicalViews() const {
  const absl::ReaderMutexLock lock(&mutex_);
  return state_.sql_views.logical.List("", "", SIZE_MAX);
}

absl::StatusOr<LogicalViewRef> Catalog::CreateLogicalView(LogicalViewRecord view) {
  return Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryCreateLogicalView(view); });
}

absl::StatusOr<LogicalViewRef> Catalog::TryCreateLogicalView(LogicalViewRecord view) {
  if (const absl::Status found = FindLogicalView(view.name).status(); !absl::IsNotFound(found)) {
    return found.ok() ? NameIsInUse<LogicalViewRecord>(view.name) : found;
  }
  const std::string_view instance = InstanceOfSqlView(view.name);
  if (ListLogicalViews(instance, "", kLogicalViewsPerInstanceMax).size() == kLogicalViewsPerInstanceMax) {
    return absl::ResourceExhaustedError(fmt::format("Too many logical views of instance {}: the limit is {}",
                                                    instance, kLogicalViewsPerInstanceMax));
  }
  std::vector<RecordChange> records;
  if (absl::Status status = HoldSources(view, &records); !status.ok()) return status;
  return WriteSqlView(std::move(view), std::move(records));
}

absl::StatusOr<LogicalViewRef> Catalog::UpdateLogicalView(std::string_view view_name, std::string_view etag,
                                                          const LogicalViewChange& change) {
  absl::StatusOr<LogicalViewRef> made = Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) {
    return TryUpdateLogicalView(view_name, etag, change);
  });
  if (made.ok()) WaitUntilSeen();
  return made;
}

absl::StatusOr<LogicalViewRef> Catalog::TryUpdateLogicalView(std::string_view view_name,
                                                             std::string_view etag,
                                                             const LogicalViewChange& change) {
  const absl::StatusOr<LogicalViewRef> found = FindLogicalView(view_name);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEtagOfView(**found, etag); !status.ok()) return status;
  LogicalViewRecord view = **found;
  change(&view);
  CHECK(view.name == view_name);
  std::vector<RecordChange> records;
  if (absl::Status status = HoldSources(view, &records); !status.ok()) return status;
  return WriteSqlView(std::move(view), std::move(records));
}

absl::Status Catalog::DeleteLogicalView(std::string_view view_name, std::string_view etag) {
  return FinishDropsOf(Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) {
    return TryDeleteSqlView<LogicalViewRecord>(view_name, etag);
  }));
}

// --- Materialized views.

absl::StatusOr<MaterializedViewRef> Catalog::FindMaterializedView(std::string_view view_name) const {
  return FindSqlView<MaterializedViewRecord>(view_name);
}

std::vector<MaterializedViewRef> Catalog::ListMaterializedViews(std::string_view instance,
                                                                std::string_view after_id,
                                                                size_t count_max) const {
  return ListSqlViews<MaterializedViewRecord>(MaterializedViewsPrefix(instance), after_id, count_max);
}

std::vector<MaterializedViewRef> Catalog::ListAllMaterializedViews() const {
  const absl::ReaderMutexLock lock(&mutex_);
  return state_.sql_views.materialized.List("", "", SIZE_MAX);
}

absl::StatusOr<MaterializedViewRef> Catalog::CreateMaterializedView(MaterializedViewRecord view) {
  return Repeat([&]()
                    ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryCreateMaterializedView(view); });
}

absl::StatusOr<MaterializedViewRef> Catalog::TryCreateMaterializedView(MaterializedViewRecord view) {
  if (const absl::Status found = FindMaterializedView(view.name).status(); !absl::IsNotFound(found)) {
    return found.ok() ? NameIsInUse<MaterializedViewRecord>(view.name) : found;
  }
  const std::string prefix = MaterializedViewsPrefix(InstanceOfSqlView(view.name));
  TableId id = 0;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    const auto& views = state_.sql_views.materialized;
    if (views.List(prefix, "", kMaterializedViewsPerInstanceMax).size() == kMaterializedViewsPerInstanceMax) {
      return absl::ResourceExhaustedError(
          fmt::format("Too many materialized views of instance {}: the limit is {}",
                      InstanceOfSqlView(view.name), kMaterializedViewsPerInstanceMax));
    }
    const size_t of_table = views.CountIf(
        [&](const MaterializedViewRecord& other) { return other.source.table_id == view.source.table_id; });
    if (of_table >= kMaterializedViewsPerTableMax) {
      return absl::ResourceExhaustedError(
          fmt::format("Too many materialized views of table {}: the limit is {}", view.source.table,
                      kMaterializedViewsPerTableMax));
    }
    id = state_.next_table_id;
  }
  std::vector<RecordChange> records;
  if (absl::Status status = HoldSource(view.source, &records); !status.ok()) return status;
  view.storage = OwnTable(*view.storage, view.name, id);
  view.workings = OwnTable(*view.workings, view.name, id + 1);
  records.push_back({std::string(kNextTableId), std::to_string(id + 2)});
  absl::StatusOr<MaterializedViewRef> made = WriteSqlView(std::move(view), std::move(records));
  if (!made.ok()) return made;
  if (lease_ == nullptr) {
    const absl::MutexLock lock(&mutex_);
    state_.next_table_id = id + 2;
  }
  for (const TableSchemaRef& own : {(*made)->storage, (*made)->workings}) {
    if (absl::Status status = TellEngine(*own); !status.ok()) return status;
  }
  return made;
}

absl::StatusOr<MaterializedViewRef> Catalog::UpdateMaterializedView(std::string_view view_name,
                                                                    std::string_view etag,
                                                                    const MaterializedViewChange& change) {
  absl::StatusOr<MaterializedViewRef> made = Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) {
    return TryUpdateMaterializedView(view_name, etag, change);
  });
  if (made.ok()) WaitUntilSeen();
  return made;
}

absl::StatusOr<MaterializedViewRef> Catalog::TryUpdateMaterializedView(std::string_view view_name,
                                                                       std::string_view etag,
                                                                       const MaterializedViewChange& change) {
  const absl::StatusOr<MaterializedViewRef> found = FindMaterializedView(view_name);
  if (!found.ok()) return found.status();
  if (absl::Status status = CheckEtagOfView(**found, etag); !status.ok()) return status;
  MaterializedViewRecord view = **found;
  change(&view);
  CHECK(view.name == view_name && view.storage == (*found)->storage && view.workings == (*found)->workings);
  return WriteSqlView(std::move(view), {});
}

absl::Status Catalog::DeleteMaterializedView(std::string_view view_name, std::string_view etag) {
  return FinishDropsOf(Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) {
    return TryDeleteSqlView<MaterializedViewRecord>(view_name, etag);
  }));
}

}  // namespace sonde
