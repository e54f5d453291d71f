#include "catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <random>

#include "base/varint.h"
#include "catalog/record/record_keys.h"
#include "catalog/record/table_record.h"
#include "model/limits.h"

namespace sonde {
namespace {

constexpr std::string_view kSecretPrefix = "secret/";  // + name

absl::Status NoTable(std::string_view name) {
  return absl::NotFoundError(fmt::format("Table not found: {}", name));
}

absl::Status CheckHasLog(Engine* engine, const TableSchema& schema) {
  if (!schema.IsLogged() || engine->log() != nullptr) return absl::OkStatus();
  return absl::UnimplementedError("Change logs of tables are not built for this kind of store");
}

bool ParseNumber(std::string_view text, uint32_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// Repeats a call that may be repeated, as long as its answer is lost.
template <typename Call>
absl::Status Insist(const Call& call) {
  constexpr int kAttemptsMax = 10;
  absl::Status status = call();
  for (int attempt = 1; absl::IsUnknown(status) && attempt < kAttemptsMax; ++attempt) status = call();
  return status;
}

// What the engine has to know.  Where the log tells of what is collected, that is deleted (table/collect_garbage.h): so the engine
// may forget nothing by itself.
TableSpec SpecOf(const TableSchema& schema) {
  TableSpec spec{
      .id = schema.id, .split_keys = schema.split_points, .log_kept_micros = schema.LogKeptMicros()};
  for (const FamilySchema& family : schema.families) {
    spec.families.push_back({family.id, schema.LogsGarbage() ? GcRule() : family.gc_rule});
  }
  return spec;
}

// SQL knows the fields of keys and the families of a table by their names.
absl::Status CheckKeyFields(const TableSchema& schema) {
  if (!schema.row_key_schema.has_value()) return absl::OkStatus();
  for (const RowKeyField& field : schema.row_key_schema->fields) {
    if (schema.FindFamily(field.name) == nullptr) continue;
    return absl::InvalidArgumentError(
        fmt::format("'{}' cannot be both a column family and a field of the row key schema of table {}",
                    field.name, schema.name));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(Engine* engine, const CatalogOptions& options) {
  std::unique_ptr<Catalog> catalog(new Catalog(engine, options));
  if (engine->traits().is_shared) {
    catalog->lease_ = std::make_unique<RecordsLease>(engine, options.seen_within,
                                                     [catalog = catalog.get()] { return catalog->Load(); });
  }
  absl::Status status = catalog->lease_ != nullptr ? catalog->lease_->Refresh() : catalog->Load();
  if (status.ok()) status = catalog->FinishDrops();
  if (!status.ok()) return status;
  return catalog;
}

void Catalog::State::Set(const TableSchemaRef& schema, FamilyId next_family_id) {
  tables[schema->name] = {schema, next_family_id};
  by_id[schema->id] = schema;
}

void Catalog::State::Erase(const TableSchema& schema) {
  tables.erase(tables.find(schema.name));
  by_id.erase(schema.id);
}

absl::StatusOr<Catalog::State> Catalog::ReadState() const {
  State state;
  auto records = engine_->ReadRecords(kTablePrefix);
  if (!records.ok()) return records.status();
  for (const auto& [key, value, version] : *records) {
    absl::StatusOr<TableRecord> record = DecodeTableRecord(value);
    if (!record.ok()) return record.status();
    state.next_table_id = std::max(state.next_table_id, record->schema.id + 1);
    state.versions[key] = version;
    state.Set(std::make_shared<const TableSchema>(std::move(record->schema)), record->next_family_id);
  }
  auto views = engine_->ReadRecords(AuthorizedViews::kRecordPrefix);
  if (!views.ok()) return views.status();
  for (const auto& [key, value, version] : *views) state.versions[key] = version;
  if (absl::Status status = state.views.Load(*views); !status.ok()) return status;
  auto bundles = engine_->ReadRecords(SchemaBundles::kRecordPrefix);
  if (!bundles.ok()) return bundles.status();
  for (const auto& [key, value, version] : *bundles) state.versions[key] = version;
  if (absl::Status status = state.bundles.Load(*bundles); !status.ok()) return status;
  if (absl::Status status = ReadSqlViews(&state); !status.ok()) return status;
  auto deleted = engine_->ReadRecords(DeletedTables::kRecordPrefix);
  if (!deleted.ok()) return deleted.status();
  for (const auto& [key, value, version] : *deleted) state.versions[key] = version;
  if (absl::Status status = state.deleted.Load(*deleted); !status.ok()) return status;
  state.next_table_id = std::max(state.next_table_id, state.deleted.NextId());
  auto next = engine_->ReadRecords(kNextTableId);
  if (!next.ok()) return next.status();
  for (const auto& [key, value, version] : *next) {
    TableId id = 0;
    if (!ParseNumber(value, &id)) return absl::DataLossError("The record of the next table id is damaged");
    state.next_table_id = std::max(state.next_table_id, id);
    state.versions[key] = version;
  }
  return state;
}

absl::Status Catalog::Load() {
  absl::StatusOr<State> state = ReadState();
  if (!state.ok()) return state.status();
  for (const auto& [id, schema] : state->by_id) {
    {
      const absl::ReaderMutexLock lock(&mutex_);
      if (state_.by_id.contains(id)) continue;
    }
    if (absl::Status status = TellEngine(*schema); !status.ok()) return status;
  }
  const absl::MutexLock lock(&mutex_);
  state_ = *std::move(state);
  ++materialized_views_version_;
  return absl::OkStatus();
}

// A crash may have come between the catalog's record and the engine's.
absl::Status Catalog::TellEngine(const TableSchema& schema) {
  TableSpec spec = SpecOf(schema);
  if (storage_of_) spec.storage = storage_of_(schema.name);
  const auto create = [&] { return engine_->CreateTable(spec); };
  if (absl::Status status = Insist(create); !status.ok() || !engine_->traits().is_shared) return status;
  // Another server may have dropped the table since its record was read.
  const absl::StatusOr<bool> is_there = HasRecord(schema);
  if (!is_there.ok() || *is_there) return is_there.status();
  return Insist([&] { return engine_->DropTable(schema.id); });
}

absl::StatusOr<bool> Catalog::HasRecord(const TableSchema& schema) const {
  constexpr int kLooksMax = 100;
  for (int look = 0; look < kLooksMax; ++look) {
    const absl::StatusOr<int64_t> before = engine_->RecordsVersion();
    if (!before.ok()) return before.status();
    const absl::StatusOr<std::vector<Record>> records = engine_->ReadRecords(TableKey(schema.name));
    if (!records.ok()) return records.status();
    for (const Record& record : *records) {
      const absl::StatusOr<TableRecord> table = DecodeTableRecord(record.value);
      if (!table.ok()) return table.status();
      if (table->schema.id == schema.id) return true;
    }
    const absl::StatusOr<bool> is_of_view = HasRecordOfView(schema);
    if (!is_of_view.ok() || *is_of_view) return is_of_view;
    const std::string deleted_key = DeletedTables::NoRecordOf(schema.id).key;
    const absl::StatusOr<std::vector<Record>> deleted = engine_->ReadRecords(deleted_key);
    if (!deleted.ok()) return deleted.status();
    for (const Record& record : *deleted) {
      if (record.key == deleted_key) return true;
    }
    // Another server may have moved the record between the two looks.
    const absl::StatusOr<int64_t> after = engine_->RecordsVersion();
    if (!after.ok()) return after.status();
    if (*after == *before) return false;
  }
  return absl::UnavailableError(
      fmt::format("The records have changed during each of {} looks for table {}", kLooksMax, schema.name));
}

absl::Status Catalog::FinishDrops() {
  auto records = engine_->ReadRecords(kDroppingPrefix);
  if (!records.ok()) return records.status();
  for (const auto& [key, value, version] : *records) {
    if (absl::Status status = FinishDrop(key); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status Catalog::FinishDrop(const std::string& record_key) {
  std::string_view ids = std::string_view(record_key).substr(kDroppingPrefix.size());
  const size_t slash = ids.find('/');
  TableId table = 0;
  FamilyId family = 0;
  absl::Status status;
  if (slash == std::string_view::npos && ParseNumber(ids, &table)) {
    status = Insist([&] { return engine_->DropTable(table); });
  } else if (slash != std::string_view::npos && ParseNumber(ids.substr(0, slash), &table) &&
             ParseNumber(ids.substr(slash + 1), &family)) {
    status = Insist([&] { return engine_->DropFamily(table, family); });
    if (absl::IsNotFound(status)) status = absl::OkStatus();  // the whole table has gone since
  } else {
    return absl::DataLossError(fmt::format("The record '{}' is damaged", record_key));
  }
  if (!status.ok()) return status;
  return Insist([&] { return engine_->WriteRecords({{record_key, std::nullopt}}); });
}

absl::Status Catalog::Write(std::vector<RecordChange> changes, std::optional<DroppedLog> dropped) {
  if (lease_ != nullptr) return WriteShared(std::move(changes));
  if (journal_ != nullptr) return journal_->Write(std::move(changes), dropped);
  return engine_->WriteRecords(changes);
}

absl::Status Catalog::WriteShared(std::vector<RecordChange> changes) {
  {
    const absl::ReaderMutexLock lock(&mutex_);
    for (RecordChange& change : changes) {
      if (companions_ != nullptr && change.key.starts_with(companions_->record_prefix())) continue;
      const auto version = state_.versions.find(change.key);
      if (change.expected_version.has_value()) continue;
      change.expected_version = version == state_.versions.end() ? 0 : version->second;
    }
  }
  bool was_answer_lost = false;
  const absl::Status status = Insist([&] {
    absl::Status written = engine_->WriteRecords(changes);
    was_answer_lost |= absl::IsUnknown(written);
    return written;
  });
  if (absl::IsAborted(status)) {
    // Perhaps by an attempt of this server, whose answer was lost.  Otherwise by another server, which may have made the same change.
    const absl::StatusOr<bool> are_written = was_answer_lost ? AreWritten(changes) : false;
    if (!are_written.ok()) return are_written.status();
    overtaken_ = !*are_written;
  } else if (!status.ok()) {
    return status;
  }
  const absl::Status seen = lease_->Refresh();
  return seen.ok() && overtaken_ ? status : seen;
}

absl::StatusOr<bool> Catalog::AreWritten(const std::vector<RecordChange>& changes) const {
  for (const RecordChange& change : changes) {
    const absl::StatusOr<std::vector<Record>> records = engine_->ReadRecords(change.key);
    if (!records.ok()) return records.status();
    std::optional<std::string> value;
    if (!records->empty() && records->front().key == change.key) value = records->front().value;
    if (value != change.value) return false;
  }
  return true;
}

absl::StatusOr<std::string> Catalog::Secret(std::string_view name) {
  const std::string key = fmt::format("{}{}", kSecretPrefix, name);
  std::random_device random;
  std::string made;
  while (made.size() < kSecretBytes) PutFixed32(&made, random());
  while (true) {
    const absl::StatusOr<std::vector<Record>> records = engine_->ReadRecords(key);
    if (!records.ok()) return records.status();
    for (const Record& record : *records) {
      if (record.key == key) return record.value;
    }
    const absl::Status status = engine_->WriteRecords({{key, made, /*expected_version=*/0}});
    // ABORTED: another server was first.  UNKNOWN: perhaps it is written.
    if (!status.ok() && !absl::IsAborted(status) && !absl::IsUnknown(status)) return status;
  }
}

void Catalog::WaitUntilSeen() const {
  if (lease_ != nullptr) lease_->WaitUntilSeen();
}

absl::StatusOr<Catalog::Table> Catalog::LookUp(std::string_view table_name) const {
  const absl::ReaderMutexLock lock(&mutex_);
  const auto at = state_.tables.find(table_name);
  if (at == state_.tables.end()) return NoTable(table_name);
  return at->second;
}

absl::StatusOr<Catalog::Table> Catalog::FindTable(std::string_view table_name) const {
  if (lease_ == nullptr) return LookUp(table_name);
  if (absl::Status status = lease_->Ensure(); !status.ok()) return status;
  if (absl::StatusOr<Table> table = LookUp(table_name); table.ok()) return table;
  // Another server may have made it just now.
  if (absl::Status status = lease_->Refresh(); !status.ok()) return status;
  return LookUp(table_name);
}

absl::StatusOr<TableSchemaRef> Catalog::Find(std::string_view table_name) const {
  absl::StatusOr<Table> table = FindTable(table_name);
  if (!table.ok()) return table.status();
  return std::move(table->schema);
}

TableSchemaRef Catalog::FindById(TableId id) const {
  if (lease_ != nullptr) lease_->Ensure().IgnoreError();
  const absl::ReaderMutexLock lock(&mutex_);
  const auto at = state_.by_id.find(id);
  return at == state_.by_id.end() ? nullptr : at->second;
}

absl::Status Catalog::Confirm(const TableSchema& schema) const {
  if (lease_ == nullptr) return absl::OkStatus();
  if (absl::Status status = lease_->Ensure(); !status.ok()) {
    return absl::UnknownError(fmt::format("Whether the write to table {} counts is not known: {}",
                                          schema.name, std::string(status.message())));
  }
  const TableSchemaRef current = FindById(schema.id);
  bool counts = current != nullptr && (schema.IsLogged() || !current->IsLogged());
  for (const FamilySchema& family : schema.families) {
    const FamilySchema* const found = counts ? current->FindFamily(family.name) : nullptr;
    counts = found != nullptr && found->id == family.id;
  }
  if (counts) return absl::OkStatus();
  return absl::UnknownError(
      fmt::format("Another server changed the schema of table {} while it was written", schema.name));
}

std::vector<TableSchemaRef> Catalog::List(std::string_view instance, std::string_view after_id,
                                          size_t count_max) const {
  if (lease_ != nullptr) lease_->Refresh().IgnoreError();
  const std::string prefix = fmt::format("{}/tables/", instance);
  std::vector<TableSchemaRef> result;
  const absl::ReaderMutexLock lock(&mutex_);
  for (auto at = state_.tables.upper_bound(prefix + std::string(after_id));
       at != state_.tables.end() && at->first.starts_with(prefix) && result.size() < count_max; ++at) {
    result.push_back(at->second.schema);
  }
  return result;
}

std::vector<TableSchemaRef> Catalog::ListAll() const {
  std::vector<TableSchemaRef> result;
  const absl::ReaderMutexLock lock(&mutex_);
  for (const auto& [name, table] : state_.tables) result.push_back(table.schema);
  return result;
}

absl::StatusOr<TableSchemaRef> Catalog::Create(TableSchema schema) {
  return Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryCreate(schema); });
}

absl::Status Catalog::CheckIsFree(std::string_view table_name) const {
  if (const absl::Status found = Find(table_name).status(); !absl::IsNotFound(found)) {
    if (!found.ok()) return found;
    return absl::AlreadyExistsError(fmt::format("Table already exists: {}", table_name));
  }
  const absl::ReaderMutexLock lock(&mutex_);
  if (state_.tables.size() < kTablesMax) return absl::OkStatus();
  return absl::ResourceExhaustedError(fmt::format("Too many tables: the limit is {}", kTablesMax));
}

absl::StatusOr<TableSchemaRef> Catalog::TryCreate(TableSchema schema) {
  if (absl::Status status = CheckIsFree(schema.name); !status.ok()) return status;
  if (absl::Status status = CheckHasLog(engine_, schema); !status.ok()) return status;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    schema.id = state_.next_table_id;
  }
  if (schema.families.size() > kFamiliesPerTableMax) {
    return absl::ResourceExhaustedError(fmt::format("Too many column families: {} provided; limit {}",
                                                    schema.families.size(), kFamiliesPerTableMax));
  }
  std::sort(schema.families.begin(), schema.families.end(),
            [](const FamilySchema& a, const FamilySchema& b) { return a.name < b.name; });
  FamilyId next_family_id = 1;
  for (size_t i = 0; i < schema.families.size(); ++i) {
    if (i > 0 && schema.families[i].name == schema.families[i - 1].name) {
      return absl::InvalidArgumentError(
          fmt::format("Column family '{}' is named twice", schema.families[i].name));
    }
    schema.families[i].id = next_family_id++;
  }
  if (absl::Status checked = CheckKeyFields(schema); !checked.ok()) return checked;
  if (journal_ != nullptr && journal_->Wants(schema.name)) {
    schema.log_uses = {{.name = kJournalUse,
                        .retention_micros = journal_->keep_micros(),
                        .start_micros = journal_->clock().NowMicros()}};
  }
  absl::Status status = Write({{std::string(kNextTableId), std::to_string(schema.id + 1)},
                               {TableKey(schema.name), EncodeTableRecord({schema, next_family_id})}});
  if (!status.ok()) return status;
  if (status = TellEngine(schema); !status.ok()) return status;
  if (journal_ != nullptr) status = journal_->Pass(schema.id);
  if (!status.ok()) return status;
  auto made = std::make_shared<const TableSchema>(std::move(schema));
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) {
    state_.next_table_id = made->id + 1;
    state_.Set(made, next_family_id);
  }
  return made;
}

absl::StatusOr<TableId> Catalog::Reserve() {
  absl::StatusOr<TableId> id =
      Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryReserve(); });
  if (!id.ok()) return id;
  const absl::Status status = Insist([&] { return engine_->CreateTable({.id = *id}); });
  if (status.ok()) return id;
  Abandon(*id).IgnoreError();  // otherwise the next start does
  return status;
}

absl::StatusOr<TableId> Catalog::TryReserve() {
  TableId id = 0;
  {
    const absl::ReaderMutexLock lock(&mutex_);
    id = state_.next_table_id;
  }
  absl::Status status = Write({{std::string(kNextTableId), std::to_string(id + 1)}, {DroppingKey(id), ""}});
  if (!status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) state_.next_table_id = id + 1;
  return id;
}

absl::StatusOr<TableSchemaRef> Catalog::CreateReserved(TableSchema schema) {
  return Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryCreateReserved(schema); });
}

absl::StatusOr<TableSchemaRef> Catalog::TryCreateReserved(TableSchema schema) {
  if (absl::Status status = CheckIsFree(schema.name); !status.ok()) return status;
  FamilyId next_family_id = 1;
  for (const FamilySchema& family : schema.families) next_family_id = std::max(next_family_id, family.id + 1);
  RecordChange keep{DroppingKey(schema.id), std::nullopt};
  if (lease_ != nullptr) {
    const absl::StatusOr<std::vector<Record>> records = engine_->ReadRecords(keep.key);
    if (!records.ok()) return records.status();
    if (records->empty() || records->front().key != keep.key) {
      return absl::UnavailableError(
          fmt::format("A server that has started dropped what was to become {}. Try again", schema.name));
    }
    keep.expected_version = records->front().version;
  }
  absl::Status status =
      Write({{TableKey(schema.name), EncodeTableRecord({schema, next_family_id})}, std::move(keep)});
  if (!status.ok()) return status;
  if (status = TellEngine(schema); !status.ok()) return status;
  auto made = std::make_shared<const TableSchema>(std::move(schema));
  const absl::MutexLock lock(&mutex_);
  if (lease_ == nullptr) state_.Set(made, next_family_id);
  return made;
}

absl::Status Catalog::Abandon(TableId id) { return FinishDrop(DroppingKey(id)); }

void Catalog::Accompany(Companions* companions) {
  const absl::MutexLock lock(&change_mutex_);
  companions_ = companions;
}

void Catalog::LogChanges(SchemaJournal* journal) {
  const absl::MutexLock lock(&change_mutex_);
  journal_ = journal;
}

absl::Status Catalog::WithoutChanges(absl::FunctionRef<absl::Status()> change) {
  const absl::MutexLock lock(&change_mutex_);
  return change();
}

void Catalog::AddCompanions(std::string_view resource, std::vector<RecordChange>* changes) {
  if (companions_ == nullptr) return;
  std::vector<RecordChange> more = companions_->RecordsToDelete(resource);
  std::move(more.begin(), more.end(), std::back_inserter(*changes));
}

void Catalog::TellCompanions(std::string_view resource) {
  if (companions_ != nullptr) companions_->OnDeleted(resource);
}

absl::StatusOr<TableSchemaRef> Catalog::Modify(std::string_view table_name,
                                               const std::vector<FamilyModification>& modifications) {
  std::vector<std::string> dropping;
  absl::StatusOr<TableSchemaRef> made = Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) {
    return TryModify(table_name, modifications, &dropping);
  });
  if (!made.ok()) return made;
  WaitUntilSeen();
  for (const std::string& key : dropping) {
    if (absl::Status status = FinishDrop(key); !status.ok()) return status;
  }
  return made;
}

absl::StatusOr<TableSchemaRef> Catalog::TryModify(std::string_view table_name,
                                                  const std::vector<FamilyModification>& modifications,
                                                  std::vector<std::string>* dropping) {
  absl::StatusOr<Table> found = FindTable(table_name);
  if (!found.ok()) return found.status();
  TableSchema schema = *found->schema;
  FamilyId next_family_id = found->next_family_id;
  dropping->clear();

  const auto place = [&schema](std::string_view name) {
    return std::lower_bound(schema.families.begin(), schema.families.end(), name,
                            [](const FamilySchema& a, std::string_view b) { return a.name < b; });
  };
  const auto missing = [&](std::string_view name) {
    return absl::NotFoundError(fmt::format("Column family '{}' not found in table {}", name, table_name));
  };
  for (const FamilyModification& modification : modifications) {
    if (const auto* create = std::get_if<CreateFamily>(&modification)) {
      if (schema.FindFamily(create->family.name) != nullptr) {
        return absl::AlreadyExistsError(
            fmt::format("Column family '{}' already exists in table {}", create->family.name, table_name));
      }
      if (schema.families.size() >= kFamiliesPerTableMax) {
        return absl::ResourceExhaustedError(
            fmt::format("Too many column families: limit {}", kFamiliesPerTableMax));
      }
      FamilySchema family = create->family;
      family.id = next_family_id++;
      schema.families.insert(place(family.name), std::move(family));
    } else if (const auto* update = std::get_if<UpdateFamily>(&modification)) {
      if (schema.FindFamily(update->name) == nullptr) return missing(update->name);
      FamilySchema& family = *place(update->name);
      if (update->value_type.has_value() && family.aggregate != AggregateKind::kNone) {
        return absl::InvalidArgumentError("Immutable fields 'value_type.aggregate_type' cannot be updated");
      }
      if (update->is_aggregate) {
        return absl::InvalidArgumentError(
            fmt::format("Error in field 'value_type' : column family '{}' was not made as an aggregate, and "
                        "cannot become one",
                        update->name));
      }
      if (update->gc_rule.has_value()) family.gc_rule = *update->gc_rule;
      if (update->value_type.has_value()) family.value_type = *update->value_type;
    } else if (const auto* drop = std::get_if<sonde::DropFamily>(&modification)) {
      if (schema.FindFamily(drop->name) == nullptr) return missing(drop->name);
      if (schema.deletion_protection) {
        return absl::FailedPreconditionError(fmt::format(
            "Table {} is protected against deletion, and so are its column families", table_name));
      }
      const auto at = place(drop->name);
      if (absl::Status status = CheckIsUnread(schema, &*at); !status.ok()) return status;
      dropping->push_back(fmt::format("{}{}/{}", kDroppingPrefix, schema.id, at->id));
      schema.families.erase(at);
    }
  }

  if (absl::Status status = CheckKeyFields(schema); !status.ok()) return status;
  std::vector<RecordChange> records = {{TableKey(table_name), EncodeTableRecord({schema, next_family_id})}};
  for (const std::string& key : *dropping) records.push_back({key, ""});
  return WriteTable(std::move(schema), next_family_id, std::move(records));
}

absl::StatusOr<TableSchemaRef> Catalog::Update(std::string_view table_name, const SchemaChange& change) {
  absl::StatusOr<TableSchemaRef> made =
      Repeat([&]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(change_mutex_) { return TryUpdate(table_name, change); });
  if (made.ok()) WaitUntilSeen();
  return made;
}

absl::StatusOr<TableSchemaRef> Catalog::TryUpdate(std::string_view table_name, const SchemaChange& change) {
  absl::StatusOr<Table> found = FindTable(table_name);
  if (!found.ok()) return found.status();
  TableSchema schema = *found->schema;
  if (absl::Status status = change(&schema); !status.ok()) return status;
  if (absl::Status status = CheckKeyFields(schema); !status.ok()) return status;
  if (absl::Status status = CheckMaySetKeySchema(*found->schema, schema); !status.ok()) return status;
  if (absl::Status status = CheckHasLog(engine_, schema); !status.ok()) return status;
  std::vector<RecordChange> records = {
      {TableKey(table_name), EncodeTableRecord({schema, found->next_family_id})}};
  return WriteTable(std::move(schema), found->next_family_id, std::move(records));
}

absl::StatusOr<TableSchemaRef> Catalog::WriteTable(TableSchema schema, FamilyId next_family_id,
                                                   std::vector<RecordChange> records) {
  if (absl::Status status = Write(std::move(records)); !status.ok()) return status;
  auto made = std::make_shared<const TableSchema>(std::move(schema));
  {
    const absl::MutexLock lock(&mutex_);
    if (lease_ == nullptr) state_.Set(made, next_family_id);
  }
  const auto alter = [&] { return engine_->AlterTable(SpecOf(*made)); };
  if (absl::Status status = Insist(alter); !status.ok()) return status;
  return made;
}

}  // namespace sonde
