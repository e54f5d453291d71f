#include "series/known/declaration_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "base/bytes.h"
#include "model/limits.h"
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

}  // namespace

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

absl::StatusOr<std::optional<StoredSeries>> FindStoredSeries(std::string_view series, TableAccess* tables) {
  absl::StatusOr<std::vector<StoredSeries>> found =
      ReadStored(RowRange::Single(series), {kTextColumn, kOpenColumn}, tables);
  if (!found.ok()) return found.status();
  if (found->empty()) return std::optional<StoredSeries>();
  return std::optional<StoredSeries>(std::move((*found)[0]));
}

absl::StatusOr<std::optional<KnownSeries>> FindKnownSeries(std::string_view series, TableAccess* tables) {
  const absl::StatusOr<std::optional<StoredSeries>> stored = FindStoredSeries(series, tables);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value()) return std::optional<KnownSeries>();
  absl::StatusOr<KnownSeries> known = ParseStored(**stored);
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
