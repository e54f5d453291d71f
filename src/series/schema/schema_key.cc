// The key of a declaration: its parts, and whether they can be decoded.
#include <fmt/format.h>

#include <set>
#include <string_view>

#include "base/bytes.h"
#include "series/schema/schema_parser.h"
#include "series/schema/schema_reader.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

constexpr int kEpochWidthBytesMax = 19;
constexpr int kSaltsDefault = 8;

}  // namespace

std::string SchemaReader::KeyPartsAllowed() const {
  std::vector<std::string> names;
  for (const Tag& tag : schema_.tags) names.push_back(tag.name);
  names.insert(names.end(), {"time", "bucket", "field", "salt", "{ const: TEXT }", "{ time: FORMAT }",
                             "{ bucket: WIDTH }", "{ salt: N, of: TAGS }"});
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
    part.width_bytes = WidthBytesOf(part.format);
    schema_.key.push_back(part);
  } else if (name == "bucket") {
    if (!schema_.bucket) {
      if (bucket_is_wrong_) return;  // and was complained of
      return Complain(part.line,
                      "'bucket' is in the key, but the declaration has no key 'bucket': its width");
    }
    part.kind = KeyPart::Kind::kBucket;
    AddBucketPart(part, std::nullopt);
  } else if (name == "field") {
    part.kind = KeyPart::Kind::kField;
    schema_.key.push_back(part);
  } else if (name == "salt") {
    for (size_t tag = 0; tag < schema_.tags.size(); ++tag) part.salt_tags.push_back(tag);
    AddSaltPart(part, kSaltsDefault);
  } else {
    AddTagPart(name, part.line);
  }
}

int SchemaReader::WidthBytesOf(TimeFormat format) const {
  return IsEpochFormat(format) ? schema_.EpochWidthBytes(format) : TimeFormatWidthBytes(format);
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
                      {"tag", "const", "time", "bucket", "format", "width", "reverse", "salt", "of"},
                      problems_);
  KeyPart part;
  part.line = LineOf(node);
  const int kinds = map.Has("tag") + map.Has("const") + map.Has("time") + map.Has("bucket") + map.Has("salt");
  if (kinds != 1) {
    return Complain(part.line,
                    "a part of 'key' must have exactly one of the keys tag, const, time, bucket, salt");
  }
  if (map.Has("of") && !map.Has("salt")) return Complain(part.line, "'of' in 'key' belongs to a salt");
  const bool is_time = map.Has("time") || map.Has("bucket");
  for (const char* key : {"format", "width", "reverse"}) {
    if (map.Has(key) && (!is_time || (map.Has("time") && std::string_view(key) == "format"))) {
      return Complain(part.line,
                      fmt::format("'{}' does not belong to this part of 'key'; allowed with time: width, "
                                  "reverse; with bucket: format, width, reverse",
                                  key));
    }
  }
  if (map.Has("salt")) return ReadSalt(map, part);
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
    part.width_bytes = WidthBytesOf(*format);
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
    const int least = part.reverse ? kEpochWidthBytesMax : TimeFormatWidthBytes(*format);
    const auto width = map.Integer("width", least, kEpochWidthBytesMax);
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
    part.width_bytes = WidthBytesOf(part.format);
  }
  if (!bucket.IsMultipleOf(TimeFormatUnit(part.format))) {
    return Complain(part.line, fmt::format("time format '{}' can't tell buckets of one {} apart",
                                           TimeFormatName(part.format), bucket.Name()));
  }
  schema_.key.push_back(part);
}

void SchemaReader::ReadSalt(const MapReader& map, KeyPart part) {
  const auto salts = map.Integer("salt", 2, kSaltsMax);
  bool is_of_time = false;
  for (const std::string& name : ListOf(map, "of", "a salt")) {
    if (name == "time") {
      is_of_time = true;
    } else if (const std::optional<size_t> tag = schema_.FindTag(name)) {
      part.salt_tags.push_back(*tag);
    } else {
      Complain(part.line, fmt::format("a salt of '{}', which is neither a tag nor 'time'", Printable(name)));
    }
  }
  if (is_of_time && !part.salt_tags.empty()) {
    return Complain(part.line, "a salt is either of tags or of 'time', not of both");
  }
  if (!map.Has("of")) {
    for (size_t tag = 0; tag < schema_.tags.size(); ++tag) part.salt_tags.push_back(tag);
  }
  if (salts) AddSaltPart(part, *salts);
}

void SchemaReader::AddSaltPart(KeyPart part, int64_t salts) {
  part.kind = KeyPart::Kind::kSalt;
  part.salts = static_cast<int>(salts);
  part.width_bytes = static_cast<int>(fmt::formatted_size("{}", salts - 1));
  schema_.key.push_back(std::move(part));
}

void SchemaReader::CheckKey() {
  CheckKeyParts();
  CheckKeyOfLayout();
  if (schema_.delimiter.empty()) {
    CheckNoDelimiter();
  } else {
    CheckDelimiter();
  }
}

void SchemaReader::CheckKeyParts() {
  std::set<size_t> tags;
  int buckets = 0;
  int fields = 0;
  int salts = 0;
  for (const KeyPart& part : schema_.key) {
    if (part.kind == KeyPart::Kind::kTag && !tags.insert(part.tag).second) {
      Complain(part.line, fmt::format("tag '{}' comes twice in 'key'", schema_.tags[part.tag].name));
    }
    if (part.kind == KeyPart::Kind::kBucket && ++buckets > 1)
      Complain(part.line, "'bucket' comes twice in 'key'");
    if (part.kind == KeyPart::Kind::kField && ++fields > 1)
      Complain(part.line, "'field' comes twice in 'key'");
    if (part.kind == KeyPart::Kind::kSalt && ++salts > 1) Complain(part.line, "'salt' comes twice in 'key'");
  }
  for (const Tag& tag : schema_.tags) {
    if (!tags.contains(schema_.FindTag(tag.name).value())) {
      Complain(tag.line,
               fmt::format("tag '{}' is not in 'key': tags name a series, so that all of them are; make "
                           "it a field (of type string) to keep it in a column",
                           tag.name));
    }
  }
  if (schema_.bucket && buckets == 0)
    Complain(schema_.key_line, "the declaration has a 'bucket', but its key has none");
}

void SchemaReader::CheckKeyOfLayout() {
  const Layout layout = schema_.layout;
  const std::string_view name = LayoutName(layout);
  const KeyPart* time = schema_.FindPart(KeyPart::Kind::kTime);
  const KeyPart* bucket = schema_.FindPart(KeyPart::Kind::kBucket);
  const KeyPart* field = schema_.FindPart(KeyPart::Kind::kField);
  const KeyPart* salt = schema_.FindPart(KeyPart::Kind::kSalt);
  if (time != nullptr && layout != Layout::kRow && layout != Layout::kBlob) {
    Complain(time->line,
             fmt::format("layout {} with 'time' in 'key' makes a row of each event; use 'bucket' (as in "
                         "{{ bucket: day, format: yyyymmdd }}), or layout: row",
                         name));
  }
  if (layout == Layout::kRow && time == nullptr) {
    Complain(schema_.key_line, "layout row needs 'time' in 'key': else two events of one series are one row");
  }
  if (layout == Layout::kBlob && time != nullptr && bucket != nullptr) {
    Complain(bucket->line,
             "layout blob has either 'time' in 'key' (a row for each event) or 'bucket' (a cell for "
             "each event), not both");
  }
  if (field != nullptr && layout != Layout::kColumns && layout != Layout::kOffsets) {
    Complain(field->line,
             fmt::format("'field' in 'key' is for the layouts columns and offsets; the layout is {}", name));
  }
  if (layout == Layout::kColumns && field == nullptr && schema_.fields.size() > 1) {
    Complain(schema_.key_line,
             "layout columns with several fields needs 'field' in 'key': a column is only a "
             "reading, and does not say of what");
  }
  if (salt != nullptr && salt->salt_tags.empty() && time == nullptr && bucket == nullptr) {
    Complain(salt->line, schema_.tags.empty() ? "a salt needs tags, or 'time' or 'bucket' in 'key'"
                                              : "a salt of 'time' needs 'time' or 'bucket' in 'key'");
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
    for (const Field& field : schema_.fields) {
      if (part.kind != KeyPart::Kind::kField || field.qualifier.find(delimiter) == std::string::npos)
        continue;
      Complain(field.line, fmt::format("'{}', as field '{}' stands in the key, holds the delimiter '{}'",
                                       Printable(field.qualifier), field.name, delimiter));
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
    if (part.kind == KeyPart::Kind::kField) {
      Complain(part.line, "'field' has no width, so that a key without a delimiter can't be decoded");
    }
  }
}

}  // namespace sonde::series
