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

}  // namespace

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

}  // namespace sonde::series
