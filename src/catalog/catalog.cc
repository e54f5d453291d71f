#include "catalog/catalog.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "catalog/table_record.h"
#include "model/limits.h"
#include "model/names.h"

namespace sonde {
namespace {

constexpr std::string_view kTablePrefix = "table/";        // + name
constexpr std::string_view kDroppingPrefix = "dropping/";  // + table id [ / family id ]
constexpr std::string_view kNextTableId = "next_table_id";

std::string TableKey(std::string_view name) { return fmt::format("{}{}", kTablePrefix, name); }

absl::Status NoTable(std::string_view name) {
  return absl::NotFoundError(fmt::format("Table not found: {}", name));
}

bool ParseNumber(std::string_view text, uint32_t* number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), *number);
  return error == std::errc() && end == text.data() + text.size();
}

// What the engine has to know.  Where changes are logged, what is collected is, too, by a delete
// (table/collect_garbage.h): the engine may forget nothing by itself.
TableSpec SpecOf(const TableSchema& schema) {
  TableSpec spec{.id = schema.id, .split_keys = schema.split_points};
  for (const FamilySchema& family : schema.families) {
    spec.families.push_back({family.id, schema.change_stream.has_value() ? GcRule() : family.gc_rule});
  }
  return spec;
}

}  // namespace

absl::StatusOr<std::unique_ptr<Catalog>> Catalog::Open(Engine* engine) {
  std::unique_ptr<Catalog> catalog(new Catalog(engine));
  if (absl::Status status = catalog->Load(); !status.ok()) return status;
  if (absl::Status status = catalog->FinishDrops(); !status.ok()) return status;
  return catalog;
}

absl::Status Catalog::Load() {
  auto records = engine_->ReadRecords(kTablePrefix);
  if (!records.ok()) return records.status();
  for (const auto& [key, value, version] : *records) {
    absl::StatusOr<TableRecord> record = DecodeTableRecord(value);
    if (!record.ok()) return record.status();
    // A crash may have come between the catalog's record and the engine's.
    if (absl::Status status = engine_->CreateTable(SpecOf(record->schema)); !status.ok()) return status;
    next_table_id_ = std::max(next_table_id_, record->schema.id + 1);
    Set(std::make_shared<const TableSchema>(std::move(record->schema)), record->next_family_id);
  }
  if (absl::Status status = views_.Load(engine_); !status.ok()) return status;
  auto next = engine_->ReadRecords(kNextTableId);
  if (!next.ok()) return next.status();
  for (const auto& [key, value, version] : *next) {
    TableId id = 0;
    if (!ParseNumber(value, &id)) return absl::DataLossError("The record of the next table id is damaged");
    next_table_id_ = std::max(next_table_id_, id);
  }
  return absl::OkStatus();
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
    status = engine_->DropTable(table);
  } else if (slash != std::string_view::npos && ParseNumber(ids.substr(0, slash), &table) &&
             ParseNumber(ids.substr(slash + 1), &family)) {
    status = engine_->DropFamily(table, family);
    if (absl::IsNotFound(status)) status = absl::OkStatus();  // the whole table has gone since
  } else {
    return absl::DataLossError(fmt::format("The record '{}' is damaged", record_key));
  }
  if (!status.ok()) return status;
  return engine_->WriteRecords({{record_key, std::nullopt}});
}

absl::StatusOr<TableSchemaRef> Catalog::Find(std::string_view table_name) const {
  const absl::ReaderMutexLock lock(&mutex_);
  const auto at = tables_.find(table_name);
  if (at == tables_.end()) return NoTable(table_name);
  return at->second.schema;
}

TableSchemaRef Catalog::FindById(TableId id) const {
  const absl::ReaderMutexLock lock(&mutex_);
  const auto at = by_id_.find(id);
  return at == by_id_.end() ? nullptr : at->second;
}

size_t Catalog::CountTables() const {
  const absl::ReaderMutexLock lock(&mutex_);
  return tables_.size();
}

FamilyId Catalog::NextFamilyId(std::string_view table_name) const {
  const absl::ReaderMutexLock lock(&mutex_);
  return tables_.find(table_name)->second.next_family_id;
}

void Catalog::Set(const TableSchemaRef& schema, FamilyId next_family_id) {
  const absl::WriterMutexLock lock(&mutex_);
  tables_[schema->name] = {schema, next_family_id};
  by_id_[schema->id] = schema;
}

std::vector<TableSchemaRef> Catalog::List(std::string_view instance, std::string_view after_id,
                                          size_t count_max) const {
  const std::string prefix = fmt::format("{}/tables/", instance);
  std::vector<TableSchemaRef> result;
  const absl::ReaderMutexLock lock(&mutex_);
  for (auto at = tables_.upper_bound(prefix + std::string(after_id));
       at != tables_.end() && at->first.starts_with(prefix) && result.size() < count_max; ++at) {
    result.push_back(at->second.schema);
  }
  return result;
}

std::vector<TableSchemaRef> Catalog::ListAll() const {
  std::vector<TableSchemaRef> result;
  const absl::ReaderMutexLock lock(&mutex_);
  for (const auto& [name, table] : tables_) result.push_back(table.schema);
  return result;
}

absl::StatusOr<TableSchemaRef> Catalog::Create(TableSchema schema) {
  const absl::MutexLock change(&change_mutex_);
  if (Find(schema.name).ok())
    return absl::AlreadyExistsError(fmt::format("Table already exists: {}", schema.name));
  if (CountTables() >= kTablesMax) {
    return absl::ResourceExhaustedError(fmt::format("Too many tables: the limit is {}", kTablesMax));
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
  schema.id = next_table_id_;
  absl::Status status =
      engine_->WriteRecords({{std::string(kNextTableId), std::to_string(next_table_id_ + 1)},
                             {TableKey(schema.name), EncodeTableRecord({schema, next_family_id})}});
  if (!status.ok()) return status;
  ++next_table_id_;
  if (status = engine_->CreateTable(SpecOf(schema)); !status.ok()) return status;
  auto made = std::make_shared<const TableSchema>(std::move(schema));
  Set(made, next_family_id);
  return made;
}

absl::Status Catalog::Delete(std::string_view table_name) {
  const absl::MutexLock change(&change_mutex_);
  absl::StatusOr<TableSchemaRef> schema = Find(table_name);
  if (!schema.ok()) return schema.status();
  if ((*schema)->deletion_protection) {
    return absl::FailedPreconditionError(fmt::format("Table {} is protected against deletion", table_name));
  }
  if ((*schema)->change_stream.has_value()) {
    return absl::FailedPreconditionError(fmt::format(
        "Table {} has a change stream enabled; disable it before the table is deleted", table_name));
  }
  const std::string dropping = fmt::format("{}{}", kDroppingPrefix, (*schema)->id);
  std::vector<RecordChange> records = {{TableKey(table_name), std::nullopt}, {dropping, ""}};
  const std::vector<AuthorizedViewRef> views = ListViews(table_name, "", kAuthorizedViewsMax);
  for (const AuthorizedViewRef& view : views) {
    if (view->deletion_protection) {
      return absl::FailedPreconditionError(
          fmt::format("Table {} has an authorized view that is protected against deletion: {}", table_name,
                      IdOfAuthorizedView(view->name)));
    }
    records.push_back(AuthorizedViews::NoRecordOf(view->name));
  }
  if (absl::Status status = engine_->WriteRecords(records); !status.ok()) return status;
  {
    const absl::WriterMutexLock lock(&mutex_);
    tables_.erase(tables_.find(table_name));
    by_id_.erase((*schema)->id);
    for (const AuthorizedViewRef& view : views) views_.Erase(view->name);
  }
  return FinishDrop(dropping);
}

absl::StatusOr<TableSchemaRef> Catalog::Modify(std::string_view table_name,
                                               const std::vector<FamilyModification>& modifications) {
  const absl::MutexLock change(&change_mutex_);
  absl::StatusOr<TableSchemaRef> found = Find(table_name);
  if (!found.ok()) return found.status();
  TableSchema schema = **found;
  FamilyId next_family_id = NextFamilyId(table_name);
  std::vector<std::string> dropping;

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
      dropping.push_back(fmt::format("{}{}/{}", kDroppingPrefix, schema.id, at->id));
      schema.families.erase(at);
    }
  }

  std::vector<RecordChange> records = {{TableKey(table_name), EncodeTableRecord({schema, next_family_id})}};
  for (const std::string& key : dropping) records.push_back({key, ""});
  if (absl::Status status = engine_->WriteRecords(records); !status.ok()) return status;
  auto made = std::make_shared<const TableSchema>(std::move(schema));
  Set(made, next_family_id);
  if (absl::Status status = engine_->AlterTable(SpecOf(*made)); !status.ok()) return status;
  for (const std::string& key : dropping) {
    if (absl::Status status = FinishDrop(key); !status.ok()) return status;
  }
  return made;
}

absl::StatusOr<TableSchemaRef> Catalog::Update(std::string_view table_name, const SchemaChange& change) {
  const absl::MutexLock guard(&change_mutex_);
  absl::StatusOr<TableSchemaRef> found = Find(table_name);
  if (!found.ok()) return found.status();
  TableSchema schema = **found;
  if (absl::Status status = change(&schema); !status.ok()) return status;
  const FamilyId next_family_id = NextFamilyId(table_name);
  absl::Status status =
      engine_->WriteRecords({{TableKey(table_name), EncodeTableRecord({schema, next_family_id})}});
  if (!status.ok()) return status;
  auto made = std::make_shared<const TableSchema>(std::move(schema));
  Set(made, next_family_id);
  if (status = engine_->AlterTable(SpecOf(*made)); !status.ok()) return status;
  return made;
}

}  // namespace sonde
