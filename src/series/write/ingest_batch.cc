#include "series/write/ingest_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>

#include "base/bytes.h"
#include "model/limits.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

constexpr size_t kBucketTextBytes = 10;  // of an open series: 2026010100

FieldType TypeOf(LineValueType type) {
  switch (type) {
    case LineValueType::kFloat:
      return FieldType::kDouble;
    case LineValueType::kInt:
    case LineValueType::kUnsigned:
      return FieldType::kInt;
    case LineValueType::kBool:
    case LineValueType::kText:
      break;
  }
  return FieldType::kString;
}

// A whole number is a number; everything else must be of the field's own type.
bool Fits(FieldType field, LineValueType value) {
  return TypeOf(value) == field || (field == FieldType::kDouble && TypeOf(value) == FieldType::kInt);
}

// The fields of a point for Declarations::Extend.  Of known ones the type is not asked for: whether the value
// fits is judged later.
std::vector<OpenField> OpenFieldsOf(const IngestPoint& point, const SeriesSchema* schema) {
  std::vector<OpenField> fields;
  for (const LineField& field : *point.fields) {
    const std::optional<size_t> known = schema == nullptr ? std::nullopt : schema->FindField(field.name);
    fields.push_back({field.name, known ? schema->fields[*known].type : TypeOf(field.type)});
  }
  return fields;
}

absl::Status CheckTime(int64_t time_micros) {
  if (time_micros >= 0 && time_micros < kTimeEndMicros) return absl::OkStatus();
  return absl::InvalidArgumentError(
      fmt::format("time {} microseconds since 1970; allowed: 1970 to 9999", time_micros));
}

}  // namespace

struct IngestBatch::Declared {
  Declared(const KnownSeriesRef& of_series, TableAccess* tables, RollupRefresher* refresher)
      : series(of_series),
        writer(series->schema, tables,
               {.rows_max = kCellsMax, .cells_max = kCellsMax, .value_bytes_max = kValueBytesMax}, nullptr,
               PointWriter::Target::kAll, refresher) {}
  const KnownSeriesRef series;
  PointWriter writer;
};

IngestBatch::IngestBatch(Declarations* declarations, TableAccess* tables, IngestSettings settings,
                         RollupRefresher* refresher)
    : declarations_(declarations), tables_(tables), settings_(settings), refresher_(refresher) {}

IngestBatch::~IngestBatch() = default;

absl::Status IngestBatch::MakeDeclaredTarget(const IngestPoint& point, const KnownSeriesRef& series,
                                             Target* target) {
  const SeriesSchema& schema = series->schema;
  target->tags.resize(schema.tags.size());
  for (const auto& [name, value] : *point.labels) {
    const std::optional<size_t> tag = schema.FindTag(name);
    if (!tag) {
      target->problem = fmt::format("tag '{}' is not declared for series '{}'", Printable(name), schema.name);
      return absl::OkStatus();
    }
    target->tags[*tag] = std::string(value);
  }
  std::unique_ptr<Declared>& declared = declared_[schema.name];
  if (declared == nullptr) declared = std::make_unique<Declared>(series, tables_, refresher_);
  target->declared = declared.get();
  return absl::OkStatus();
}

absl::Status IngestBatch::MakeOpenTarget(const IngestPoint& point, const KnownSeriesRef& series,
                                         Target* target) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : *point.labels) {
    if (value.empty()) continue;
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      target->problem = fmt::format("tag '{}' comes twice", Printable(name));
      return absl::OkStatus();
    }
    names.push_back(name);
  }
  AppendEscaped(point.series, &target->key_prefix);
  target->key_prefix += '#';
  const size_t labels_begin = target->key_prefix.size();
  target->key_prefix.reserve(labels_begin + point.identity.size());
  target->open = series;
  if (series == nullptr || !AppendLabelsText(*series, *point.labels, &target->key_prefix)) {
    absl::StatusOr<KnownSeriesRef> extended = declarations_->Extend(
        point.series, names, OpenFieldsOf(point, series == nullptr ? nullptr : &series->schema));
    if (!extended.ok()) return extended.status();
    target->open = *std::move(extended);
    target->key_prefix.resize(labels_begin);
    AppendLabelsText(*target->open, *point.labels, &target->key_prefix);
  }
  target->key_prefix += '#';
  if (target->key_prefix.size() + kBucketTextBytes > kRowKeyBytesMax) {
    target->problem = fmt::format("name and tags make a row key of {} bytes; allowed: up to {}",
                                  target->key_prefix.size() + kBucketTextBytes, kRowKeyBytesMax);
    return absl::OkStatus();
  }
  target->first = first_of_prefix_.try_emplace(target->key_prefix, target).first->second;
  return absl::OkStatus();
}

absl::Status IngestBatch::MakeTarget(const IngestPoint& point, Target* target) {
  const absl::StatusOr<KnownSeriesRef> found = declarations_->FindStored(point.series);
  if (!found.ok()) return found.status();
  const KnownSeriesRef& series = *found;
  if (series != nullptr && !series->is_open()) return MakeDeclaredTarget(point, series, target);
  if (series != nullptr || settings_.takes_undeclared) return MakeOpenTarget(point, series, target);
  target->problem = fmt::format("series '{}' is not declared, and this server takes declared ones only",
                                Printable(point.series));
  return absl::OkStatus();
}

absl::Status IngestBatch::FindFields(const IngestPoint& point, Target* target) {
  const bool is_open = target->declared == nullptr;
  const SeriesSchema* schema = is_open ? &target->open->schema : &target->declared->series->schema;
  const std::vector<LineField>& fields = *point.fields;
  field_places_.resize(std::max(field_places_.size(), fields.size()));
  for (size_t i = 0; i < fields.size(); ++i) {
    const LineField& field = fields[i];
    size_t& place = field_places_[i];
    if (place >= schema->fields.size() || schema->fields[place].name != field.name) {
      std::optional<size_t> found = schema->FindField(field.name);
      if (!found && is_open) {
        // Another request may have extended it since.
        const KnownSeriesRef now = declarations_->Find(point.series);
        absl::StatusOr<KnownSeriesRef> extended = declarations_->Extend(
            point.series, {}, OpenFieldsOf(point, now == nullptr ? schema : &now->schema));
        if (!extended.ok()) return extended.status();
        target->open = *std::move(extended);
        schema = &target->open->schema;
        found = schema->FindField(field.name);
      }
      if (!found) {
        return absl::InvalidArgumentError(
            fmt::format("field '{}' is not declared for series '{}'", Printable(field.name), schema->name));
      }
      place = *found;
    }
    const Field& known = schema->fields[place];
    if (!Fits(known.type, field.type)) {
      constexpr std::string_view kTypes[] = {"float", "integer", "unsigned", "boolean", "string"};
      constexpr std::string_view kKnownTypes[] = {"integer", "float", "string"};
      return absl::InvalidArgumentError(
          fmt::format("field type conflict: input field \"{}\" on measurement \"{}\" is type {}, already "
                      "exists as type {}",
                      Printable(field.name), Printable(point.series), kTypes[static_cast<size_t>(field.type)],
                      kKnownTypes[static_cast<size_t>(known.type)]));
    }
    if (field.type == LineValueType::kUnsigned && field.value.size() >= 19) {
      uint64_t number = 0;
      std::from_chars(field.value.data(), field.value.data() + field.value.size(), number);
      if (number > static_cast<uint64_t>(std::numeric_limits<int64_t>::max())) {
        return absl::InvalidArgumentError(fmt::format("field '{}': {} is more than {}, the largest integer",
                                                      Printable(field.name), field.value,
                                                      std::numeric_limits<int64_t>::max()));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status IngestBatch::AddDeclared(const IngestPoint& point, Target* target) {
  Declared& declared = *target->declared;
  const SeriesSchema& schema = declared.series->schema;
  field_texts_.assign(schema.fields.size(), {});
  for (size_t i = 0; i < point.fields->size(); ++i) field_texts_[field_places_[i]] = (*point.fields)[i].value;
  const std::vector<std::string_view> tags(target->tags.begin(), target->tags.end());
  if (absl::Status status = declared.writer.Add({tags, point.time_micros, field_texts_}); !status.ok()) {
    return status;
  }
  cells_ += point.fields->size();
  return absl::OkStatus();
}

absl::Status IngestBatch::AddOpen(const IngestPoint& point, Target* target) {
  const SeriesSchema& schema = target->open->schema;
  const int64_t bucket_start_micros = schema.bucket->Start(point.time_micros);
  if (target->bucket_start_micros != bucket_start_micros) {
    const auto [entry, is_new] =
        row_of_bucket_.try_emplace({target->first, bucket_start_micros}, rows_.size());
    if (is_new) {
      std::string& key = rows_.emplace_back().row_key;
      key.reserve(target->key_prefix.size() + kBucketTextBytes);
      key = target->key_prefix;
      AppendCalendarTime(schema.key[2].format, bucket_start_micros, &key);
    }
    target->row = entry->second;
    target->bucket_start_micros = bucket_start_micros;
  }
  const int64_t timestamp_micros = point.time_micros - point.time_micros % kMicrosPerMilli;
  std::vector<CellWrite>& cells = rows_[target->row].cells;
  if (cells.empty()) cells.reserve(point.fields->size());  // perhaps the only point of its row
  for (size_t i = 0; i < point.fields->size(); ++i) {
    CellWrite& cell = cells.emplace_back();
    cell.family = schema.family;
    cell.qualifier = schema.fields[field_places_[i]].qualifier;
    cell.timestamp_micros = timestamp_micros;
    cell.value = (*point.fields)[i].value;
    value_bytes_ += cell.value.size();
  }
  cells_ += point.fields->size();
  return absl::OkStatus();
}

absl::Status IngestBatch::Add(const IngestPoint& point) {
  if (absl::Status status = CheckTime(point.time_micros); !status.ok()) return status;
  if (point.fields->empty()) return absl::InvalidArgumentError("the point has no field");
  auto found = targets_.find(point.identity);
  if (found == targets_.end()) {
    auto target = std::make_unique<Target>();
    if (absl::Status status = MakeTarget(point, target.get()); !status.ok()) return status;
    found = targets_.emplace(point.identity, std::move(target)).first;
  }
  Target& target = *found->second;
  if (!target.problem.empty()) return absl::InvalidArgumentError(target.problem);
  if (absl::Status status = FindFields(point, &target); !status.ok()) return status;
  absl::Status status = target.declared != nullptr ? AddDeclared(point, &target) : AddOpen(point, &target);
  if (status.ok()) ++points_;
  return status;
}

absl::Status IngestBatch::Flush() {
  absl::Status result;
  if (!rows_.empty()) {
    const absl::StatusOr<std::vector<absl::Status>> statuses = tables_->MutateRows(kOpenSeriesTable, rows_);
    result = statuses.status();
    if (statuses.ok()) {
      const auto failed =
          std::find_if(statuses->begin(), statuses->end(), [](const auto& s) { return !s.ok(); });
      if (failed != statuses->end()) result = *failed;
    }
  }
  for (const auto& [name, declared] : declared_) {
    const absl::Status status = declared->writer.Flush();
    if (result.ok()) result = status;
  }
  rows_.clear();
  row_of_bucket_.clear();
  first_of_prefix_.clear();
  targets_.clear();
  cells_ = value_bytes_ = 0;
  return result;
}

}  // namespace sonde::series
