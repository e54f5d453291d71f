#include "series/known/row_match.h"

#include <fmt/format.h>

#include <optional>

#include "series/key/key_codec.h"
#include "series/schema/status_text.h"

namespace sonde::series {

RowDifference HowRowsDiffer(const SeriesSchema& a, const SeriesSchema& b) {
  const auto key_text = [](const SeriesSchema& schema) {
    std::string text;
    for (const KeyPart& part : schema.key) {
      text += fmt::format("{} {} {} {} {} {}", static_cast<int>(part.kind), part.text,
                          static_cast<int>(part.format), part.width_bytes, part.reverse, part.salts);
      if (part.kind == KeyPart::Kind::kTag) {
        const Tag& tag = schema.tags[part.tag];
        text += fmt::format(" {} {} {} {}", tag.name, static_cast<int>(tag.type), tag.width_bytes.value_or(0),
                            tag.width_bytes ? tag.pad : ' ');
      }
      for (const size_t tag : part.salt_tags) text += " " + schema.tags[tag].name;
      text += schema.delimiter;
    }
    return text;
  };
  if (!a.CountsAsDoes(b)) return {"the origin of 'time'", b.key_line};
  if (a.delimiter != b.delimiter) return {"the delimiter", b.key_line};
  if (key_text(a) != key_text(b)) return {"the key", b.key_line};
  if (a.layout != b.layout) return {"the layout", b.layout_line};
  if (a.bucket != b.bucket) return {"the bucket", b.key_line};
  if (a.layout == Layout::kOffsets && (a.slot_micros != b.slot_micros || a.slot_format != b.slot_format)) {
    return {"the slot", b.layout_line};
  }
  if (a.layout == Layout::kBlob &&
      (a.blob_format != b.blob_format || a.blob_column != b.blob_column || a.family != b.family)) {
    return {"the blob", b.layout_line};
  }
  const auto of_field = [](std::string_view what, const Field& field) {
    return RowDifference{fmt::format("the {} of field '{}'", what, field.name), field.line};
  };
  for (const Field& field : a.fields) {
    const std::optional<size_t> other = b.FindField(field.name);
    if (!other) continue;  // its cells are passed over
    const Field& now = b.fields[*other];
    if (field.qualifier != now.qualifier) return of_field("column", now);
    if (field.family != now.family) return of_field("family", now);
    if (field.encoding != now.encoding) return of_field("encoding", now);
  }
  if (a.layout == Layout::kBlob && a.blob_format == BlobFormat::kProtobuf) {
    for (size_t i = 0; i < a.fields.size(); ++i) {
      if (i >= b.fields.size() || b.fields[i].name != a.fields[i].name)
        return {"the order of fields in the blob", b.layout_line};
    }
  }
  return {};
}

absl::Status CheckRows(const SeriesSchema& version, TableAccess* tables) {
  const KeyCodec codec(version);
  for (const bool reversed : {false, true}) {
    RowRead read;
    read.ranges = {RowRange::All()};
    read.rows_max = 1;
    read.cells_per_column_max = 1;
    read.reversed = reversed;
    absl::Status problem;
    const absl::Status status = tables->ReadRows(version.table, read, [&](ReadRow&& row) {
      DecodedKey key;
      problem = codec.Decode(row.row_key, &key);
      return false;
    });
    if (absl::IsNotFound(status)) return absl::OkStatus();
    if (!status.ok()) return status;
    if (problem.ok()) continue;
    return Unreadable(version,
                      fmt::format("table '{}' has other rows: {}", version.table, TextOfStatus(problem)),
                      "declare another table", version.key_line);
  }
  return absl::OkStatus();
}

absl::Status Unreadable(const SeriesSchema& schema, std::string_view what, std::string_view remedy,
                        int line) {
  const std::string place = line > 0 ? fmt::format("{}:{}", schema.file, line) : schema.file;
  return absl::FailedPreconditionError(fmt::format("{}: {}; {}", place, what, remedy));
}

}  // namespace sonde::series
