#include "series/input/ingest_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "model/limits.h"
#include "series/schema/calendar.h"
#include "series/schema/status_text.h"
#include "series/schema/time_range.h"
#include "series/write/point_writer.h"

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

// The fields of a point for Declarations::Extend.  The types of known fields are not asked for: whether the
// value fits is judged later.
std::vector<OpenField> OpenFieldsOf(const IngestPoint& point, const SeriesSchema* schema) {
  std::vector<OpenField> fields;
  for (const LineField& field : *point.fields) {
    const std::optional<size_t> known = schema == nullptr ? std::nullopt : schema->FindField(field.name);
    fields.push_back({field.name, known ? schema->fields[*known].type : TypeOf(field.type)});
  }
  return fields;
}

// Whether a value may be one of the field of its name; null: the series has none yet.
absl::Status CheckValue(const IngestPoint& point, const LineField& field, const Field* known) {
  if (known != nullptr && !Fits(known->type, field.type)) {
    constexpr std::string_view kTypes[] = {"float", "integer", "unsigned", "boolean", "string"};
    constexpr std::string_view kKnownTypes[] = {"integer", "float", "string"};
    return absl::InvalidArgumentError(
        fmt::format("field type conflict: input field \"{}\" on measurement \"{}\" is type {}, already "
                    "exists as type {}",
                    Printable(field.name), Printable(point.series), kTypes[static_cast<size_t>(field.type)],
                    kKnownTypes[static_cast<size_t>(known->type)]));
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
  return absl::OkStatus();
}

// The same of all its values, where the series has `schema`; null: nothing has come of it yet.
absl::Status CheckValues(const IngestPoint& point, const SeriesSchema* schema) {
  for (const LineField& field : *point.fields) {
    const std::optional<size_t> known = schema == nullptr ? std::nullopt : schema->FindField(field.name);
    const absl::Status status = CheckValue(point, field, known ? &schema->fields[*known] : nullptr);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

// The labels that a point has; absent ones have an empty value.  INVALID_ARGUMENT: a name comes twice, or is
// none of a label.
absl::StatusOr<std::vector<std::string_view>> LabelNames(const IngestPoint& point) {
  std::vector<std::string_view> names;
  for (const auto& [name, value] : *point.labels) {
    if (value.empty()) continue;
    if (name == kNameLabel) {
      return absl::InvalidArgumentError("tag '__name__': it is Prometheus' name of the metric, and no tag");
    }
    if (std::find(names.begin(), names.end(), name) != names.end()) {
      return absl::InvalidArgumentError(fmt::format("tag '{}' comes twice", Printable(name)));
    }
    names.push_back(name);
  }
  return names;
}

// All of a key of an open series before its bucket.  False: a label is not known, and it is not whole.
bool MakeKeyPrefix(const IngestPoint& point, const KnownSeries& series, std::string* prefix) {
  prefix->clear();
  AppendEscaped(point.series, prefix);
  *prefix += '#';
  prefix->reserve(prefix->size() + point.identity.size());
  if (!AppendLabelsText(series, *point.labels, prefix)) return false;
  *prefix += '#';
  return true;
}

// The labels in what MakeKeyPrefix made.
std::string_view LabelsOf(std::string_view prefix) {
  const size_t begin = prefix.find('#') + 1;
  return prefix.substr(begin, prefix.size() - 1 - begin);
}

absl::Status CheckKeyPrefix(const std::string& prefix) {
  if (prefix.size() + kBucketTextBytes <= kRowKeyBytesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format("name and tags make a row key of {} bytes; allowed: up to {}",
                                                prefix.size() + kBucketTextBytes, kRowKeyBytesMax));
}

// Checks a point of an open series: the timestamps of its cells count from 1970.
absl::Status CheckOpenTime(int64_t time_micros) {
  if (time_micros >= 0 && time_micros < kTimeEndMicros) return absl::OkStatus();
  if (!TimeRange().Holds(time_micros)) return RefuseYear(time_micros);
  return absl::InvalidArgumentError(
      fmt::format("time {}: a series that nobody declared takes times from 1970-01-01T00:00:00Z on; earlier "
                  "ones take a declaration with time: {{ origin: 0001-01-01 }}",
                  TimeText(time_micros)));
}

}  // namespace

struct IngestBatch::Declared {
  Declared(const KnownSeriesRef& of_series, TableAccess* tables, const IngestSettings& settings,
           PointWriter::Keepers keepers)
      : series(of_series),
        writer(series->schema, tables,
               {.rows_max = settings.cells_max,
                .cells_max = settings.cells_max,
                .value_bytes_max = settings.value_bytes_max},
               nullptr, PointWriter::Target::kAll, keepers) {}
  const KnownSeriesRef series;
  PointWriter writer;
};

IngestBatch::IngestBatch(Declarations* declarations, TableAccess* tables, IngestSettings settings,
                         RollupRefresher* refresher, IndexWriter* index)
    : declarations_(declarations),
      tables_(tables),
      settings_(settings),
      refresher_(refresher),
      index_(index) {}

IngestBatch::~IngestBatch() = default;

absl::Status IngestBatch::Refuse(absl::Status problem, Target* target) {
  target->problem = std::move(problem);
  return absl::OkStatus();
}

absl::Status IngestBatch::MakeDeclaredTarget(const IngestPoint& point, const KnownSeriesRef& series,
                                             Target* target) {
  const SeriesSchema& schema = series->schema;
  if (absl::Status status = LabelNames(point).status(); !status.ok()) return Refuse(status, target);
  target->tags.resize(schema.tags.size());
  for (const auto& [name, value] : *point.labels) {
    if (value.empty()) continue;
    const std::optional<size_t> tag = schema.FindTag(name);
    if (!tag) {
      return Refuse(absl::InvalidArgumentError(fmt::format("tag '{}' is not declared for series '{}'",
                                                           Printable(name), schema.name)),
                    target);
    }
    target->tags[*tag] = std::string(value);
  }
  std::unique_ptr<Declared>& declared = declared_[schema.name];
  if (declared == nullptr) {
    const PointWriter::Keepers keepers = {.refresher = refresher_, .index = index_};
    declared = std::make_unique<Declared>(series, tables_, settings_, keepers);
  }
  target->declared = declared.get();
  return absl::OkStatus();
}

absl::Status IngestBatch::Open(const IngestPoint& point, const KnownSeriesRef& series,
                               const std::vector<std::string_view>& names, Target* target) {
  const SeriesSchema* const schema = series == nullptr ? nullptr : &series->schema;
  if (absl::Status status = CheckOpenTime(point.time_micros); !status.ok()) return status;
  if (absl::Status status = CheckValues(point, schema); !status.ok()) return status;
  // As it would be: a key is as long wherever in it the new labels stand.
  KnownSeries extended = series == nullptr ? KnownSeries() : *series;
  for (const std::string_view name : names) {
    const auto known = std::find(extended.labels.begin(), extended.labels.end(), name);
    if (known == extended.labels.end()) extended.labels.emplace_back(name);
  }
  MakeKeyPrefix(point, extended, &target->key_prefix);
  if (absl::Status status = CheckKeyPrefix(target->key_prefix); !status.ok()) return Refuse(status, target);
  absl::StatusOr<KnownSeriesRef> opened =
      declarations_->Extend(point.series, names, OpenFieldsOf(point, schema));
  if (!opened.ok()) return opened.status();
  target->open = found_ = *std::move(opened);
  MakeKeyPrefix(point, *target->open, &target->key_prefix);
  return absl::OkStatus();
}

absl::Status IngestBatch::MakeOpenTarget(const IngestPoint& point, const KnownSeriesRef& series,
                                         Target* target) {
  if (absl::Status status = CheckOpenTime(point.time_micros); !status.ok()) return status;
  if (series != nullptr && MakeKeyPrefix(point, *series, &target->key_prefix)) {
    target->open = series;
    target->problem = CheckKeyPrefix(target->key_prefix);
  } else {
    const absl::StatusOr<std::vector<std::string_view>> names = LabelNames(point);
    if (!names.ok()) return Refuse(names.status(), target);
    if (absl::Status status = Open(point, series, *names, target); !status.ok()) return status;
  }
  if (!target->problem.ok()) return absl::OkStatus();
  const auto [first, is_new] = first_of_prefix_.try_emplace(target->key_prefix, target);
  target->first = first->second;
  if (is_new && index_ != nullptr) AddUse(target);
  return absl::OkStatus();
}

absl::Status IngestBatch::MakeTarget(const IngestPoint& point, Target* target) {
  if (found_ == nullptr || found_->schema.name != point.series) {
    absl::StatusOr<KnownSeriesRef> found = declarations_->FindStored(point.series);
    if (!found.ok()) return found.status();
    found_ = *std::move(found);
  }
  const KnownSeriesRef series = found_;
  if (series != nullptr && !series->is_open()) return MakeDeclaredTarget(point, series, target);
  if (series != nullptr || settings_.takes_undeclared) return MakeOpenTarget(point, series, target);
  return Refuse(
      absl::FailedPreconditionError(fmt::format(
          "series '{}' is not declared, and this server takes declared ones only", Printable(point.series))),
      target);
}

absl::Status IngestBatch::FindFields(const IngestPoint& point, Target* target) {
  const bool is_open = target->declared == nullptr;
  const SeriesSchema& schema = is_open ? target->open->schema : target->declared->series->schema;
  const std::vector<LineField>& fields = *point.fields;
  field_places_.resize(std::max(field_places_.size(), fields.size()));
  bool is_known = true;
  for (size_t i = 0; i < fields.size(); ++i) {
    const LineField& field = fields[i];
    size_t& place = field_places_[i];
    const Field* known = place < schema.fields.size() ? &schema.fields[place] : nullptr;
    if (known == nullptr || known->name != field.name) {
      const std::optional<size_t> found = schema.FindField(field.name);
      if (!found && !is_open) {
        return absl::InvalidArgumentError(
            fmt::format("field '{}' is not declared for series '{}'", Printable(field.name), schema.name));
      }
      is_known &= found.has_value();
      known = found ? &schema.fields[*found] : nullptr;
      place = found.value_or(0);
    }
    if (absl::Status status = CheckValue(point, field, known); !status.ok()) return status;
  }
  return is_known ? absl::OkStatus() : AddFields(point, target);
}

absl::Status IngestBatch::AddFields(const IngestPoint& point, Target* target) {
  // Another request may have extended it since.
  const KnownSeriesRef now = declarations_->Find(point.series);
  const SeriesSchema* const schema = now == nullptr ? &target->open->schema : &now->schema;
  if (absl::Status status = CheckValues(point, schema); !status.ok()) return status;
  absl::StatusOr<KnownSeriesRef> extended =
      declarations_->Extend(point.series, {}, OpenFieldsOf(point, schema));
  if (!extended.ok()) return extended.status();
  target->open = found_ = *std::move(extended);
  for (size_t i = 0; i < point.fields->size(); ++i) {
    field_places_[i] = *target->open->schema.FindField((*point.fields)[i].name);
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

void IngestBatch::NoteDay(int64_t bucket_start_micros, const Target& target) {
  const auto day = static_cast<int32_t>(bucket_start_micros / kMicrosPerDay);
  auto& days = uses_[target.first->use].days;
  // Points mostly come in the order of time.
  if (days.empty() || (days.back() != day && std::find(days.begin(), days.end(), day) == days.end()))
    days.push_back(day);
}

void IngestBatch::FindRow(int64_t bucket_start_micros, Target* target) {
  const auto [entry, is_new] = row_of_bucket_.try_emplace({target->first, bucket_start_micros}, rows_.size());
  if (is_new) {
    std::string& key = rows_.emplace_back().row_key;
    key.reserve(target->key_prefix.size() + kBucketTextBytes);
    key = target->key_prefix;
    if (std::exchange(bucket_text_of_, bucket_start_micros) != bucket_start_micros) {
      bucket_text_.clear();
      AppendCalendarTime(target->open->schema.key[2].format, bucket_start_micros, &bucket_text_);
    }
    key += bucket_text_;
    if (index_ != nullptr) NoteDay(bucket_start_micros, *target);
  }
  target->row = entry->second;
  target->bucket_start_micros = bucket_start_micros;
}

const KnownSeriesRef* IngestBatch::SeriesOfUses(const KnownSeriesRef& series) {
  std::unique_ptr<const KnownSeriesRef>& kept = series_of_uses_[series.get()];
  if (kept == nullptr) kept = std::make_unique<const KnownSeriesRef>(series);
  return kept.get();
}

void IngestBatch::AddUse(Target* target) {
  target->use = uses_.size();
  EntityUse& use = uses_.emplace_back();
  use.series = SeriesOfUses(target->open);
  use.text = LabelsOf(target->key_prefix);
  use.hash = index_->HashOf(use.text);
}

void IngestBatch::NoteFields(const IngestPoint& point, const Target& target) {
  constexpr size_t kBits = 64;
  EntityUse& use = uses_[target.first->use];
  for (size_t i = 0; i < point.fields->size(); ++i) {
    const size_t place = field_places_[i];
    const size_t word = place / kBits;
    if (word >= use.fields.size()) use.fields.resize(word + 1);
    use.fields[word] |= uint64_t{1} << place % kBits;
  }
  // Fields are only added: the series with the most of them has them all.
  if (target.open != *use.series && target.open->schema.fields.size() > (*use.series)->schema.fields.size())
    use.series = SeriesOfUses(target.open);
}

absl::Status IngestBatch::AddOpen(const IngestPoint& point, Target* target) {
  const SeriesSchema& schema = target->open->schema;
  const int64_t bucket_start_micros = schema.bucket->Start(point.time_micros);
  if (target->bucket_start_micros != bucket_start_micros) FindRow(bucket_start_micros, target);
  if (index_ != nullptr) NoteFields(point, *target);
  const int64_t timestamp_micros = schema.TimestampOf(point.time_micros);
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
  if (point.fields->empty()) return absl::InvalidArgumentError("the point has no field");
  auto found = targets_.find(point.identity);
  if (found == targets_.end()) {
    auto target = std::make_unique<Target>();
    if (absl::Status status = MakeTarget(point, target.get()); !status.ok()) return status;
    found = targets_.emplace(point.identity, std::move(target)).first;
  }
  Target& target = *found->second;
  if (!target.problem.ok()) return target.problem;
  if (target.declared == nullptr) {
    if (absl::Status status = CheckOpenTime(point.time_micros); !status.ok()) return status;
  }
  if (absl::Status status = FindFields(point, &target); !status.ok()) return status;
  absl::Status status = target.declared != nullptr ? AddDeclared(point, &target) : AddOpen(point, &target);
  if (status.ok()) ++points_;
  return status;
}

absl::Status IngestBatch::WriteOpen() {
  if (index_ != nullptr) {
    // Of some, all points were refused.
    std::erase_if(uses_, [](const EntityUse& use) { return use.days.empty(); });
    if (absl::Status status = index_->Register(uses_); !status.ok()) return status;
  }
  const absl::StatusOr<std::vector<absl::Status>> statuses = tables_->MutateRows(kOpenSeriesTable, rows_);
  if (!statuses.ok()) return statuses.status();
  const auto failed = std::find_if(statuses->begin(), statuses->end(), [](const auto& s) { return !s.ok(); });
  return failed == statuses->end() ? absl::OkStatus() : *failed;
}

absl::Status IngestBatch::Flush() {
  absl::Status result;
  if (!rows_.empty()) result = WriteOpen();
  for (const auto& [name, declared] : declared_) {
    const absl::Status status = declared->writer.Flush();
    if (result.ok()) result = status;
  }
  rows_.clear();
  row_of_bucket_.clear();
  first_of_prefix_.clear();
  uses_.clear();
  series_of_uses_.clear();
  targets_.clear();
  found_ = nullptr;
  cells_ = value_bytes_ = 0;
  return result;
}

}  // namespace sonde::series
