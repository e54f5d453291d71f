#include "series/write/explain.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/bytes.h"
#include "base/clock.h"
#include "series/key/blob_codec.h"
#include "series/key/scan_plan.h"
#include "series/known/series_tables.h"
#include "series/schema/check.h"
#include "series/schema/time_range.h"
#include "series/write/example_tables.h"
#include "series/write/point_writer.h"
#include "series/write/row_text.h"

namespace sonde::series {
namespace {

constexpr int64_t kExampleTime =
    1'614'945'600 * kMicrosPerSecond;  // 2021-03-05T12:00:00Z, as in the documents
constexpr int kExamplePoints = 3;

// That of the documents, where the series takes it.
int64_t ExampleTimeOf(const SeriesSchema& schema) {
  const TimeRange times = TimesOfSeries(schema);
  return times.Holds(kExampleTime) ? kExampleTime : times.from_micros;
}

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

std::string RetentionText(const SeriesSchema& schema) {
  const Retention& retention = schema.retention;
  if (!retention.max_age_micros && !retention.max_versions) return "keeps every cell";
  std::string text = "forgets";
  if (retention.max_age_micros)
    text += fmt::format(" cells older than {}", DurationText(*retention.max_age_micros));
  if (retention.max_age_micros && retention.max_versions) text += " and";
  if (retention.max_versions)
    text += fmt::format(" all but the newest {} of a column", *retention.max_versions);
  if (retention.max_age_micros && schema.kept_longer_micros > 0) {
    text += fmt::format("; the table keeps them {} longer for the roll-ups, where queries do not find them",
                        DurationText(schema.kept_longer_micros));
  }
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

std::string CountText(double count) {
  if (count >= 1e9) return fmt::format("{:.4g} G", count / 1e9);
  if (count >= 1e6) return fmt::format("{:.4g} M", count / 1e6);
  return fmt::format("{:.6g}", count);
}

std::string SizesText(const SeriesSchema& schema) {
  const std::optional<SeriesSizes> sizes = EstimateSizes(schema);
  if (!sizes) {
    return "Declare time: { interval: 5s }, the time between two points of a series, to see what a day "
           "costs.\n";
  }
  std::string text = fmt::format("A day of one series: {:.6g} points, {:.4g} rows, {:.6g} cells",
                                 sizes->points_per_day, sizes->rows_per_day, sizes->cells_per_day);
  text += fmt::format("; a full row is about {} before packing; names are {} of what the API sends.\n",
                      BytesText(sizes->row_bytes), BytesText(sizes->name_bytes_per_day));
  if (!sizes->has_series_count) return text;
  const double count = sizes->series_count;
  return text + fmt::format("A day of all {} series: {} points, {} rows, {} cells, {} of names.\n",
                            CountText(count), CountText(count * sizes->points_per_day),
                            CountText(count * sizes->rows_per_day), CountText(count * sizes->cells_per_day),
                            BytesText(count * sizes->name_bytes_per_day));
}

// The parts that a query must fix to be one range of keys.
std::string RangesText(const SeriesSchema& schema) {
  std::vector<std::string> fixed;
  std::string text;
  for (const KeyPart& part : schema.key) {
    if (part.kind == KeyPart::Kind::kConst || part.kind == KeyPart::Kind::kSalt) continue;
    fixed.push_back(part.kind == KeyPart::Kind::kTag     ? schema.tags[part.tag].name
                    : part.kind == KeyPart::Kind::kField ? "the field"
                                                         : "time");
    text += fmt::format("  {}\n", fmt::join(fixed, " + "));
    if (part.IsTime()) break;
  }
  const KeyPart* salt = schema.FindPart(KeyPart::Kind::kSalt);
  std::string head = salt == nullptr ? "One range of row keys, for a query that names:\n"
                                     : fmt::format(
                                           "One range of row keys for each of {} salts{}, for a query that "
                                           "names:\n",
                                           salt->salts, salt->salt_tags.empty() ? "" : " that its tags have");
  head += text;
  if (!fixed.empty())
    head += fmt::format("Reads the whole table: a query that does not name {}.\n", fixed[0]);
  return head;
}

std::string IndexText(const SeriesSchema& schema) {
  if (!schema.is_indexed) return "";
  std::vector<std::string> names;
  for (const Tag& tag : schema.tags) names.push_back(tag.name);
  return fmt::format(
      "The index of the series (table sonde_index) says which rows have the other tags that are asked for, "
      "of {}, also by patterns.\n",
      fmt::join(names, ", "));
}

// Rows that the query reads of the series' own table, about; nothing where the declaration does not say
// enough.
std::optional<double> RowsOf(const SeriesSchema& schema, const DeclaredQuery& query, bool is_full_scan) {
  const std::optional<SeriesSizes> sizes = EstimateSizes(schema);
  if (!sizes || sizes->rows_per_day == 0 || query.range == DeclaredQuery::Range::kAll) return std::nullopt;
  double series = 1;
  for (size_t tag = 0; tag < schema.tags.size(); ++tag) {
    if (std::find(query.tags.begin(), query.tags.end(), tag) != query.tags.end()) continue;
    if (!schema.tags[tag].count) return std::nullopt;
    series *= static_cast<double>(*schema.tags[tag].count);
  }
  if (query.range == DeclaredQuery::Range::kLatest)
    return is_full_scan ? std::nullopt : std::optional(series);
  double rows =
      sizes->rows_per_day * static_cast<double>(query.range_micros) / static_cast<double>(kMicrosPerDay);
  if (!schema.IsRowPerPoint()) rows = std::ceil(rows) + 1;
  if (schema.FindPart(KeyPart::Kind::kField) != nullptr && !query.fields.empty()) {
    rows *= static_cast<double>(query.fields.size()) / static_cast<double>(schema.fields.size());
  }
  return rows * series;
}

absl::StatusOr<std::string> QueriesText(const SeriesSchema& schema, const std::vector<std::string>& tags) {
  std::string text;
  const KeyCodec codec(schema);
  for (const DeclaredQuery& query : schema.queries) {
    if (query.is_text_only) continue;
    if (query.range == DeclaredQuery::Range::kLatest && !schema.latest.empty()) {
      text += fmt::format("  '{}': a row of table {} for each series\n", query.text, schema.latest[0].table);
      continue;
    }
    Selection selection;
    selection.tags.resize(schema.tags.size());
    for (const size_t tag : query.tags) selection.tags[tag].values = {tags[tag]};
    selection.fields = query.fields;
    if (query.range == DeclaredQuery::Range::kDuration) {
      selection.to_micros = kExampleTime;
      selection.from_micros = std::max(kTimeBeginMicros, kExampleTime - query.range_micros);
    }
    const absl::StatusOr<ScanPlan> own = PlanScan(codec, selection);
    if (!own.ok()) return own.status();
    ScanPlan plan = *own;
    SeriesSchema read = schema;
    for (size_t i = 0; i < schema.orders.size() && plan.is_full_scan; ++i) {
      SeriesSchema copy = MakeOrderSchema(schema, schema.orders[i]);
      absl::StatusOr<ScanPlan> by_copy = PlanScan(KeyCodec(copy), selection);
      if (!by_copy.ok() || by_copy->is_full_scan) continue;
      plan = *std::move(by_copy);
      read = std::move(copy);
    }
    if (plan.is_full_scan && query.range == DeclaredQuery::Range::kDuration && !schema.periods.empty()) {
      const PeriodTable& period = schema.periods[0];
      text +=
          fmt::format("  '{}': a table of each {}, {}", query.text, period.every.Name(), period.Pattern());
      plan.is_full_scan = false;
    } else {
      text += fmt::format("  '{}': {} {}", query.text, plan.ranges.size(),
                          plan.ranges.size() == 1 ? "range" : "ranges");
      if (read.table != schema.table) text += fmt::format(" of table {}", read.table);
      if (!plan.ranges.empty() && !plan.is_full_scan) {
        text += fmt::format(", from {}", Printable(plan.ranges[0].start));
      }
      const bool is_by_index = plan.is_full_scan && schema.is_indexed && !query.tags.empty();
      if (is_by_index) {
        text += ", of which the index says the rows of the series that are asked for";
      } else if (plan.is_full_scan) {
        text += ", the whole table";
      }
    }
    if (const auto rows = RowsOf(read, query, plan.is_full_scan)) {
      text += fmt::format(", about {} rows", CountText(*rows));
    }
    text += "\n";
  }
  return text.empty() ? text : "What the queries read:\n" + text;
}

}  // namespace

absl::StatusOr<std::string> ExplainSchema(const SeriesSchema& schema) {
  ExampleTables memory;
  SeriesSchema unstored = schema;
  unstored.text.clear();
  unstored.is_indexed = false;  // it lies beside the tables that are drawn
  if (absl::Status status = EnsureSeriesTables(unstored, &memory); !status.ok()) return status;
  const ManualClock clock(ExampleTimeOf(schema) + kMicrosPerHour);
  PointWriter writer(unstored, &memory, {}, &clock);
  std::vector<std::string> tag_texts;
  for (const Tag& tag : schema.tags) tag_texts.push_back(ExampleTag(tag));
  const std::vector<std::string_view> tags(tag_texts.begin(), tag_texts.end());
  const int64_t step = std::max(schema.interval_micros.value_or(kMicrosPerMinute), schema.resolution_micros);
  const int64_t first_micros = ExampleTimeOf(schema);
  for (int i = 0; i < kExamplePoints; ++i) {
    std::vector<std::string> field_texts;
    for (const Field& field : schema.fields) field_texts.push_back(ExampleField(field, i));
    const std::vector<std::string_view> fields(field_texts.begin(), field_texts.end());
    if (absl::Status status = writer.Add({tags, first_micros + i * step, fields}); !status.ok())
      return status;
  }
  if (absl::Status status = writer.Flush(); !status.ok()) return status;

  const auto draw = [&](const SeriesSchema& table) {
    std::vector<ReadRow> rows;
    RowRead read;
    read.ranges = {RowRange::All()};
    (void)memory.ReadRows(table.table, read, [&](ReadRow&& row) {
      rows.push_back(std::move(row));
      return true;
    });
    return DrawRows(rows, table.TimestampOrigin());
  };
  std::string text =
      fmt::format("series {}, {}\ntable {}, family {}: {}\ntakes {}\n\n{}", schema.name, LayoutText(schema),
                  schema.table, schema.family, RetentionText(schema), TimesText(schema), draw(schema));
  for (const OrderTable& order : schema.orders) {
    text += fmt::format("\ntable {}: the same points by another key\n\n{}", order.table,
                        draw(MakeOrderSchema(schema, order)));
  }
  for (const PeriodTable& period : schema.periods) {
    const std::string table = period.TableAt(first_micros);
    text += fmt::format("\ntable {}: the rows of one {}\n\n{}", table, period.every.Name(),
                        draw(MakePeriodSchema(schema, period, first_micros)));
  }
  for (const RollupTable& rollup : schema.rollups) {
    text += fmt::format("\ntable {}: a row for each series and {}, its aggregates\n\n{}", rollup.table,
                        rollup.every.Name(), draw(MakeRollupSchema(schema, rollup)));
  }
  for (const LatestTable& latest : schema.latest) {
    text += fmt::format("\ntable {}: a row for each series, its newest values\n\n{}", latest.table,
                        draw(MakeLatestSchema(schema, latest)));
  }
  if (schema.layout == Layout::kBlob && schema.blob_format == BlobFormat::kProtobuf) {
    text += "\n" + ProtoText(schema);
  }
  const absl::StatusOr<std::string> queries = QueriesText(schema, tag_texts);
  if (!queries.ok()) return queries.status();
  return text + "\n" + SizesText(schema) + RangesText(schema) + IndexText(schema) + *queries;
}

}  // namespace sonde::series
