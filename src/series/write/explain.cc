#include "series/write/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "base/bytes.h"
#include "series/schema/check.h"
#include "series/write/point_writer.h"

namespace sonde::series {
namespace {

constexpr int64_t kExampleTime =
    1'614'945'600 * kMicrosPerSecond;  // 2021-03-05T12:00:00Z, as in the documents
constexpr int kExamplePoints = 3;

// Keeps what is written, as text.
class Recorder final : public TableAccess {
 public:
  std::map<std::string, std::vector<RowWrite>> rows;

  absl::Status EnsureTable(const std::string&, const std::vector<FamilyRequest>&) override {
    return absl::OkStatus();
  }
  absl::StatusOr<std::vector<std::string>> ListTables() override { return std::vector<std::string>(); }
  absl::StatusOr<std::vector<absl::Status>> MutateRows(const std::string& table,
                                                       const std::vector<RowWrite>& writes) override {
    rows[table] = writes;
    return std::vector<absl::Status>(writes.size());
  }
  absl::Status ReadRows(const std::string&, const RowRead&, const std::function<bool(ReadRow&&)>&) override {
    return absl::UnimplementedError("examples are written, not read");
  }
};

std::string ExampleTag(const Tag& tag) {
  if (tag.type == TagType::kInt) return "7";
  // Cut to its width, and never ending with its pad.
  std::string text = fmt::format("{}1", tag.name);
  if (tag.width_bytes) text = text.substr(0, *tag.width_bytes);
  if (text.back() == tag.pad) text.back() = tag.pad == 'x' ? 'y' : 'x';
  return text;
}

std::string ExampleField(const Field& field, int point) {
  switch (field.type) {
    case FieldType::kInt:
      return fmt::format("{}", 94 + point);
    case FieldType::kDouble:
      return fmt::format("{:.1f}", 9.5 + 0.1 * point);
    case FieldType::kString:
      break;
  }
  return fmt::format("text{}", point + 1);
}

using Lines = std::vector<std::vector<std::string>>;

// The row's cells, newest first in each column, under the columns of `header`.
void AppendRow(const RowWrite& row, const std::vector<std::string>& header, Lines* lines) {
  std::map<std::string, std::map<int64_t, std::string, std::greater<>>> columns;
  for (const CellWrite& cell : row.cells) {
    columns[fmt::format("{}:{}", cell.family, Printable(cell.qualifier))][cell.timestamp_micros] =
        fmt::format("{} ({})", Printable(cell.value), TimeText(cell.timestamp_micros));
  }
  const size_t first = lines->size();
  for (size_t column = 1; column < header.size(); ++column) {
    size_t line = first;
    for (const auto& [time, text] : columns[header[column]]) {
      if (line == lines->size()) lines->emplace_back(header.size());
      (*lines)[line++][column] = text;
    }
  }
  if (lines->size() > first) (*lines)[first][0] = Printable(row.row_key);
}

std::string Draw(const Lines& lines) {
  std::vector<size_t> widths(lines[0].size());
  for (const auto& line : lines) {
    for (size_t i = 0; i < line.size(); ++i) widths[i] = std::max(widths[i], line[i].size());
  }
  std::string text;
  for (const auto& line : lines) {
    std::string drawn = " ";
    for (size_t i = 0; i < line.size(); ++i) drawn += fmt::format(" {:<{}} ", line[i], widths[i]);
    drawn.erase(drawn.find_last_not_of(' ') + 1);
    text += drawn + "\n";
  }
  return text;
}

std::string DrawRows(const std::vector<RowWrite>& rows) {
  std::vector<std::string> header = {"row key"};
  for (const RowWrite& row : rows) {
    for (const CellWrite& cell : row.cells) {
      std::string column = fmt::format("{}:{}", cell.family, Printable(cell.qualifier));
      if (std::find(header.begin(), header.end(), column) == header.end())
        header.push_back(std::move(column));
    }
  }
  Lines lines = {header};
  for (const RowWrite& row : rows) AppendRow(row, header, &lines);
  return Draw(lines);
}

std::string RetentionText(const Retention& retention) {
  if (!retention.max_age_micros && !retention.max_versions) return "keeps every cell";
  std::string text = "forgets";
  if (retention.max_age_micros)
    text += fmt::format(" cells older than {}", DurationText(*retention.max_age_micros));
  if (retention.max_age_micros && retention.max_versions) text += " and";
  if (retention.max_versions)
    text += fmt::format(" all but the newest {} of a column", *retention.max_versions);
  return text;
}

std::string LayoutText(const SeriesSchema& schema) {
  const std::string piece = schema.bucket && !schema.IsRowPerPoint() ? " and " + schema.bucket->Name() : "";
  const std::string_view of_field = schema.FindPart(KeyPart::Kind::kField) != nullptr ? ", field" : "";
  const std::string row = fmt::format("a row for each series{}{}", of_field, piece);
  const std::string_view blob = schema.blob_format == BlobFormat::kJson ? "JSON" : "protocol buffer";
  switch (schema.layout) {
    case Layout::kCells:
      return fmt::format("layout cells: {}, a column for each field, a cell for each point", row);
    case Layout::kColumns:
      return fmt::format("layout columns: {}, a column for each reading, a cell for each point", row);
    case Layout::kOffsets:
      return fmt::format("layout offsets: {}, a column for each slot of {}", row,
                         DurationText(schema.slot_micros));
    case Layout::kRow:
      return "layout row: a row for each point, a column for each field";
    case Layout::kBlob:
      break;
  }
  if (schema.IsRowPerPoint())
    return fmt::format("layout blob: a row for each point, its fields one {}", blob);
  return fmt::format("layout blob: {}, a cell for each point, its fields one {}", row, blob);
}

std::string SizesText(const SeriesSchema& schema) {
  const std::optional<SeriesSizes> sizes = EstimateSizes(schema);
  if (!sizes) {
    return "Declare time: { interval: 5s }, the time between two points of a series, to see what a day "
           "costs.\n";
  }
  std::string text = fmt::format("A day of one series: {:.6g} points, {:.4g} rows, {:.6g} cells",
                                 sizes->points_per_day, sizes->rows_per_day, sizes->cells_per_day);
  text += fmt::format("; a full row is about {} before packing.\n", BytesText(sizes->row_bytes));
  return text;
}

// What a query must fix to be one range of keys.
std::string QueriesText(const SeriesSchema& schema) {
  std::vector<std::string> fixed;
  std::string text;
  for (const KeyPart& part : schema.key) {
    if (part.kind == KeyPart::Kind::kConst) continue;
    fixed.push_back(part.kind == KeyPart::Kind::kTag ? schema.tags[part.tag].name : "time");
    text += fmt::format("  {}\n", fmt::join(fixed, " + "));
    if (part.IsTime()) break;
  }
  std::string head = "One range of row keys, for a query that names:\n" + text;
  if (!fixed.empty())
    head += fmt::format("Reads the whole table: a query that does not name {}.\n", fixed[0]);
  return head;
}

}  // namespace

absl::StatusOr<std::string> ExplainSchema(const SeriesSchema& schema) {
  Recorder recorder;
  PointWriter writer(schema, &recorder);
  std::vector<std::string> tag_texts;
  for (const Tag& tag : schema.tags) tag_texts.push_back(ExampleTag(tag));
  const std::vector<std::string_view> tags(tag_texts.begin(), tag_texts.end());
  const int64_t step = std::max(schema.interval_micros.value_or(kMicrosPerMinute), schema.resolution_micros);
  for (int i = 0; i < kExamplePoints; ++i) {
    std::vector<std::string> field_texts;
    for (const Field& field : schema.fields) field_texts.push_back(ExampleField(field, i));
    const std::vector<std::string_view> fields(field_texts.begin(), field_texts.end());
    if (absl::Status status = writer.Add({tags, kExampleTime + i * step, fields}); !status.ok())
      return status;
  }
  if (absl::Status status = writer.Flush(); !status.ok()) return status;

  const auto draw = [&](const std::string& table) { return DrawRows(recorder.rows[table]); };
  std::string text =
      fmt::format("series {}, {}\ntable {}, family {}: {}\n\n{}", schema.name, LayoutText(schema),
                  schema.table, schema.family, RetentionText(schema.retention), draw(schema.table));
  for (const OrderTable& order : schema.orders) {
    text += fmt::format("\ntable {}: the same points by another key\n\n{}", order.table, draw(order.table));
  }
  for (const PeriodTable& period : schema.periods) {
    const std::string table = period.TableAt(kExampleTime);
    text += fmt::format("\ntable {}: the rows of one {}\n\n{}", table, period.every.Name(), draw(table));
  }
  for (const LatestTable& latest : schema.latest) {
    text += fmt::format("\ntable {}: a row for each series, its newest values\n\n{}", latest.table,
                        draw(latest.table));
  }
  return text + "\n" + SizesText(schema) + QueriesText(schema);
}

}  // namespace sonde::series
