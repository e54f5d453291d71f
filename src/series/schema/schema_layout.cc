// The layout of a declaration: what a row is, and which columns it has.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/bytes.h"
#include "model/limits.h"
#include "series/schema/schema_reader.h"
#include "series/schema/status_text.h"

namespace sonde::series {
namespace {

// The least piece of time that may stand in front of the tags of a series that is indexed: a question reads a range of keys for each
// piece and series that it asks for.
constexpr int64_t kIndexedPieceMicrosMin = kMicrosPerMinute;

}  // namespace

void SchemaReader::ReadBucketAndLayout(const MapReader& map) {
  if (const auto text = map.Text("bucket")) {
    const absl::StatusOr<BucketWidth> bucket = ParseBucketWidth(*text);
    if (bucket.ok()) {
      schema_.bucket = *bucket;
    } else {
      bucket_is_wrong_ = true;
      Complain(LineOf(map.Find("bucket")), fmt::format("'bucket': {}", TextOfStatus(bucket.status())));
    }
  }
  schema_.layout_line = map.Has("layout") ? LineOf(map.Find("layout")) : line_;
  const std::string layout = map.Text("layout").value_or("cells");
  if (const std::optional<Layout> known = LayoutOfName(layout)) {
    schema_.layout = *known;
  } else {
    Complain(schema_.layout_line,
             fmt::format("layout '{}'; allowed: cells, columns, offsets, row, blob", Printable(layout)));
  }
  if (map.Has("slot")) ReadSlot(map.Find("slot"));
  if (map.Has("blob")) ReadBlob(map.Find("blob"));
  for (const auto& [key, owner] : {std::pair("slot", Layout::kOffsets), std::pair("blob", Layout::kBlob)}) {
    if (!map.Has(key) || schema_.layout == owner) continue;
    Complain(LineOf(map.Find(key)),
             fmt::format("'{}' belongs to layout {}; the layout is {}", key, LayoutName(owner), layout));
  }
  const auto corrections = map.Text("corrections");
  schema_.keeps_corrections = corrections == "keep";
  if (corrections && *corrections != "keep" && *corrections != "replace") {
    Complain(LineOf(map.Find("corrections")),
             fmt::format("'corrections' is '{}'; allowed: replace, keep", Printable(*corrections)));
  }
}

void SchemaReader::ReadSlot(const YAML::Node& node) {
  std::string every;
  std::string format;
  if (node.IsScalar()) {
    every = node.Scalar();
  } else {
    const MapReader map(node, "'slot'", {"every", "format"}, problems_);
    every = map.Text("every").value_or("");
    format = map.Text("format").value_or("");
  }
  const absl::StatusOr<BucketWidth> width = ParseBucketWidth(every);
  if (!width.ok() || width->kind != BucketWidth::Kind::kFixed || !schema_.bucket) {
    return Complain(LineOf(node), fmt::format("'slot' is '{}'; allowed: a duration such as 15m that divides "
                                              "the declaration's 'bucket'",
                                              Printable(every)));
  }
  schema_.slot_micros = width->micros;
  if (!schema_.bucket->IsMultipleOf(*width)) {
    return Complain(LineOf(node), fmt::format("a slot of {} does not divide the bucket of one {}", every,
                                              schema_.bucket->Name()));
  }
  schema_.slot_format = DefaultSlotFormat(*schema_.bucket, schema_.slot_micros);
  if (format.empty()) return;
  const std::optional<SlotFormat> known = SlotFormatOfName(format);
  if (!known || !SlotFormatFits(*known, *schema_.bucket, schema_.slot_micros)) {
    return Complain(
        LineOf(node),
        fmt::format("slot format '{}' {}; allowed: {}", Printable(format),
                    known ? "can't tell the slots of the bucket apart" : "is unknown", SlotFormatNames()));
  }
  schema_.slot_format = *known;
}

void SchemaReader::ReadBlob(const YAML::Node& node) {
  const MapReader map(node, "'blob'", {"format", "column"}, problems_);
  const std::string format = map.Text("format").value_or("json");
  if (format == "protobuf") {
    schema_.blob_format = BlobFormat::kProtobuf;
  } else if (format != "json") {
    Complain(LineOf(map.Find("format")),
             fmt::format("'format' of 'blob' is '{}'; allowed: json, protobuf", Printable(format)));
  }
  schema_.blob_column = map.Text("column").value_or(schema_.blob_column);
}

void SchemaReader::FinishFields() {
  const bool has_field_part = schema_.FindPart(KeyPart::Kind::kField) != nullptr;
  std::map<std::string, int> fields_of_family;
  for (Field& field : schema_.fields) {
    if (field.family.empty()) field.family = schema_.family;
    ++fields_of_family[field.family];
  }
  for (Field& field : schema_.fields) {
    const bool is_named = named_columns_.contains(field.name);
    const bool is_alone =
        schema_.layout == Layout::kOffsets && !has_field_part && fields_of_family[field.family] == 1;
    if (!is_named && !is_alone) field.qualifier = field.name;
    if (!is_named && schema_.layout == Layout::kOffsets && !is_alone && !has_field_part)
      field.qualifier += ".";
    if (is_named && field.qualifier.empty() && !is_alone) {
      Complain(field.line,
               fmt::format("'as' of field '{}' is empty; allowed only in layout offsets, for the one "
                           "field of a family",
                           field.name));
    }
    if (schema_.layout != Layout::kBlob) continue;
    if (field.encoding != FieldEncoding::kText || field.family != schema_.family) {
      Complain(field.line,
               fmt::format("field '{}' is a part of the blob: it has no encoding or family of its own",
                           field.name));
    }
  }
}

// Whether a slot behind one field's column may read as a slot behind another's.
void SchemaReader::CheckOffsetColumns() {
  for (const Field& a : schema_.fields) {
    for (const Field& b : schema_.fields) {
      if (&a == &b || a.family != b.family || !b.qualifier.starts_with(a.qualifier)) continue;
      const std::string_view rest = std::string_view(b.qualifier).substr(a.qualifier.size());
      const bool is_digits =
          std::all_of(rest.begin(), rest.end(), [](char c) { return c >= '0' && c <= '9'; });
      if (!rest.empty() && !is_digits) continue;
      return Complain(b.line,
                      fmt::format("columns of field '{}' ('{}' and a slot) can't be told from those of "
                                  "field '{}' ('{}' and a slot)",
                                  b.name, Printable(b.qualifier), a.name, Printable(a.qualifier)));
    }
  }
}

void SchemaReader::CheckColumns() {
  const bool is_by_field = schema_.FindPart(KeyPart::Kind::kField) != nullptr;
  std::set<std::pair<std::string, std::string>> columns;
  for (const Field& field : schema_.fields) {
    if (field.qualifier.size() > kQualifierBytesMax / 2) {
      Complain(field.line, fmt::format("'as' of field '{}' has {} bytes; allowed: up to {}", field.name,
                                       field.qualifier.size(), kQualifierBytesMax / 2));
    }
    if (!columns.emplace(is_by_field ? "" : field.family, field.qualifier).second) {
      Complain(field.line, fmt::format("field '{}' is written as column '{}', as another field is",
                                       field.name, Printable(field.qualifier)));
    }
  }
  if (schema_.layout == Layout::kOffsets && !is_by_field) CheckOffsetColumns();
  if (schema_.layout == Layout::kBlob) columns = {{schema_.family, schema_.blob_column}};
  const auto check_copy = [&](const std::string& column, std::string_view what, int line) {
    if (column.empty()) return;
    if (schema_.layout == Layout::kColumns) {
      return Complain(line, fmt::format("'column' of {}: in layout columns, columns are readings", what));
    }
    bool is_slot = false;
    if (schema_.layout == Layout::kOffsets) {
      is_slot = std::any_of(column.begin(), column.end(), [](char c) { return c >= '0' && c <= '9'; });
    }
    if (is_slot || !columns.emplace(schema_.family, column).second) {
      Complain(line,
               fmt::format("'column' of {} is '{}', which is a field's column too", what, Printable(column)));
    }
  };
  for (const Tag& tag : schema_.tags) check_copy(tag.column, fmt::format("tag '{}'", tag.name), tag.line);
  check_copy(schema_.time_column, "'time'", schema_.key_line);
  if (!schema_.time_column.empty() && !schema_.IsRowPerPoint()) {
    Complain(schema_.layout_line, "'column' of 'time' is for layouts with a row for each event");
  }
}

void SchemaReader::CheckLayout() {
  CheckColumns();
  const bool has_bucket = schema_.FindPart(KeyPart::Kind::kBucket) != nullptr;
  if (schema_.layout == Layout::kOffsets) {
    if (!has_bucket || schema_.slot_micros == 0) {
      return Complain(schema_.layout_line,
                      "layout offsets needs a 'bucket' in 'key' and a 'slot' that divides it, "
                      "as in bucket: day, slot: 15m");
    }
    if (!has_resolution_) schema_.resolution_micros = schema_.slot_micros;
    if (schema_.resolution_micros % schema_.slot_micros != 0) {
      Complain(
          schema_.layout_line,
          fmt::format("a resolution of {} is finer than a slot of {}: two events of one slot would be one",
                      DurationText(schema_.resolution_micros), DurationText(schema_.slot_micros)));
    }
  }
  const bool has_timestamps_only = schema_.IsTimeInTimestamps();
  if (has_timestamps_only && schema_.resolution_micros % 1000 != 0) {
    Complain(schema_.layout_line,
             fmt::format("layout {} with a resolution of {}: the timestamps of cells count "
                         "milliseconds; allowed: 1ms and its multiples, or layout: row",
                         LayoutName(schema_.layout), DurationText(schema_.resolution_micros)));
  }
  if (has_timestamps_only && schema_.keeps_corrections) {
    Complain(schema_.layout_line,
             fmt::format("corrections: keep needs a row or column that says the time of its "
                         "event; in this layout {} only the cell's timestamp does",
                         LayoutName(schema_.layout)));
  }
}

void SchemaReader::ReadIndex(const MapReader& map) {
  const int line = LineOf(map.Find("index"));
  const auto index = map.Text("index");
  if (!index) return;
  if (*index != "yes" && *index != "no") {
    return Complain(line, fmt::format("'index' is '{}'; allowed: yes, no", Printable(*index)));
  }
  // Points of an earlier version are found as those of the series.
  if (*index == "no" || is_version_) return;
  if (schema_.tags.empty()) {
    return Complain(line, "'index' is yes, and the series has no tags that it could be asked for");
  }
  size_t last_tag = 0;
  for (size_t i = 0; i < schema_.key.size(); ++i) {
    if (schema_.key[i].kind == KeyPart::Kind::kTag) last_tag = i;
  }
  for (size_t i = 0; i < last_tag; ++i) {
    const KeyPart& part = schema_.key[i];
    const int64_t piece_micros = !part.IsTime() ? kIndexedPieceMicrosMin
                                 : part.kind == KeyPart::Kind::kBucket
                                     ? schema_.bucket->MicrosMax()
                                     : TimeFormatUnit(part.format).MicrosMax();
    if (piece_micros >= kIndexedPieceMicrosMin) continue;
    return Complain(
        line,
        fmt::format(
            "'index' is yes, and the time stands in front of a tag in 'key', in pieces of less than {}: the "
            "points of a series lie too far apart for an index to say where; put the tags in front of "
            "the time, or a bucket of {} and more in its place",
            DurationText(kIndexedPieceMicrosMin), DurationText(kIndexedPieceMicrosMin)));
  }
  schema_.is_indexed = true;
  schema_.index_line = line;
}

void SchemaReader::CheckAge(const SeriesSchema& table, int line) {
  if (table.TimestampOrigin() >= 0) return;
  const auto check = [&](const Retention& retention) {
    if (!retention.max_age_micros || *retention.max_age_micros + table.TimestampOrigin() >= 1000) return;
    Complain(line,
             fmt::format("max_age {} with the origin {}: table '{}' has the times in the timestamps of its "
                         "cells, which are so far ahead of the clock that no rule can tell their age; "
                         "allowed with this origin: no max_age, one of more than {}, or layout: row",
                         DurationText(*retention.max_age_micros), TimeText(*table.origin_micros), table.table,
                         DurationText(-table.TimestampOrigin())));
  };
  check(table.retention);
  for (const auto& [family, retention] : table.family_retention) check(retention);
}

}  // namespace sonde::series
