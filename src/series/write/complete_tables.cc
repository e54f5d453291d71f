#include "series/write/complete_tables.h"

#include <algorithm>
#include <map>
#include <optional>
#include <vector>

#include "series/schema/schema_parser.h"
#include "series/write/declaration_store.h"
#include "series/write/point_scan.h"

namespace sonde::series {
namespace {

// Those that may be complete, by the names of their notes.
std::map<std::string, SeriesSchema> CopiesOf(const SeriesSchema& schema) {
  std::map<std::string, SeriesSchema> copies;
  for (const OrderTable& order : schema.orders) copies.emplace(order.table, MakeOrderSchema(schema, order));
  for (const PeriodTable& period : schema.periods) {
    copies.emplace(period.Pattern(), MakePeriodSchema(schema, period, 0));
  }
  return copies;
}

// Whether a table that was complete for the declaration `noted` is, with rows of the same shape, in `schema`.
bool IsCompleteFor(const SeriesSchema& schema, const std::string& table, const std::string& noted) {
  const std::map<std::string, SeriesSchema> now = CopiesOf(schema);
  const auto copy = now.find(table);
  if (copy == now.end()) return false;
  if (noted == schema.text) return true;
  const absl::StatusOr<SeriesSchema> before = ParseSchema(noted, schema.file);
  if (!before.ok()) return false;
  const std::map<std::string, SeriesSchema> then = CopiesOf(*before);
  const auto old_copy = then.find(table);
  if (old_copy == then.end()) return false;
  const bool has_same_periods = copy->second.table == old_copy->second.table;  // of the same time
  return has_same_periods && HasSameShape(old_copy->second, copy->second);
}

absl::StatusOr<bool> HasAnyPoint(const SeriesSchema& schema, TableAccess* tables) {
  bool has_any = false;
  for (const VersionSpan& span : schema.VersionsIn(kTimeBeginMicros, kTimeEndMicros)) {
    SeriesSchema alone = *span.schema;
    alone.earlier.clear();
    const absl::Status status =
        ScanPoints(alone, {}, tables, [&](const DecodedKey&, const RowPoint&) -> absl::StatusOr<bool> {
          has_any = true;
          return false;
        });
    if (!status.ok() && !absl::IsNotFound(status)) return status;
    if (has_any) break;
  }
  return has_any;
}

// Of a period, whether it has a table.
absl::StatusOr<bool> HasRows(const SeriesSchema& schema, const std::string& name, const SeriesSchema& copy,
                             TableAccess* tables) {
  for (const PeriodTable& period : schema.periods) {
    if (period.Pattern() != name) continue;
    const absl::StatusOr<std::vector<std::string>> all = tables->ListTables();
    if (!all.ok()) return all.status();
    return std::any_of(all->begin(), all->end(),
                       [&](const std::string& table) { return period.PeriodOf(table).has_value(); });
  }
  RowRead read;
  read.ranges = {RowRange::All()};
  read.rows_max = 1;
  bool has_rows = false;
  const absl::Status status = tables->ReadRows(copy.table, read, [&](ReadRow&&) {
    has_rows = true;
    return false;
  });
  if (!status.ok() && !absl::IsNotFound(status)) return status;
  return has_rows;
}

}  // namespace

absl::Status KeepCompleteNotes(const SeriesSchema& schema, TableAccess* tables, const Clock& clock) {
  const absl::StatusOr<std::map<std::string, std::string>> notes =
      ListNotes(schema.name, kCompleteNote, tables);
  if (!notes.ok()) return notes.status();
  for (const auto& [table, noted] : *notes) {
    if (noted == schema.text) continue;
    const absl::Status status = IsCompleteFor(schema, table, noted)
                                    ? StoreNote(schema.name, kCompleteNote, table, schema.text, tables, clock)
                                    : DeleteNote(schema.name, kCompleteNote, table, tables);
    if (!status.ok()) return status;
  }
  std::optional<bool> has_points;
  for (const auto& [name, copy] : CopiesOf(schema)) {
    if (notes->contains(name)) continue;
    if (!has_points) {
      const absl::StatusOr<bool> has_any = HasAnyPoint(schema, tables);
      if (!has_any.ok()) return has_any.status();
      has_points = *has_any;
    }
    if (*has_points) break;
    const absl::StatusOr<bool> has_rows = HasRows(schema, name, copy, tables);
    if (!has_rows.ok()) return has_rows.status();
    if (*has_rows) continue;
    const absl::Status status = StoreNote(schema.name, kCompleteNote, name, schema.text, tables, clock);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status NoteComplete(const SeriesSchema& schema, TableAccess* tables, const Clock& clock) {
  // Who writes by another declaration may leave these tables out.
  const absl::StatusOr<std::optional<KnownSeries>> stored = FindKnownSeries(schema.name, tables);
  if (!stored.ok()) return stored.status();
  if (!stored->has_value() || (*stored)->yaml != schema.text) return absl::OkStatus();
  for (const auto& [name, copy] : CopiesOf(schema)) {
    // Rows of another shape would be errors of the queries that are answered from it.
    if (!CheckRows(copy, tables).ok()) continue;
    const absl::Status status = StoreNote(schema.name, kCompleteNote, name, schema.text, tables, clock);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::StatusOr<std::set<std::string>> CompleteTables(const SeriesSchema& schema, TableAccess* tables) {
  const absl::StatusOr<std::map<std::string, std::string>> notes =
      ListNotes(schema.name, kCompleteNote, tables);
  if (!notes.ok()) return notes.status();
  std::set<std::string> complete;
  for (const auto& [table, noted] : *notes) {
    if (IsCompleteFor(schema, table, noted)) complete.insert(table);
  }
  return complete;
}

}  // namespace sonde::series
