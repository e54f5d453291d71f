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
#include "series/schema/status_text.h"
#include "series/schema/yaml_reader.h"

namespace sonde::series {
namespace {

constexpr size_t kNameBytesMax = 64;
constexpr int kEpochWidthBytesMax = 19;
constexpr std::string_view kNameRule =
    "1 to 64 letters, digits and _ - . /, starting with a letter or _, and not 'time' or 'bucket'";

bool IsName(std::string_view name) {
  if (name.empty() || name.size() > kNameBytesMax || name == "time" || name == "bucket") return false;
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return is_letter(name[0]) && std::all_of(name.begin(), name.end(), [&](char c) {
           return is_letter(c) || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '/';
         });
}

class SchemaReader {
 public:
  SchemaReader(std::string_view file, Problems* problems) : problems_(problems) { schema_.file = file; }

  SeriesSchema Read(const YAML::Node& root);

 private:
  void ReadNames(const MapReader& map);
  void ReadTags(const YAML::Node& node);
  void ReadTag(const std::string& name, const YAML::Node& node);
  void ReadFields(const YAML::Node& node);
  void ReadField(const std::string& name, const YAML::Node& node);
  void ReadTime(const YAML::Node& node);
  void ReadBucketAndLayout(const MapReader& map);
  void ReadDelimiter(const MapReader& map);
  void ReadRetention(const YAML::Node& node);
  void ReadDerived(const YAML::Node& node);
  void ReadQueries(const YAML::Node& node);
  void ReadCsv(const YAML::Node& node);
  // A map of texts; each entry goes through `accept`.
  void ReadTexts(
      const YAML::Node& node, std::string_view what,
      const std::function<void(const std::string& key, const std::string& value, int line)>& accept);

  void ReadKey(const YAML::Node& node);
  void ReadKeyPart(const YAML::Node& node);
  void ReadKeyMap(const YAML::Node& node);
  void ReadTimePart(const MapReader& map, std::string_view format_text, KeyPart part);
  void AddTagPart(const std::string& name, int line);
  void AddBucketPart(KeyPart part, std::optional<TimeFormat> format);
  void CheckKey();
  void CheckDelimiter();
  void CheckNoDelimiter();

  // Whether `name` may be a tag or field and is new; complains.
  bool CheckNewName(const std::string& name, std::string_view kind, int line);
  std::string KeyPartsAllowed() const;
  void Complain(int line, std::string what) { problems_->Add(line, std::move(what)); }

  Problems* problems_;
  SeriesSchema schema_;
  std::set<std::string> names_;
  int line_ = 1;
};

SeriesSchema SchemaReader::Read(const YAML::Node& root) {
  const MapReader map(root, "the declaration",
                      {"series", "table", "tags", "fields", "time", "key", "bucket", "layout", "delimiter",
                       "family", "retention", "derive", "queries", "csv"},
                      problems_);
  line_ = map.line();
  if (!root.IsMap()) return {};
  ReadNames(map);
  ReadTags(map.Find("tags"));
  ReadFields(map.Find("fields"));
  if (map.Has("time")) ReadTime(map.Find("time"));
  ReadBucketAndLayout(map);
  ReadDelimiter(map);
  if (map.Has("retention")) ReadRetention(map.Find("retention"));
  if (map.Has("derive")) ReadDerived(map.Find("derive"));
  if (map.Has("queries")) ReadQueries(map.Find("queries"));
  if (map.Has("csv")) ReadCsv(map.Find("csv"));
  ReadKey(map.Find("key"));
  if (problems_->empty()) CheckKey();
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
    if (CheckNewName(name, "tag", LineOf(entry.first))) ReadTag(name, entry.second);
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
    const MapReader map(node, what, {"type", "width", "pad"}, problems_);
    if (!node.IsMap()) return;
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
  std::set<std::string> qualifiers;
  for (const Field& field : schema_.fields) {
    if (!qualifiers.insert(field.qualifier).second) {
      Complain(field.line, fmt::format("field '{}' is written as column '{}', as another field is",
                                       field.name, field.qualifier));
    }
  }
}

void SchemaReader::ReadField(const std::string& name, const YAML::Node& node) {
  const std::string what = fmt::format("field '{}'", name);
  Field field;
  field.name = name;
  field.qualifier = name;
  field.line = LineOf(node);
  std::string type;
  std::string encoding = "text";
  if (node.IsScalar()) {
    type = node.Scalar();
  } else {
    const MapReader map(node, what, {"type", "as", "encoding"}, problems_);
    if (!node.IsMap()) return;
    type = map.Text("type").value_or("double");
    field.qualifier = map.Text("as").value_or(name);
    encoding = map.Text("encoding").value_or("text");
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

void SchemaReader::ReadTime(const YAML::Node& node) {
  const MapReader map(node, "'time'", {"resolution", "interval", "zone"}, problems_);
  const auto duration = [&](std::string_view key) -> std::optional<int64_t> {
    const auto text = map.Text(key);
    if (!text) return std::nullopt;
    const absl::StatusOr<int64_t> micros = ParseDurationMicros(*text);
    if (micros.ok()) return *micros;
    Complain(LineOf(map.Find(key)), fmt::format("'{}' of 'time': {}", key, TextOfStatus(micros.status())));
    return std::nullopt;
  };
  schema_.resolution_micros = duration("resolution").value_or(schema_.resolution_micros);
  schema_.interval_micros = duration("interval");
  if (const auto zone = map.Text("zone")) {
    schema_.assume_utc = true;
    if (*zone != "UTC") {
      Complain(LineOf(map.Find("zone")),
               fmt::format("'zone' of 'time' is '{}'; allowed: UTC", Printable(*zone)));
    }
  }
}

void SchemaReader::ReadBucketAndLayout(const MapReader& map) {
  if (const auto text = map.Text("bucket")) {
    const absl::StatusOr<BucketWidth> bucket = ParseBucketWidth(*text);
    if (bucket.ok()) {
      schema_.bucket = *bucket;
    } else {
      Complain(LineOf(map.Find("bucket")), fmt::format("'bucket': {}", TextOfStatus(bucket.status())));
    }
  }
  schema_.layout_line = map.Has("layout") ? LineOf(map.Find("layout")) : line_;
  const std::string layout = map.Text("layout").value_or("cells");
  if (layout == "row") {
    schema_.layout = Layout::kRow;
  } else if (layout == "columns" || layout == "offsets" || layout == "blob") {
    Complain(schema_.layout_line,
             fmt::format("layout '{}' is not written by this build yet; allowed: cells, row", layout));
  } else if (layout != "cells") {
    Complain(schema_.layout_line, fmt::format("layout '{}'; allowed: cells, row", Printable(layout)));
  }
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

void SchemaReader::ReadRetention(const YAML::Node& node) {
  const MapReader map(node, "'retention'", {"max_age", "max_versions"}, problems_);
  schema_.retention.is_declared = true;
  const auto age = map.Text("max_age");
  if (age && *age != "all") {
    const absl::StatusOr<int64_t> micros = ParseDurationMicros(*age);
    if (!micros.ok()) {
      Complain(LineOf(map.Find("max_age")),
               fmt::format("'max_age': {}; or 'all'", TextOfStatus(micros.status())));
    } else if (*micros < 1000) {
      Complain(LineOf(map.Find("max_age")), fmt::format("'max_age' is {}; allowed: 1ms and more", *age));
    } else {
      schema_.retention.max_age_micros = *micros;
    }
  }
  const YAML::Node versions = map.Find("max_versions");
  if (versions.IsDefined() && !(versions.IsScalar() && versions.Scalar() == "all")) {
    if (const auto count = map.Integer("max_versions", 1, std::numeric_limits<int32_t>::max())) {
      schema_.retention.max_versions = static_cast<int32_t>(*count);
    }
  }
}

void SchemaReader::ReadDerived(const YAML::Node& node) {
  constexpr std::string_view kExample = "'derive' must be a list, as in [ latest: host_now ]";
  if (!node.IsSequence()) return Complain(LineOf(node), std::string(kExample));
  std::set<std::string> tables = {schema_.table};
  for (const YAML::Node& entry : node) {
    const int line = LineOf(entry);
    if (!entry.IsMap() || entry.size() != 1) {
      Complain(line, std::string(kExample));
      continue;
    }
    const std::string kind = entry.begin()->first.Scalar();
    if (kind == "period" || kind == "rollup" || kind == "order") {
      Complain(line,
               fmt::format("derived table '{}' is not written by this build yet; allowed: latest", kind));
    } else if (kind != "latest") {
      Complain(line, fmt::format("derived table '{}'; allowed: latest", Printable(kind)));
    } else if (const auto table = TextOf(entry.begin()->second, "the table of 'latest'", problems_)) {
      if (!CheckTableId(*table).ok()) {
        Complain(line, fmt::format(
                           "table '{}'; allowed: 1 to 50 letters, digits and _ - ., not starting with - or .",
                           Printable(*table)));
      } else if (!tables.insert(*table).second) {
        Complain(line, fmt::format("table '{}' is used twice by this declaration", *table));
      }
      schema_.latest.push_back({*table, line});
    }
  }
}

void SchemaReader::ReadQueries(const YAML::Node& node) {
  schema_.queries_line = LineOf(node);
  if (!node.IsSequence())
    return Complain(LineOf(node), "'queries' must be a list of texts, the most important first");
  for (const YAML::Node& query : node) {
    if (const auto text = TextOf(query, "a query", problems_)) schema_.queries.push_back(*text);
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

std::string SchemaReader::KeyPartsAllowed() const {
  std::vector<std::string> names;
  for (const Tag& tag : schema_.tags) names.push_back(tag.name);
  names.insert(names.end(), {"time", "bucket", "{ const: TEXT }", "{ time: FORMAT }", "{ bucket: WIDTH }"});
  return JoinNames(names);
}

void SchemaReader::ReadKey(const YAML::Node& node) {
  if (!node.IsDefined()) return Complain(line_, "key 'key' is missing: the parts of the row key, in order");
  schema_.key_line = LineOf(node);
  if (!node.IsSequence() || node.size() == 0) {
    return Complain(LineOf(node),
                    fmt::format("'key' must be a list of at least one part; allowed: {}", KeyPartsAllowed()));
  }
  for (const YAML::Node& part : node) ReadKeyPart(part);
}

void SchemaReader::ReadKeyPart(const YAML::Node& node) {
  KeyPart part;
  part.line = LineOf(node);
  if (node.IsMap()) return ReadKeyMap(node);
  const std::string name = node.IsScalar() ? node.Scalar() : "";
  if (name == "time") {
    part.kind = KeyPart::Kind::kTime;
    part.format = schema_.resolution_micros % 1000 == 0 ? TimeFormat::kEpochMillis : TimeFormat::kEpochMicros;
    part.width_bytes = TimeFormatWidthBytes(part.format);
    schema_.key.push_back(part);
  } else if (name == "bucket") {
    if (!schema_.bucket) {
      return Complain(part.line,
                      "'bucket' is in the key, but the declaration has no key 'bucket': its width");
    }
    part.kind = KeyPart::Kind::kBucket;
    AddBucketPart(part, std::nullopt);
  } else {
    AddTagPart(name, part.line);
  }
}

void SchemaReader::AddTagPart(const std::string& name, int line) {
  const std::optional<size_t> tag = schema_.FindTag(name);
  if (!tag) {
    return Complain(
        line, fmt::format("unknown part '{}' in 'key'; allowed: {}", Printable(name), KeyPartsAllowed()));
  }
  KeyPart part;
  part.tag = *tag;
  part.line = line;
  schema_.key.push_back(part);
}

void SchemaReader::ReadKeyMap(const YAML::Node& node) {
  const MapReader map(node, "a part of 'key'",
                      {"tag", "const", "time", "bucket", "format", "width", "reverse", "salt"}, problems_);
  KeyPart part;
  part.line = LineOf(node);
  if (map.Has("salt")) return Complain(part.line, "a salt in 'key' is not written by this build yet");
  const int kinds = map.Has("tag") + map.Has("const") + map.Has("time") + map.Has("bucket");
  if (kinds != 1) {
    return Complain(part.line, "a part of 'key' must have exactly one of the keys tag, const, time, bucket");
  }
  const bool is_time = map.Has("time") || map.Has("bucket");
  for (const char* key : {"format", "width", "reverse"}) {
    if (map.Has(key) && (!is_time || (map.Has("time") && std::string_view(key) == "format"))) {
      return Complain(part.line,
                      fmt::format("'{}' does not belong to this part of 'key'; allowed with time: width, "
                                  "reverse; with bucket: format, width, reverse",
                                  key));
    }
  }
  if (const auto tag = map.Text("tag")) return AddTagPart(*tag, part.line);
  if (const auto text = map.Text("const")) {
    part.kind = KeyPart::Kind::kConst;
    part.text = *text;
    if (text->size() > kKeyPartWidthBytesMax) {
      return Complain(part.line, fmt::format("a constant of {} bytes in 'key'; allowed: up to {}",
                                             text->size(), kKeyPartWidthBytesMax));
    }
    schema_.key.push_back(part);
  } else if (const auto format = map.Text("time")) {
    part.kind = KeyPart::Kind::kTime;
    ReadTimePart(map, *format, part);
  } else if (const auto width = map.Text("bucket")) {
    const absl::StatusOr<BucketWidth> bucket = ParseBucketWidth(*width);
    if (!bucket.ok()) return Complain(part.line, fmt::format("'bucket': {}", TextOfStatus(bucket.status())));
    if (schema_.bucket && *schema_.bucket != *bucket) {
      return Complain(part.line, fmt::format("the key's bucket is {}, but the declaration's is {}",
                                             bucket->Name(), schema_.bucket->Name()));
    }
    schema_.bucket = *bucket;
    part.kind = KeyPart::Kind::kBucket;
    ReadTimePart(map, map.Text("format").value_or(""), part);
  }
}

void SchemaReader::ReadTimePart(const MapReader& map, std::string_view format_text, KeyPart part) {
  part.reverse = map.Boolean("reverse").value_or(false);
  std::optional<TimeFormat> format = TimeFormatOfName(format_text);
  if (!format && !format_text.empty()) {
    return Complain(part.line,
                    fmt::format("time format '{}'; allowed: {}", Printable(format_text), TimeFormatNames()));
  }
  if (!format && part.reverse) format = TimeFormat::kEpochMillis;
  if (format) {
    part.format = *format;
    part.width_bytes = TimeFormatWidthBytes(*format);
    if (part.reverse && !IsEpochFormat(*format)) {
      return Complain(part.line,
                      fmt::format("time format '{}' can't be reversed; allowed with reverse: epoch_s, "
                                  "epoch_ms, epoch_us",
                                  format_text));
    }
    if (part.reverse) part.width_bytes = kEpochWidthBytesMax;
  }
  if (map.Has("width")) {
    if (!format || !IsEpochFormat(*format)) {
      return Complain(part.line, "'width' in 'key' is for epoch_s, epoch_ms and epoch_us only");
    }
    const auto width = map.Integer("width", part.width_bytes, kEpochWidthBytesMax);
    if (width) part.width_bytes = static_cast<int>(*width);
  }
  if (part.kind == KeyPart::Kind::kBucket) return AddBucketPart(part, format);
  schema_.key.push_back(part);
}

void SchemaReader::AddBucketPart(KeyPart part, std::optional<TimeFormat> format) {
  const BucketWidth& bucket = *schema_.bucket;
  if (!format) {
    // The coarsest readable format that tells two buckets apart.
    for (const TimeFormat candidate : {TimeFormat::kIsoWeek, TimeFormat::kMonth, TimeFormat::kDayCompact,
                                       TimeFormat::kHour, TimeFormat::kMinute, TimeFormat::kSecond}) {
      if (bucket.IsMultipleOf(TimeFormatUnit(candidate))) {
        format = candidate;
        break;
      }
    }
    part.format = format.value_or(TimeFormat::kEpochMicros);
    part.width_bytes = TimeFormatWidthBytes(part.format);
  }
  if (!bucket.IsMultipleOf(TimeFormatUnit(part.format))) {
    return Complain(part.line, fmt::format("time format '{}' can't tell buckets of one {} apart",
                                           TimeFormatName(part.format), bucket.Name()));
  }
  schema_.key.push_back(part);
}

void SchemaReader::CheckKey() {
  std::set<size_t> tags;
  int buckets = 0;
  for (const KeyPart& part : schema_.key) {
    if (part.kind == KeyPart::Kind::kTag && !tags.insert(part.tag).second) {
      Complain(part.line, fmt::format("tag '{}' comes twice in 'key'", schema_.tags[part.tag].name));
    }
    if (part.kind == KeyPart::Kind::kBucket && ++buckets > 1)
      Complain(part.line, "'bucket' comes twice in 'key'");
    if (part.kind == KeyPart::Kind::kTime && schema_.layout == Layout::kCells) {
      Complain(
          part.line,
          "layout cells with 'time' in 'key' makes a row of each event; use 'bucket' (as in { bucket: day, "
          "format: yyyymmdd }), or layout: row");
    }
  }
  for (const Tag& tag : schema_.tags) {
    if (!tags.contains(schema_.FindTag(tag.name).value())) {
      Complain(tag.line,
               fmt::format("tag '{}' is not in 'key': this build keeps tags in the key only", tag.name));
    }
  }
  if (schema_.bucket && buckets == 0)
    Complain(schema_.key_line, "the declaration has a 'bucket', but its key has none");
  if (schema_.layout == Layout::kRow && schema_.FinestTimePart() == nullptr) {
    Complain(schema_.key_line, "layout row needs 'time' in 'key': else two events of one series are one row");
  }
  if (schema_.layout == Layout::kCells && schema_.resolution_micros % 1000 != 0) {
    Complain(schema_.layout_line,
             fmt::format("layout cells with a resolution of {}: the timestamps of cells count "
                         "milliseconds; allowed: 1ms and its multiples, or layout: row",
                         DurationText(schema_.resolution_micros)));
  }
  for (const LatestTable& latest : schema_.latest) {
    if (schema_.tags.empty()) Complain(latest.line, "'latest' needs at least one tag in 'key'");
  }
  if (schema_.delimiter.empty()) {
    CheckNoDelimiter();
  } else {
    CheckDelimiter();
  }
}

void SchemaReader::CheckDelimiter() {
  const char delimiter = schema_.delimiter[0];
  for (const KeyPart& part : schema_.key) {
    if (part.kind == KeyPart::Kind::kConst && part.text.find(delimiter) != std::string::npos) {
      Complain(part.line,
               fmt::format("constant '{}' holds the delimiter '{}'", Printable(part.text), delimiter));
    }
    if (part.IsTime() && TimeFormatHolds(part.format, delimiter)) {
      Complain(part.line, fmt::format("time format '{}' holds the delimiter '{}'",
                                      TimeFormatName(part.format), delimiter));
    }
    if (part.kind != KeyPart::Kind::kTag) continue;
    const Tag& tag = schema_.tags[part.tag];
    if (tag.width_bytes && tag.pad == delimiter) {
      Complain(tag.line, fmt::format("'pad' of tag '{}' is the delimiter '{}'", tag.name, delimiter));
    }
  }
}

void SchemaReader::CheckNoDelimiter() {
  for (size_t i = 0; i + 1 < schema_.key.size(); ++i) {
    const KeyPart& part = schema_.key[i];
    if (part.kind == KeyPart::Kind::kTag && !schema_.tags[part.tag].width_bytes) {
      Complain(part.line,
               fmt::format("tag '{}' has no width, so that a key without a delimiter can't be decoded",
                           schema_.tags[part.tag].name));
    }
  }
}

}  // namespace

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
