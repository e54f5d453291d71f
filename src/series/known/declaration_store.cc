#include "series/known/declaration_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>

#include "base/bytes.h"
#include "model/limits.h"
#include "series/key/field_codec.h"
#include "series/key/key_codec.h"
#include "series/known/point_scan.h"
#include "series/known/table_claims.h"
#include "series/schema/schema_parser.h"
#include "series/schema/status_text.h"
#include "series/schema/time_range.h"

namespace sonde::series {
namespace {

constexpr char kFamily[] = "d";
constexpr char kTextColumn[] = "yaml";
constexpr char kTablesColumn[] = "tables";
constexpr char kOpenColumn[] = "open";

std::vector<std::string> SplitLines(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string TablesOf(const SeriesSchema& schema) {
  std::string tables = schema.table;
  const auto add = [&](const std::string& table) { tables += "\n" + table; };
  for (const SeriesSchema& version : schema.earlier) add(version.table);
  for (const LatestTable& latest : schema.latest) add(latest.table);
  for (const OrderTable& order : schema.orders) add(order.table);
  for (const RollupTable& rollup : schema.rollups) add(rollup.table);
  for (const PeriodTable& period : schema.periods) {
    add(period.Pattern());
  }
  return tables;
}

// Those of the rows in `range`; of columns, those of `columns`, or all.
absl::StatusOr<std::vector<StoredSeries>> ReadStored(RowRange range, const std::vector<const char*>& columns,
                                                     TableAccess* tables) {
  std::vector<StoredSeries> all;
  RowRead read;
  read.ranges = {std::move(range)};
  read.cells_per_column_max = 1;
  for (const char* column : columns) read.columns.push_back({kFamily, column});
  const absl::Status status = tables->ReadRows(kDeclarationsTable, read, [&](ReadRow&& row) {
    StoredSeries& stored = all.emplace_back();
    stored.series = std::move(row.row_key);
    for (ReadCell& cell : row.cells) {
      if (cell.qualifier == kTablesColumn) stored.tables = SplitLines(cell.value);
      if (cell.qualifier == kOpenColumn) stored.open_record = std::move(cell.value);
      if (cell.qualifier != kTextColumn) continue;
      stored.text = std::move(cell.value);
      stored.stored_micros = cell.timestamp_micros;
    }
    if (stored.text.empty() && stored.open_record.empty()) all.pop_back();
    return true;
  });
  if (absl::IsNotFound(status)) return std::vector<StoredSeries>();  // nothing was ever stored
  if (!status.ok()) return status;
  return all;
}

absl::Status WriteOne(const RowWrite& row, TableAccess* tables) {
  const absl::StatusOr<std::vector<absl::Status>> statuses = tables->MutateRows(kDeclarationsTable, {row});
  if (!statuses.ok()) return statuses.status();
  return statuses->empty() ? absl::OkStatus() : statuses->front();
}

// What two schemas say differently of how a row is written, and in which line `b` says it.
struct Difference {
  std::string what;  // empty: nothing
  int line = 0;
};

Difference ShapeDifference(const SeriesSchema& a, const SeriesSchema& b) {
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
    return Difference{fmt::format("the {} of field '{}'", what, field.name), field.line};
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

// Points that have any of `fields`; none: any points.
absl::StatusOr<bool> HasPoints(const SeriesSchema& schema, int64_t from_micros, int64_t to_micros,
                               TableAccess* tables, std::vector<size_t> fields = {}) {
  if (from_micros >= to_micros) return false;
  SeriesSchema alone = schema;
  alone.earlier.clear();
  bool has_any = false;
  Selection selection;
  selection.from_micros = from_micros;
  selection.to_micros = to_micros;
  selection.fields = std::move(fields);
  const absl::Status status =
      ScanPoints(alone, selection, tables, [&](const DecodedKey&, const RowPoint&) -> absl::StatusOr<bool> {
        has_any = true;
        return false;
      });
  if (absl::IsNotFound(status)) return false;  // no such table
  if (!status.ok()) return status;
  return has_any;
}

absl::Status Unreadable(const SeriesSchema& schema, std::string_view what, std::string_view remedy,
                        int line = 0) {
  const std::string place = line > 0 ? fmt::format("{}:{}", schema.file, line) : schema.file;
  return absl::FailedPreconditionError(fmt::format("{}: {}; {}", place, what, remedy));
}

// Whether `now` reads the values of those fields whose type was another in `stored`.
absl::Status CheckTypes(const SeriesSchema& schema, const VersionSpan& stored, const SeriesSchema& now,
                        TableAccess* tables) {
  SeriesSchema alone = now;
  alone.earlier.clear();
  Selection selection;
  selection.from_micros = stored.from_micros;
  selection.to_micros = stored.to_micros;
  for (size_t i = 0; i < alone.fields.size(); ++i) {
    const std::optional<size_t> before = stored.schema->FindField(alone.fields[i].name);
    if (before && stored.schema->fields[*before].type != alone.fields[i].type) selection.fields.push_back(i);
  }
  if (selection.fields.empty()) return absl::OkStatus();
  const absl::Status status = ScanPoints(
      alone, selection, tables, [&](const DecodedKey&, const RowPoint& point) -> absl::StatusOr<bool> {
        for (size_t i = 0; i < selection.fields.size(); ++i) {
          if (point.values[i].data() == nullptr) continue;
          const Field& field = alone.fields[selection.fields[i]];
          if (field.type == FieldType::kString || DecodeNumber(field, point.values[i])) continue;
          return NoNumber(field, point.values[i]);
        }
        return true;
      });
  if (!absl::IsDataLoss(status) && !absl::IsOutOfRange(status))
    return absl::IsNotFound(status) ? absl::OkStatus() : status;
  return Unreadable(
      schema,
      fmt::format("values in table '{}' could not be read any more: {}", now.table, TextOfStatus(status)),
      fmt::format("leave the type as it is stored (sonde series show {})", schema.name),
      alone.fields[selection.fields[0]].line);
}

absl::Status CheckVersion(const SeriesSchema& schema, const VersionSpan& stored,
                          const std::vector<VersionSpan>& now, TableAccess* tables) {
  const auto same = std::find_if(now.begin(), now.end(), [&](const VersionSpan& span) {
    return span.schema->table == stored.schema->table;
  });
  const std::string& table = stored.schema->table;
  const auto has_points = [&](int64_t from_micros, int64_t to_micros) {
    return HasPoints(*stored.schema, from_micros, to_micros, tables);
  };
  const absl::StatusOr<bool> has_any = has_points(stored.from_micros, stored.to_micros);
  if (!has_any.ok()) return has_any.status();
  if (!*has_any) return absl::OkStatus();
  if (same == now.end()) {
    const absl::StatusOr<std::string> copied = FindNote(schema.name, kCopiedNote, table, tables);
    if (!copied.ok()) return copied.status();
    if (!copied->empty()) return absl::OkStatus();
    return Unreadable(
        schema, fmt::format("points that are in table '{}' could not be read any more", table),
        "name it under 'versions', with the time until which it holds them and how its rows are");
  }
  if (const Difference found = ShapeDifference(*stored.schema, *same->schema); !found.what.empty()) {
    return Unreadable(
        schema,
        fmt::format("{} is not the one that the points in table '{}' were written with", found.what, table),
        "declare what was under 'versions', and another table for what is to come", found.line);
  }
  for (size_t i = 0; i < stored.schema->fields.size(); ++i) {
    const std::string& field = stored.schema->fields[i].name;
    if (same->schema->FindField(field)) continue;
    const absl::StatusOr<bool> has_values =
        HasPoints(*stored.schema, stored.from_micros, stored.to_micros, tables, {i});
    if (!has_values.ok()) return has_values.status();
    if (*has_values) {
      return Unreadable(
          schema,
          fmt::format("values of field '{}' that are in table '{}' could not be read any more", field, table),
          "leave the field declared: points need not have it");
    }
  }
  if (absl::Status status = CheckTypes(schema, stored, *same->schema, tables); !status.ok()) return status;
  for (const auto& [from, to] :
       {std::pair(stored.from_micros, std::min(stored.to_micros, same->from_micros)),
        std::pair(std::max(stored.from_micros, same->to_micros), stored.to_micros)}) {
    const absl::StatusOr<bool> has_lost = has_points(from, to);
    if (!has_lost.ok()) return has_lost.status();
    if (*has_lost) {
      return Unreadable(
          schema,
          fmt::format("table '{}' has points of {} to {}, which this declaration looks for elsewhere", table,
                      TimeText(from), to >= kTimeEndMicros ? "now" : TimeText(to)),
          fmt::format(
              "leave each 'until' as it is stored (sonde series show {}); where points lie can only be "
              "changed by a new version",
              schema.name));
    }
  }
  return absl::OkStatus();
}

}  // namespace

std::string HowRowsDiffer(const SeriesSchema& a, const SeriesSchema& b) { return ShapeDifference(a, b).what; }

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

absl::Status EnsureDeclarationsTable(TableAccess* tables) {
  return tables->EnsureTable(kDeclarationsTable, {{kFamily, GcRule{GcRule::MaxVersions{kDeclarationsKept}}}});
}

absl::StatusOr<std::vector<StoredSeries>> ListStored(TableAccess* tables) {
  return ReadStored(RowRange::All(), {kTextColumn, kTablesColumn, kOpenColumn}, tables);
}

absl::StatusOr<std::vector<StoredSeries>> ListDeclarations(TableAccess* tables) {
  return ReadStored(RowRange::All(), {kTextColumn, kTablesColumn}, tables);
}

absl::StatusOr<KnownSeries> ParseStored(const StoredSeries& stored) {
  // Where both are there, its points are those of the open series.
  if (!stored.open_record.empty()) return ParseOpenRecord(stored.series, stored.open_record);
  absl::StatusOr<SeriesSchema> schema =
      ParseSchema(stored.text, fmt::format("{}:{}", kDeclarationsTable, stored.series));
  if (!schema.ok()) return absl::DataLossError(std::string(TextOfStatus(schema.status())));
  return KnownSeries{*std::move(schema), stored.text, {}};
}

absl::StatusOr<std::optional<KnownSeries>> FindKnownSeries(std::string_view series, TableAccess* tables) {
  const absl::StatusOr<std::vector<StoredSeries>> found =
      ReadStored(RowRange::Single(series), {kTextColumn, kOpenColumn}, tables);
  if (!found.ok()) return found.status();
  if (found->empty()) return std::optional<KnownSeries>();
  absl::StatusOr<KnownSeries> known = ParseStored((*found)[0]);
  if (!known.ok()) return known.status();
  return std::optional<KnownSeries>(*std::move(known));
}

absl::Status StoreOpenSeries(const KnownSeries& series, TableAccess* tables) {
  RowWrite row;
  row.row_key = series.schema.name;
  row.cells = {{kFamily, kOpenColumn, 0, OpenRecord(series)}};  // one cell takes the place of the other
  return WriteOne(row, tables);
}

absl::Status NotDeclared(std::string_view series) {
  return absl::FailedPreconditionError(fmt::format(
      "series '{}' was not declared, its points have come by line protocol or Prometheus: it can only be "
      "queried",
      Printable(series)));
}

absl::StatusOr<SeriesSchema> FindDeclaration(std::string_view series, TableAccess* tables) {
  absl::StatusOr<std::optional<KnownSeries>> known = FindKnownSeries(series, tables);
  if (!known.ok()) return known.status();
  if (known->has_value() && !(*known)->is_open()) return (*std::move(known))->schema;
  if (known->has_value()) return NotDeclared(series);
  const absl::StatusOr<std::vector<StoredSeries>> all = ListDeclarations(tables);
  if (!all.ok()) return all.status();
  std::vector<std::string> names;
  for (const StoredSeries& stored : *all) names.push_back(stored.series);
  return absl::NotFoundError(fmt::format("no declaration of series '{}' is stored; there are: {}",
                                         Printable(series),
                                         names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "))));
}

absl::StatusOr<std::vector<std::string>> ListHistory(const std::string& series, TableAccess* tables) {
  std::vector<std::string> texts;
  RowRead read;
  read.ranges = {RowRange::Single(series)};
  read.columns = {{kFamily, kTextColumn}};
  const absl::Status status = tables->ReadRows(kDeclarationsTable, read, [&](ReadRow&& row) {
    for (ReadCell& cell : row.cells) texts.push_back(std::move(cell.value));
    return true;
  });
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  return texts;
}

absl::Status StoreDeclaration(const SeriesSchema& schema, TableAccess* tables, const Clock& clock) {
  const absl::StatusOr<std::vector<StoredSeries>> found =
      ReadStored(RowRange::Single(schema.name), {kTextColumn}, tables);
  if (!found.ok()) return found.status();
  if (!found->empty() && (*found)[0].text == schema.text) return absl::OkStatus();
  if (absl::Status made = EnsureDeclarationsTable(tables); !made.ok()) return made;
  // Behind the one before, though the clock may have been set back.
  const int64_t before_micros = found->empty() ? 0 : (*found)[0].stored_micros + kMicrosPerMilli;
  const int64_t now_micros = std::max(WholeMillis(clock.NowMicros()), before_micros);
  RowWrite row;
  row.row_key = schema.name;
  row.cells = {{kFamily, kTablesColumn, now_micros, TablesOf(schema)},
               {kFamily, kTextColumn, now_micros, schema.text}};
  return WriteOne(row, tables);
}

absl::Status CheckAgainstStored(const SeriesSchema& schema, TableAccess* tables) {
  const std::vector<VersionSpan> now = schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros);
  const absl::StatusOr<std::optional<KnownSeries>> stored = FindKnownSeries(schema.name, tables);
  if (!stored.ok()) return stored.status();
  if (stored->has_value()) {
    if ((*stored)->is_open()) {
      return absl::FailedPreconditionError(fmt::format(
          "{}: series '{}' has come undeclared before, and its points are in table '{}'; declare it "
          "under another name",
          schema.file, schema.name, kOpenSeriesTable));
    }
    if ((*stored)->yaml == schema.text) return absl::OkStatus();
    for (const VersionSpan& span : (*stored)->schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
      if (absl::Status status = CheckVersion(schema, span, now, tables); !status.ok()) return status;
    }
  }
  if (absl::Status status = CheckTablesAreFree(schema, tables); !status.ok()) return status;
  for (const VersionSpan& span : now) {
    if (absl::Status status = CheckRows(*span.schema, tables); !status.ok()) return status;
  }
  return CheckDerivedRows(schema, tables);
}

absl::Status StoreNote(const std::string& series, std::string_view kind, const std::string& table,
                       const std::string& text, TableAccess* tables, const Clock& clock) {
  RowWrite row;
  row.row_key = series;
  const std::string column = fmt::format("{}:{}", kind, table);
  row.delete_columns = {{kFamily, column}};  // which may be of a later time, if the clock was set back
  row.cells = {{kFamily, column, WholeMillis(clock.NowMicros()), text}};
  return WriteOne(row, tables);
}

absl::StatusOr<std::string> FindNote(const std::string& series, std::string_view kind,
                                     const std::string& table, TableAccess* tables) {
  absl::StatusOr<std::map<std::string, std::string>> notes = ListNotes(series, kind, tables);
  if (!notes.ok()) return notes.status();
  return (*notes)[table];
}

absl::StatusOr<std::map<std::string, std::string>> ListNotes(const std::string& series, std::string_view kind,
                                                             TableAccess* tables) {
  std::map<std::string, std::string> notes;
  RowRead read;
  read.ranges = {RowRange::Single(series)};
  read.cells_per_column_max = 1;
  const std::string prefix = fmt::format("{}:", kind);
  const absl::Status status = tables->ReadRows(kDeclarationsTable, read, [&](ReadRow&& row) {
    for (const ReadCell& cell : row.cells) {
      if (cell.qualifier.starts_with(prefix)) notes[cell.qualifier.substr(prefix.size())] = cell.value;
    }
    return true;
  });
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  return notes;
}

absl::Status DeleteNote(const std::string& series, std::string_view kind, const std::string& table,
                        TableAccess* tables) {
  RowWrite row;
  row.row_key = series;
  row.delete_columns.emplace_back(kFamily, fmt::format("{}:{}", kind, table));
  return WriteOne(row, tables);
}

absl::Status DeleteNotes(const std::string& series, const std::string& table, TableAccess* tables) {
  RowWrite row;
  row.row_key = series;
  for (const char* kind : {kCopiedToNote, kCopiedNote}) {
    row.delete_columns.emplace_back(kFamily, fmt::format("{}:{}", kind, table));
  }
  return WriteOne(row, tables);
}

}  // namespace sonde::series
