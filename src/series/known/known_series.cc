#include "series/known/known_series.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/bytes.h"
#include "base/format.h"

namespace sonde::series {
namespace {

struct IsPlain {
  bool operator()(char c) const {
    const auto byte = static_cast<unsigned char>(c);
    return byte > 0x20 && byte != 0x7F && c != ',' && c != '=' && c != '%' && c != '#';
  }
};

std::optional<int> HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return std::nullopt;
}

// Sets *plain.
absl::Status Unescape(std::string_view text, std::string* plain) {
  plain->clear();
  for (size_t at = 0; at < text.size();) {
    const size_t escape = std::min(text.find('%', at), text.size());
    plain->append(text.substr(at, escape - at));
    if (escape == text.size()) break;
    const auto high = escape + 2 < text.size() ? HexDigit(text[escape + 1]) : std::nullopt;
    const auto low = escape + 2 < text.size() ? HexDigit(text[escape + 2]) : std::nullopt;
    if (!high || !low)
      return absl::DataLossError(fmt::format("'{}' has a % without two digits", Printable(text)));
    *plain += static_cast<char>(*high * 16 + *low);
    at = escape + 3;
  }
  return absl::OkStatus();
}

// Calls `take` with each label as the text has it, escaped, in its order, until it returns an error.
template <typename Take>
absl::Status ForEachLabel(std::string_view text, Take take) {
  if (text == kNoLabelsText) return absl::OkStatus();
  while (!text.empty()) {
    const size_t equals = text.find('=');
    const size_t end = std::min(text.find(',', std::min(equals, text.size())), text.size());
    if (equals == std::string_view::npos)
      return absl::DataLossError(fmt::format("'{}' is no label", Printable(text)));
    absl::Status status = take(text.substr(0, equals), text.substr(equals + 1, end - equals - 1));
    if (!status.ok()) return status;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return absl::OkStatus();
}

std::optional<FieldType> TypeOfName(std::string_view name) {
  for (const FieldType type : {FieldType::kInt, FieldType::kDouble, FieldType::kString}) {
    if (FieldTypeName(type) == name) return type;
  }
  return std::nullopt;
}

}  // namespace

std::string_view FieldTypeName(FieldType type) {
  return type == FieldType::kInt ? "int" : type == FieldType::kDouble ? "double" : "string";
}

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

void AddOpenField(std::string_view name, FieldType type, KnownSeries* series) {
  Field field;
  field.name = field.qualifier = std::string(name);
  field.type = type;
  field.family = series->schema.family;
  series->schema.fields.push_back(std::move(field));
}

std::string OpenRecord(const KnownSeries& series) {
  nlohmann::ordered_json record = {{"labels", series.labels}, {"fields", nlohmann::ordered_json::object()}};
  for (const Field& field : series.schema.fields) record["fields"][field.name] = FieldTypeName(field.type);
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
      if (known) AddOpenField(field, *known, &series);
    }
  }
  if (is_good) return series;
  return absl::DataLossError(fmt::format("series '{}': not the record of an open series: {}", Printable(name),
                                         Printable(text, 100)));
}

SeriesSchema LabelsAsTags(const KnownSeries& series) {
  SeriesSchema schema = series.schema;
  if (!series.is_open()) return schema;
  schema.tags.clear();
  for (const std::string& label : series.labels) schema.tags.emplace_back().name = label;
  return schema;
}

void AppendEscaped(std::string_view text, std::string* out) {
  while (!text.empty()) {
    const size_t plain = std::find_if_not(text.begin(), text.end(), IsPlain()) - text.begin();
    out->append(text.substr(0, plain));
    text.remove_prefix(plain);
    if (text.empty()) return;
    fmt::format_to(std::back_inserter(*out), "%{:02X}", static_cast<unsigned char>(text.front()));
    text.remove_prefix(1);
  }
}

bool AppendLabelsText(const KnownSeries& series,
                      const std::vector<std::pair<std::string_view, std::string_view>>& labels,
                      std::string* out) {
  const size_t begin = out->size();
  size_t left =
      std::count_if(labels.begin(), labels.end(), [](const auto& label) { return !label.second.empty(); });
  auto next = labels.begin();  // they mostly come in the order of keys
  for (const std::string& name : series.labels) {
    if (left == 0) break;
    const auto is_it = [&](const auto& label) { return label.first == name && !label.second.empty(); };
    auto found = std::find_if(next, labels.end(), is_it);
    if (found == labels.end()) {
      found = std::find_if(labels.begin(), next, is_it);
      if (found == next) continue;
    }
    next = std::next(found);
    --left;
    if (out->size() > begin) *out += ',';
    AppendEscaped(name, out);
    *out += '=';
    AppendEscaped(found->second, out);
  }
  if (left > 0) return false;
  if (out->size() == begin) *out += kNoLabelsText;
  return true;
}

absl::Status ParseLabelPairs(std::string_view text,
                             std::vector<std::pair<std::string, std::string>>* labels) {
  labels->clear();
  return ForEachLabel(text, [labels](std::string_view name, std::string_view value) {
    auto& [plain_name, plain_value] = labels->emplace_back();
    absl::Status status = Unescape(name, &plain_name);
    return status.ok() ? Unescape(value, &plain_value) : status;
  });
}

absl::Status ParseLabelsText(const KnownSeries& series, std::string_view text,
                             std::vector<std::string>* values) {
  values->resize(series.labels.size());
  for (std::string& value : *values) value.clear();
  size_t at = 0;
  std::string plain_name;
  return ForEachLabel(text, [&](std::string_view name, std::string_view value) {
    if (absl::Status status = Unescape(name, &plain_name); !status.ok()) return status;
    while (at < series.labels.size() && series.labels[at] != plain_name) ++at;
    if (at == series.labels.size()) {
      return absl::DataLossError(fmt::format("'{}' is no label of series '{}', or not in its order",
                                             Printable(plain_name), Printable(series.schema.name)));
    }
    return Unescape(value, &(*values)[at++]);
  });
}

}  // namespace sonde::series
