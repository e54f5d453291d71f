#include "series/write/declarations.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/bytes.h"
#include "series/schema/check.h"
#include "series/schema/schema_parser.h"
#include "series/schema/status_text.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr char kFamily[] = "d";
constexpr char kYamlColumn[] = "yaml";
constexpr char kOpenColumn[] = "open";

bool IsPlain(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return byte > 0x20 && byte != 0x7F && c != ',' && c != '=' && c != '%' && c != '#';
}

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

absl::StatusOr<std::string> Unescaped(std::string_view text) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] != '%') {
      plain += text[at];
      continue;
    }
    const auto high = at + 2 < text.size() ? HexDigit(text[at + 1]) : std::nullopt;
    const auto low = at + 2 < text.size() ? HexDigit(text[at + 2]) : std::nullopt;
    if (!high || !low)
      return absl::DataLossError(fmt::format("'{}' has a % without two digits", Printable(text)));
    plain += static_cast<char>(*high * 16 + *low);
    at += 2;
  }
  return plain;
}

std::string_view TypeName(FieldType type) {
  return type == FieldType::kInt ? "int" : type == FieldType::kDouble ? "double" : "string";
}

std::optional<FieldType> TypeOfName(std::string_view name) {
  for (const FieldType type : {FieldType::kInt, FieldType::kDouble, FieldType::kString}) {
    if (TypeName(type) == name) return type;
  }
  return std::nullopt;
}

void AddField(std::string_view name, FieldType type, SeriesSchema* schema) {
  Field field;
  field.name = field.qualifier = std::string(name);
  field.type = type;
  field.family = schema->family;
  schema->fields.push_back(std::move(field));
}

// Without labels and fields.
KnownSeries NewOpenSeries(std::string_view name) {
  KnownSeries series;
  SeriesSchema& schema = series.schema;
  schema.name = std::string(name);
  schema.file = schema.name;
  schema.table = kOpenSeriesTable;
  schema.tags.resize(1);
  schema.tags[0].name = "labels";
  schema.bucket = BucketWidth{BucketWidth::Kind::kFixed, kMicrosPerHour};
  schema.retention.is_declared = true;
  schema.key.resize(3);
  schema.key[0].kind = KeyPart::Kind::kConst;
  AppendEscaped(name, &schema.key[0].text);
  schema.key[1].kind = KeyPart::Kind::kTag;
  schema.key[2].kind = KeyPart::Kind::kBucket;
  schema.key[2].format = TimeFormat::kHourCompact;
  schema.key[2].width_bytes = TimeFormatWidthBytes(TimeFormat::kHourCompact);
  return series;
}

std::string OpenRecord(const KnownSeries& series) {
  nlohmann::ordered_json record = {{"labels", series.labels}, {"fields", nlohmann::ordered_json::object()}};
  for (const Field& field : series.schema.fields) record["fields"][field.name] = TypeName(field.type);
  return record.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

absl::StatusOr<KnownSeries> ParseOpenRecord(std::string_view name, std::string_view text) {
  const auto record = nlohmann::ordered_json::parse(text, nullptr, false);
  KnownSeries series = NewOpenSeries(name);
  const bool is_whole = record.is_object() && record.contains("labels") && record["labels"].is_array() &&
                        record.contains("fields") && record["fields"].is_object();
  bool is_good = is_whole;
  if (is_whole) {
    for (const auto& label : record["labels"]) {
      is_good = is_good && label.is_string();
      if (label.is_string()) series.labels.push_back(label.get<std::string>());
    }
    for (const auto& [field, type] : record["fields"].items()) {
      const std::optional<FieldType> known =
          type.is_string() ? TypeOfName(type.get_ref<const std::string&>()) : std::nullopt;
      is_good = is_good && known.has_value();
      if (known) AddField(field, *known, &series.schema);
    }
  }
  if (is_good) return series;
  return absl::DataLossError(fmt::format("table '{}', row '{}': not the record of an open series: {}",
                                         kDeclarationsTable, Printable(name), Printable(text, 100)));
}

}  // namespace

SeriesSchema LabelsAsTags(const KnownSeries& series) {
  SeriesSchema schema = series.schema;
  if (!series.is_open()) return schema;
  schema.tags.clear();
  for (const std::string& label : series.labels) schema.tags.emplace_back().name = label;
  return schema;
}

void AppendEscaped(std::string_view text, std::string* out) {
  for (const char c : text) {
    if (IsPlain(c)) {
      out->push_back(c);
    } else {
      fmt::format_to(std::back_inserter(*out), "%{:02X}", static_cast<unsigned char>(c));
    }
  }
}

std::string LabelsText(const KnownSeries& series,
                       const std::vector<std::pair<std::string_view, std::string_view>>& labels) {
  std::string text;
  for (const std::string& name : series.labels) {
    const auto found =
        std::find_if(labels.begin(), labels.end(), [&](const auto& label) { return label.first == name; });
    if (found == labels.end() || found->second.empty()) continue;
    if (!text.empty()) text += ',';
    AppendEscaped(name, &text);
    text += '=';
    AppendEscaped(found->second, &text);
  }
  // A tag is never empty.
  return text.empty() ? "," : text;
}

absl::Status ParseLabelsText(const KnownSeries& series, std::string_view text,
                             std::vector<std::string>* values) {
  values->resize(series.labels.size());
  for (std::string& value : *values) value.clear();
  if (text == ",") return absl::OkStatus();
  size_t at = 0;
  while (!text.empty()) {
    const size_t equals = text.find('=');
    const size_t end = std::min(text.find(',', std::min(equals, text.size())), text.size());
    if (equals == std::string_view::npos)
      return absl::DataLossError(fmt::format("'{}' is no label", Printable(text)));
    const absl::StatusOr<std::string> name = Unescaped(text.substr(0, equals));
    absl::StatusOr<std::string> value = Unescaped(text.substr(equals + 1, end - equals - 1));
    if (!name.ok()) return name.status();
    if (!value.ok()) return value.status();
    while (at < series.labels.size() && series.labels[at] != *name) ++at;
    if (at == series.labels.size()) {
      return absl::DataLossError(fmt::format("'{}' is no label of series '{}', or not in its order",
                                             Printable(*name), Printable(series.schema.name)));
    }
    (*values)[at++] = *std::move(value);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return absl::OkStatus();
}

absl::Status Declarations::LoadRow(const ReadRow& row, KnownSeriesRef* series) const {
  for (const ReadCell& cell : row.cells) {
    if (cell.qualifier == kYamlColumn) {
      absl::StatusOr<SeriesSchema> schema = ParseSchema(cell.value, row.row_key);
      if (!schema.ok()) return schema.status();
      *series = std::make_shared<const KnownSeries>(KnownSeries{*std::move(schema), cell.value, {}});
      return absl::OkStatus();
    }
    if (cell.qualifier == kOpenColumn) {
      absl::StatusOr<KnownSeries> open = ParseOpenRecord(row.row_key, cell.value);
      if (!open.ok()) return open.status();
      *series = std::make_shared<const KnownSeries>(*std::move(open));
      return absl::OkStatus();
    }
  }
  return absl::OkStatus();
}

absl::Status Declarations::Load() {
  RowRead read;
  read.ranges = {RowRange::All()};
  read.family = kFamily;
  read.cells_per_column_max = 1;
  absl::flat_hash_map<std::string, KnownSeriesRef> series;
  absl::Status problem;
  const absl::Status status = tables_->ReadRows(kDeclarationsTable, read, [&](ReadRow&& row) {
    KnownSeriesRef found;
    problem = LoadRow(row, &found);
    if (found != nullptr) series[row.row_key] = std::move(found);
    return problem.ok();
  });
  if (absl::IsNotFound(status)) return absl::OkStatus();
  if (!status.ok()) return status;
  if (!problem.ok())
    return absl::DataLossError(fmt::format("table '{}': {}", kDeclarationsTable, TextOfStatus(problem)));
  const absl::MutexLock lock(&mutex_);
  series_ = std::move(series);
  return absl::OkStatus();
}

KnownSeriesRef Declarations::Find(std::string_view name) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = series_.find(absl::string_view(name.data(), name.size()));
  return found == series_.end() ? nullptr : found->second;
}

std::vector<KnownSeriesRef> Declarations::List() const {
  std::vector<KnownSeriesRef> result;
  {
    const absl::MutexLock lock(&mutex_);
    for (const auto& [name, series] : series_) result.push_back(series);
  }
  std::sort(result.begin(), result.end(),
            [](const auto& a, const auto& b) { return a->schema.name < b->schema.name; });
  return result;
}

absl::Status Declarations::Store(const KnownSeries& series) {
  if (!has_table_) {
    if (absl::Status status = EnsureDeclarationsTable(tables_); !status.ok()) return status;
    if (absl::Status status = tables_->EnsureTable(kOpenSeriesTable, {{"m", GcRule{}}}); !status.ok())
      return status;
    has_table_ = true;
  }
  RowWrite row;
  row.row_key = series.schema.name;
  CellWrite& cell = row.cells.emplace_back();
  cell.family = kFamily;
  cell.qualifier = kOpenColumn;
  cell.value = OpenRecord(series);
  // Always at time 0: one cell takes the place of the other.
  const absl::StatusOr<std::vector<absl::Status>> statuses = tables_->MutateRows(kDeclarationsTable, {row});
  if (!statuses.ok()) return statuses.status();
  return statuses->front();
}

absl::StatusOr<KnownSeriesRef> Declarations::Declare(std::string_view yaml) {
  absl::StatusOr<SeriesSchema> schema = ParseSchema(yaml, "declaration");
  if (!schema.ok()) return schema.status();
  if (absl::Status status = RefuseErrors(*schema); !status.ok()) return status;
  auto series = std::make_shared<const KnownSeries>(KnownSeries{*std::move(schema), std::string(yaml), {}});
  const std::string& name = series->schema.name;
  const absl::MutexLock changing(&changing_);
  const KnownSeriesRef before = Find(name);
  if (before != nullptr && before->is_open()) {
    return absl::FailedPreconditionError(fmt::format(
        "series '{}' has come undeclared before, and its points are in table '{}'; declare it under "
        "another name",
        name, kOpenSeriesTable));
  }
  if (absl::Status status = CheckAgainstStored(series->schema, tables_); !status.ok()) return status;
  SeriesSchema unstored = series->schema;
  unstored.text.clear();
  if (absl::Status status = EnsureSeriesTables(unstored, tables_); !status.ok()) return status;
  if (absl::Status status = StoreDeclaration(series->schema, tables_, *clock_); !status.ok()) return status;
  const absl::MutexLock lock(&mutex_);
  series_[name] = series;
  return KnownSeriesRef(series);
}

absl::StatusOr<KnownSeriesRef> Declarations::Extend(std::string_view name,
                                                    const std::vector<std::string_view>& labels,
                                                    const std::vector<OpenField>& fields) {
  const auto check_name = [&](std::string_view what, std::string_view text) -> absl::Status {
    if (!text.empty() && text.size() <= kOpenNameBytesMax) return absl::OkStatus();
    return absl::InvalidArgumentError(fmt::format("{} '{}' of {} bytes; allowed: 1 to {}", what,
                                                  Printable(text, 40), text.size(), kOpenNameBytesMax));
  };
  if (absl::Status status = check_name("series", name); !status.ok()) return status;
  const absl::MutexLock changing(&changing_);
  KnownSeriesRef before = Find(name);
  if (before == nullptr) {
    // Another client of the store may have declared it since Load.
    RowRead read;
    read.ranges = {RowRange::Single(name)};
    read.family = kFamily;
    read.cells_per_column_max = 1;
    absl::Status problem;
    const absl::Status status = tables_->ReadRows(kDeclarationsTable, read, [&](ReadRow&& row) {
      problem = LoadRow(row, &before);
      return false;
    });
    if (!status.ok() && !absl::IsNotFound(status)) return status;
    if (!problem.ok()) return problem;
    if (before != nullptr) {
      const absl::MutexLock lock(&mutex_);
      series_[before->schema.name] = before;
    }
  }
  if (before != nullptr && !before->is_open()) {
    return absl::FailedPreconditionError(fmt::format("series '{}' is declared", Printable(name)));
  }
  KnownSeries series = before == nullptr ? NewOpenSeries(name) : *before;
  bool is_changed = before == nullptr;
  for (const std::string_view label : labels) {
    if (std::find(series.labels.begin(), series.labels.end(), label) != series.labels.end()) continue;
    if (absl::Status status = check_name("label", label); !status.ok()) return status;
    series.labels.emplace_back(label);
    is_changed = true;
  }
  for (const OpenField& field : fields) {
    const std::optional<size_t> known = series.schema.FindField(field.name);
    if (known && series.schema.fields[*known].type != field.type) {
      return absl::InvalidArgumentError(fmt::format(
          "field type conflict: field \"{}\" on measurement \"{}\" is type {}, already exists as type {}",
          Printable(field.name), Printable(name), TypeName(field.type),
          TypeName(series.schema.fields[*known].type)));
    }
    if (known) continue;
    if (absl::Status status = check_name("field", field.name); !status.ok()) return status;
    AddField(field.name, field.type, &series.schema);
    is_changed = true;
  }
  if (!is_changed) return before;
  const auto exhausted = [&](std::string_view what, size_t max) {
    return absl::ResourceExhaustedError(
        fmt::format("series '{}': more than {} {}; declare it, or send fewer", Printable(name), max, what));
  };
  if (series.labels.size() > kOpenLabelsMax) return exhausted("labels", kOpenLabelsMax);
  if (series.schema.fields.size() > kOpenFieldsMax) return exhausted("fields", kOpenFieldsMax);
  {
    const absl::MutexLock lock(&mutex_);
    if (before == nullptr && series_.size() >= kSeriesMax) return exhausted("series before it", kSeriesMax);
  }
  if (absl::Status status = Store(series); !status.ok()) return status;
  auto kept = std::make_shared<const KnownSeries>(std::move(series));
  const absl::MutexLock lock(&mutex_);
  series_[kept->schema.name] = kept;
  return KnownSeriesRef(kept);
}

}  // namespace sonde::series
