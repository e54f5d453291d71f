#include "series/schema/schema_parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <fstream>
#include <functional>
#include <limits>
#include <set>
#include <sstream>

#include "base/bytes.h"
#include "model/names.h"
#include "series/schema/schema_reader.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

constexpr int64_t kTagCountMax = 1'000'000'000'000;
constexpr int64_t kFieldBytesMax = 1'000'000'000;
constexpr size_t kNameBytesMax = 64;
constexpr size_t kUnitBytesMax = 32;
constexpr std::string_view kNameRule =
    "1 to 64 letters, digits and _ - . /, starting with a letter or _, and not 'time' or 'bucket'";

bool IsName(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax || name == "time" || name == "bucket") return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
         });
}

bool IsUnit(std::string_view unit) {
  return !unit.empty() && unit.size() <= kUnitBytesMax &&
         std::none_of(unit.begin(), unit.end(), [](unsigned char c) { return c < 0x20 || c == 0x7F; });
}

}  // namespace

SeriesSchema SchemaReader::Read(const YAML::Node& root) {
  const MapReader map(root, "the declaration",
                      {"series",   "table",     "tags",   "fields",      "time",  "key",       "bucket",
                       "layout",   "slot",      "blob",   "corrections", "index", "delimiter", "family",
                       "families", "retention", "derive", "queries",     "csv",   "versions"},
                      problems_);
  if (map.line() > 0) line_ = map.line();
  if (!root.IsMap()) return {};
  ReadNames(map);
  ReadTags(map.Find("tags"));
  ReadFields(map.Find("fields"));
  if (map.Has("time")) ReadTime(map.Find("time"));
  ReadBucketAndLayout(map);
  ReadDelimiter(map);
  if (map.Has("retention")) {
    schema_.retention = ReadRetention(map.Find("retention"), "'retention'");
    schema_.retention_line = LineOf(map.Find("retention"));
  }
  if (map.Has("families")) ReadFamilies(map.Find("families"));
  if (map.Has("csv")) ReadCsv(map.Find("csv"));
  ReadKey(map.Find("key"));
  if (!problems_->empty()) return std::move(schema_);
  FinishFields();
  CheckKey();
  CheckLayout();
  CheckAge(schema_, schema_.retention_line);
  if (map.Has("index")) ReadIndex(map);
  if (!problems_->empty()) return std::move(schema_);
  if (map.Has("derive")) ReadDerived(map.Find("derive"));
  if (map.Has("queries")) ReadQueries(map.Find("queries"));
  if (map.Has("versions")) ReadVersions(root, map.Find("versions"));
  for (const RollupTable& rollup : schema_.rollups) {
    schema_.kept_longer_micros =
        std::max(schema_.kept_longer_micros, rollup.every.MicrosMax() + kRollupSlackMicros);
  }
  for (SeriesSchema& version : schema_.earlier) version.kept_longer_micros = schema_.kept_longer_micros;
  return std::move(schema_);
}

void SchemaReader::ReadNames(const MapReader& map) {
  if (!map.Has("series")) Complain(line_, "key 'series' is missing: the name of the series");
  if (const auto name = map.Text("series")) {
    schema_.name = *name;
    if (!IsName(*name)) {
      Complain(LineOf(map.Find("series")),
               fmt::format("series name '{}'; allowed: {}", Printable(*name), kNameRule));
    }
  }
  schema_.table = map.Text("table").value_or(schema_.name);
  if (!schema_.table.empty() && !CheckTableId(schema_.table).ok()) {
    Complain(LineOf(map.Has("table") ? map.Find("table") : map.Find("series")),
             fmt::format("table '{}'; allowed: 1 to 50 letters, digits and _ - ., not starting with - or .",
                         Printable(schema_.table)));
  } else if (!schema_.table.empty() && !tables_.insert(schema_.table).second) {
    Complain(LineOf(map.Has("table") ? map.Find("table") : map.Find("series")),
             fmt::format("table '{}' is that of another version; each version has a table of its own",
                         schema_.table));
  }
  if (const auto family = map.Text("family")) {
    schema_.family = *family;
    if (!CheckFamilyName(*family).ok()) {
      Complain(LineOf(map.Find("family")),
               fmt::format("family '{}'; allowed: 1 to 64 letters, digits and _ - .", Printable(*family)));
    }
  }
}

bool SchemaReader::CheckNewName(const std::string& name, std::string_view kind, int line) {
  if (!IsName(name)) {
    Complain(line, fmt::format("{} name '{}'; allowed: {}", kind, Printable(name), kNameRule));
    return false;
  }
  if (!names_.insert(name).second) {
    Complain(line, fmt::format("{} '{}': a tag or field of this name was declared before", kind, name));
    return false;
  }
  return true;
}

void SchemaReader::ReadTags(const YAML::Node& node) {
  if (!node.IsDefined()) return;  // one series only
  if (!node.IsMap())
    return Complain(LineOf(node), "'tags' must be a map of names to types, as in { host: string }");
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (!CheckNewName(name, "tag", LineOf(entry.first))) continue;
    if (name == "field" || name == "salt") {
      Complain(LineOf(entry.first), fmt::format("tag name '{}' is a part of keys; choose another", name));
      continue;
    }
    ReadTag(name, entry.second);
  }
}

void SchemaReader::ReadTag(const std::string& name, const YAML::Node& node) {
  const std::string what = fmt::format("tag '{}'", name);
  Tag tag;
  tag.name = name;
  tag.line = LineOf(node);
  std::string type;
  if (node.IsScalar()) {
    type = node.Scalar();
  } else {
    const MapReader map(node, what, {"type", "width", "pad", "column", "count", "busy"}, problems_);
    if (!node.IsMap()) return;
    tag.count = map.Integer("count", 1, kTagCountMax);
    if (map.Has("busy")) ReadBusy(map.Find("busy"), what, &tag);
    tag.column = map.Text("column").value_or("");
    type = map.Text("type").value_or("string");
    if (const auto width = map.Integer("width", 1, type == "int" ? 18 : kKeyPartWidthBytesMax)) {
      tag.width_bytes = static_cast<int>(*width);
    }
    if (const auto pad = map.Text("pad")) {
      const char byte = (*pad)[0];
      const int line = LineOf(map.Find("pad"));
      if (!tag.width_bytes) Complain(line, fmt::format("{} has a 'pad' without a 'width'", what));
      if (type == "int" && *pad != "0") {
        Complain(line, fmt::format("'pad' of {} is '{}'; allowed for an int: 0", what, Printable(*pad)));
      } else if (pad->size() != 1 || byte < ' ' || byte > '~') {
        Complain(line, fmt::format("'pad' of {} is '{}'; allowed: one printable ASCII character", what,
                                   Printable(*pad)));
      }
      tag.pad = byte;
    }
  }
  if (type == "int") {
    tag.type = TagType::kInt;
    tag.pad = '0';
  } else if (type != "string") {
    Complain(tag.line, fmt::format("type '{}' of {}; allowed: string, int", Printable(type), what));
  }
  schema_.tags.push_back(std::move(tag));
}

void SchemaReader::ReadBusy(const YAML::Node& node, const std::string& what, Tag* tag) {
  const MapReader map(node, fmt::format("'busy' of {}", what), {"count", "share"}, problems_);
  const auto count = map.Integer("count", 1, tag->count.value_or(1));
  const auto share = map.Integer("share", 1, 100);
  if (count && share) {
    tag->busy_count = *count;
    tag->busy_share = static_cast<double>(*share) / 100;
  } else {
    Complain(map.line(),
             fmt::format("'busy' of {} needs 'count' (up to the tag's) and 'share' in percent, as in "
                         "{{ count: 300, share: 90 }}",
                         what));
  }
}

void SchemaReader::ReadFields(const YAML::Node& node) {
  if (!node.IsDefined()) return Complain(line_, "key 'fields' is missing: the measurements and their types");
  if (!node.IsMap() || node.size() == 0) {
    return Complain(LineOf(node),
                    "'fields' must be a map of at least one name to its type, as in { price: double }");
  }
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    if (CheckNewName(name, "field", LineOf(entry.first))) ReadField(name, entry.second);
  }
}

void SchemaReader::ReadField(const std::string& name, const YAML::Node& node) {
  const std::string what = fmt::format("field '{}'", name);
  Field field;
  field.name = name;
  field.line = LineOf(node);
  std::string type;
  std::string encoding = "text";
  if (node.IsScalar()) {
    type = node.Scalar();
  } else {
    const MapReader map(node, what, {"type", "as", "encoding", "family", "bytes", "unit"}, problems_);
    if (!node.IsMap()) return;
    type = map.Text("type").value_or("double");
    const YAML::Node as = map.Find("as");
    if (as.IsDefined()) {
      // '' is allowed where a slot follows it (CheckColumns).
      if (as.IsScalar()) {
        field.qualifier = as.Scalar();
        named_columns_.insert(name);
      } else {
        (void)map.Text("as");
      }
    }
    encoding = map.Text("encoding").value_or("text");
    field.value_bytes = map.Integer("bytes", 1, kFieldBytesMax);
    if (const auto unit = map.Text("unit")) {
      field.unit = *unit;
      if (!IsUnit(*unit)) {
        Complain(LineOf(map.Find("unit")),
                 fmt::format("unit '{}' of {}; allowed: 1 to {} bytes without control characters",
                             Printable(*unit), what, kUnitBytesMax));
      }
    }
    if (const auto family = map.Text("family")) {
      field.family = *family;
      if (!CheckFamilyName(*family).ok()) {
        Complain(LineOf(map.Find("family")),
                 fmt::format("family '{}'; allowed: 1 to 64 letters, digits and _ - .", Printable(*family)));
      }
    }
  }
  if (type == "int") {
    field.type = FieldType::kInt;
  } else if (type == "string") {
    field.type = FieldType::kString;
  } else if (type != "double") {
    Complain(field.line, fmt::format("type '{}' of {}; allowed: int, double, string", Printable(type), what));
    return;
  }
  if (encoding == "int64_be" && field.type == FieldType::kInt) {
    field.encoding = FieldEncoding::kInt64BigEndian;
  } else if (encoding == "float64_be" && field.type == FieldType::kDouble) {
    field.encoding = FieldEncoding::kFloat64BigEndian;
  } else if (encoding != "text") {
    const std::string_view allowed = field.type == FieldType::kInt      ? "text, int64_be"
                                     : field.type == FieldType::kDouble ? "text, float64_be"
                                                                        : "text";
    Complain(field.line, fmt::format("encoding '{}' of {} of type {}; allowed: {}", Printable(encoding), what,
                                     type, allowed));
  }
  schema_.fields.push_back(std::move(field));
}

std::optional<int64_t> SchemaReader::DurationOf(const MapReader& map, std::string_view key,
                                                std::string_view what) {
  const auto text = map.Text(key);
  if (!text) return std::nullopt;
  const absl::StatusOr<int64_t> micros = ParseDurationMicros(*text);
  if (micros.ok()) return *micros;
  Complain(LineOf(map.Find(key)), fmt::format("'{}' of {}: {}", key, what, TextOfStatus(micros.status())));
  return std::nullopt;
}

void SchemaReader::ReadTime(const YAML::Node& node) {
  const MapReader map(node, "'time'", {"resolution", "interval", "zone", "column", "origin"}, problems_);
  has_resolution_ = map.Has("resolution");
  schema_.resolution_micros = DurationOf(map, "resolution", "'time'").value_or(schema_.resolution_micros);
  schema_.interval_micros = DurationOf(map, "interval", "'time'");
  schema_.time_column = map.Text("column").value_or("");
  ReadOrigin(map);
  if (const auto zone = map.Text("zone")) {
    schema_.assume_utc = true;
    if (*zone != "UTC") {
      Complain(LineOf(map.Find("zone")),
               fmt::format("'zone' of 'time' is '{}'; allowed: UTC", Printable(*zone)));
    }
  }
}

void SchemaReader::ReadOrigin(const MapReader& map) {
  const auto text = map.Text("origin");
  if (!text || *text == "none") return;
  const int line = LineOf(map.Find("origin"));
  schema_.origin_micros = ParseDayOrMinute(*text);
  if (!schema_.origin_micros) {
    return Complain(
        line, fmt::format("'origin' of 'time' is '{}'; allowed: a time (UTC) of the years 0001 to 9999, "
                          "as 1850-01-01 or 1850-01-01-1204",
                          Printable(*text)));
  }
  if (*schema_.origin_micros % schema_.resolution_micros == 0) return;
  Complain(line, fmt::format("'origin' of 'time' is {}, which times that are rounded down to {} never are",
                             *text, DurationText(schema_.resolution_micros)));
}

void SchemaReader::ReadDelimiter(const MapReader& map) {
  const YAML::Node node = map.Find("delimiter");
  if (!node.IsDefined()) return;
  const std::string text = node.IsScalar() ? node.Scalar() : "??";
  const bool is_one_sign = text.size() == 1 && text[0] > ' ' && text[0] <= '~' &&
                           !std::isalnum(static_cast<unsigned char>(text[0]));
  if (!text.empty() && !is_one_sign) {
    Complain(LineOf(node),
             fmt::format("'delimiter' is '{}'; allowed: one printable ASCII character that is no "
                         "letter, digit or blank, or '' where all parts have a width",
                         Printable(text)));
  }
  schema_.delimiter = text;
}

Retention SchemaReader::ReadRetention(const YAML::Node& node, const std::string& what) {
  const MapReader map(node, what, {"max_age", "max_versions"}, problems_);
  Retention retention;
  retention.is_declared = true;
  const auto age = map.Text("max_age");
  if (age && *age != "all") {
    const absl::StatusOr<int64_t> micros = ParseDurationMicros(*age);
    if (!micros.ok()) {
      Complain(LineOf(map.Find("max_age")),
               fmt::format("'max_age': {}; or 'all'", TextOfStatus(micros.status())));
    } else if (*micros < 1000) {
      Complain(LineOf(map.Find("max_age")), fmt::format("'max_age' is {}; allowed: 1ms and more", *age));
    } else {
      retention.max_age_micros = *micros;
    }
  }
  const YAML::Node versions = map.Find("max_versions");
  if (versions.IsDefined() && !(versions.IsScalar() && versions.Scalar() == "all")) {
    if (const auto count = map.Integer("max_versions", 1, std::numeric_limits<int32_t>::max())) {
      retention.max_versions = static_cast<int32_t>(*count);
    }
  }
  return retention;
}

void SchemaReader::ReadFamilies(const YAML::Node& node) {
  if (!node.IsMap()) {
    return Complain(LineOf(node), "'families' must be a map of families to their retention");
  }
  for (const auto& entry : node) {
    const std::string name = entry.first.IsScalar() ? entry.first.Scalar() : "";
    const bool is_used =
        name == schema_.family || std::any_of(schema_.fields.begin(), schema_.fields.end(),
                                              [&](const Field& field) { return field.family == name; });
    if (!is_used) {
      Complain(LineOf(entry.first), fmt::format("family '{}' has no field", Printable(name)));
    }
    schema_.family_retention[name] = ReadRetention(entry.second, fmt::format("family '{}'", name));
  }
}

void SchemaReader::ReadTexts(
    const YAML::Node& node, std::string_view what,
    const std::function<void(const std::string& key, const std::string& value, int line)>& accept) {
  if (!node.IsDefined()) return;
  if (!node.IsMap()) return Complain(LineOf(node), fmt::format("{} must be a map of texts", what));
  for (const auto& entry : node) {
    const auto key = TextOf(entry.first, fmt::format("a key of {}", what), problems_);
    const auto value = TextOf(entry.second, fmt::format("a value of {}", what), problems_);
    if (key && value) accept(*key, *value, LineOf(entry.first));
  }
}

void SchemaReader::ReadCsv(const YAML::Node& node) {
  const MapReader map(node, "'csv'", {"time", "format", "columns", "set"}, problems_);
  schema_.csv.time_column = map.Text("time").value_or("");
  schema_.csv.time_format = map.Text("format").value_or("");
  ReadTexts(map.Find("columns"), "'columns' of 'csv'",
            [&](const std::string& column, const std::string& name, int line) {
              if (!names_.contains(name)) {
                Complain(line, fmt::format("column '{}' is to be '{}', which is no tag or field; allowed: {}",
                                           Printable(column), Printable(name), fmt::join(names_, ", ")));
              }
              schema_.csv.columns[column] = name;
            });
  ReadTexts(map.Find("set"), "'set' of 'csv'",
            [&](const std::string& tag, const std::string& value, int line) {
              if (!schema_.FindTag(tag)) {
                Complain(line, fmt::format("'set' of 'csv' names '{}', which is no tag", Printable(tag)));
              }
              schema_.csv.constants[tag] = value;
            });
}

absl::StatusOr<SeriesSchema> ParseSchema(std::string_view text, std::string_view file) {
  if (text.size() > kDeclarationBytesMax) {
    return absl::InvalidArgumentError(fmt::format("{}: a declaration of {} bytes; allowed: up to {}", file,
                                                  text.size(), kDeclarationBytesMax));
  }
  Problems problems(file);
  SeriesSchema schema;
  try {
    const YAML::Node root = YAML::Load(std::string(text));
    schema = SchemaReader(file, &problems).Read(root);
  } catch (const YAML::Exception& error) {
    problems.Add(error.mark.line + 1, fmt::format("not YAML: {}", error.msg));
  }
  if (absl::Status status = problems.ToStatus(); !status.ok()) return status;
  schema.text = text;
  return schema;
}

absl::StatusOr<SeriesSchema> ReadSchemaFile(const std::string& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return absl::NotFoundError(fmt::format("can't open the declaration '{}'", file));
  std::ostringstream text;
  text << stream.rdbuf();
  return ParseSchema(text.str(), file);
}

}  // namespace sonde::series
