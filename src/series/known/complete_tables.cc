#include "series/known/complete_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "series/known/declaration_store.h"
#include "series/known/indexed_series.h"
#include "series/known/point_scan.h"
#include "series/known/row_match.h"
#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

// Whether a table that was complete for the declaration `noted` is complete for `schema`.
bool IsCompleteFor(const SeriesSchema& schema, const DerivedTable& table, const std::string& noted) {
  if (noted == schema.text) return true;
  const absl::StatusOr<SeriesSchema> before = ParseSchema(noted, schema.file);
  if (!before.ok()) return false;
  const std::vector<DerivedTable> tables = DerivedTablesOf(*before);
  const auto then = std::ranges::find(tables, table.name, &DerivedTable::name);
  return then != tables.end() && HasWhatItShould(*before, *then, schema, table);
}

}  // namespace

absl::StatusOr<bool> HasRows(const DerivedTable& derived, TableAccess* tables) {
  if (derived.period) {
    const absl::StatusOr<std::vector<std::string>> all = tables->ListTables();
    if (!all.ok()) return all.status();
    return std::ranges::any_of(
        *all, [&](const std::string& table) { return derived.period->PeriodOf(table).has_value(); });
  }
  RowRead read;
  read.ranges = {RowRange::All()};
  read.rows_max = 1;
  bool has_rows = false;
  const absl::Status status = tables->ReadRows(derived.name, read, [&](ReadRow&&) {
    has_rows = true;
    return false;
  });
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  return has_rows;
}

absl::Status DropWrongNotes(const SeriesSchema& schema, TableAccess* tables) {
  const absl::StatusOr<std::map<std::string, std::string>> notes =
      ListNotes(schema.name, kCompleteNote, tables);
  if (!notes.ok()) return notes.status();
  if (notes->empty()) return absl::OkStatus();
  const std::vector<DerivedTable> derived = DerivedTablesOf(schema);
  for (const auto& [name, noted] : *notes) {
    const auto table = std::ranges::find(derived, name, &DerivedTable::name);
    if (table != derived.end() && IsCompleteFor(schema, *table, noted)) continue;
    if (absl::Status status = DeleteNote(schema.name, kCompleteNote, name, tables); !status.ok())
      return status;
  }
  return absl::OkStatus();
}

absl::Status KeepCompleteNotes(const SeriesSchema& schema, TableAccess* tables, const Clock& clock) {
  // Others may have stored declarations since.
  if (absl::Status status = DropWrongNotes(schema, tables); !status.ok()) return status;
  const absl::StatusOr<std::map<std::string, std::string>> notes =
      ListNotes(schema.name, kCompleteNote, tables);
  if (!notes.ok()) return notes.status();
  for (const auto& [name, noted] : *notes) {
    if (noted == schema.text) continue;
    const absl::Status status = StoreNote(schema.name, kCompleteNote, name, schema.text, tables, clock);
    if (!status.ok()) return status;
  }
  std::optional<bool> has_points;
  for (const DerivedTable& table : DerivedTablesOf(schema)) {
    if (notes->contains(table.name)) continue;
    if (!has_points) {
      const absl::StatusOr<bool> has_any = HasAnyPoint(schema, tables);
      if (!has_any.ok()) return has_any.status();
      has_points = *has_any;
    }
    if (*has_points) break;
    const absl::StatusOr<bool> has_rows = HasRows(table, tables);
    if (!has_rows.ok()) return has_rows.status();
    if (*has_rows) continue;
    const absl::Status status = StoreNote(schema.name, kCompleteNote, table.name, schema.text, tables, clock);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status NoteComplete(const SeriesSchema& schema, TableAccess* tables, const Clock& clock) {
  // A writer with another declaration may leave these tables out.
  const absl::StatusOr<std::optional<KnownSeries>> stored = FindKnownSeries(schema.name, tables);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value() || (*stored)->yaml != schema.text) return absl::OkStatus();
  for (const DerivedTable& table : DerivedTablesOf(schema)) {
    // Rows of another shape would be errors of the queries that are answered from it.
    if (!CheckRows(table.schema, tables).ok()) continue;
    const absl::Status status = StoreNote(schema.name, kCompleteNote, table.name, schema.text, tables, clock);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::set<std::string>> CompleteTables(const SeriesSchema& schema, TableAccess* tables) {
  const absl::StatusOr<std::map<std::string, std::string>> notes =
      ListNotes(schema.name, kCompleteNote, tables);
  if (!notes.ok()) return notes.status();
  std::set<std::string> complete;
  if (notes->empty()) return complete;
  for (const DerivedTable& table : DerivedTablesOf(schema)) {
    const auto noted = notes->find(table.name);
    if (noted != notes->end() && IsCompleteFor(schema, table, noted->second)) complete.insert(table.name);
  }
  return complete;
}

absl::StatusOr<std::vector<Finding>> FindIncompleteTables(const SeriesSchema& schema, TableAccess* tables) {
  std::vector<Finding> findings;
  absl::StatusOr<std::optional<Finding>> index = FindIndexGap(schema, tables);
  if (!index.ok()) return index.status();
  if (index->has_value()) findings.push_back(**std::move(index));
  const std::vector<DerivedTable> derived = DerivedTablesOf(schema);
  if (derived.empty()) return findings;
  const absl::StatusOr<std::set<std::string>> complete = CompleteTables(schema, tables);
  if (!complete.ok()) return complete.status();
  for (const DerivedTable& table : derived) {
    if (complete->contains(table.name)) continue;
    const bool is_rollup = table.kind == DerivedTable::Kind::kRollup;
    Finding& finding = findings.emplace_back();
    finding.severity = Severity::kWarning;
    finding.line = table.line;
    finding.reason = fmt::format(
        "table '{}' is not complete: what was written before it was declared so, or by a declaration "
        "without it, may be missing{}",
        table.name, is_rollup ? "" : "; the series is not answered from it");
    finding.remedy =
        fmt::format("fill it: sonde series rebuild stored:{} --table '{}'", schema.name, table.name);
  }
  return findings;
}

}  // namespace sonde::series
