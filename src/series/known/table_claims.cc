#include "series/known/table_claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "series/known/complete_tables.h"
#include "series/known/declaration_store.h"
#include "series/known/derived_tables.h"
#include "series/known/known_series.h"
#include "series/known/rollup_marks.h"
#include "series/known/row_match.h"
#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

struct NamedTable {
  std::string name;
  std::optional<PeriodTable> period;  // then it stands for all of its tables
  int line = 0;
};

std::vector<NamedTable> NamedTablesOf(const SeriesSchema& schema) {
  std::vector<NamedTable> all = {{schema.table, {}, schema.key_line}};
  for (const SeriesSchema& version : schema.earlier) all.push_back({version.table, {}, version.key_line});
  for (const LatestTable& latest : schema.latest) all.push_back({latest.table, {}, latest.line});
  for (const OrderTable& order : schema.orders) all.push_back({order.table, {}, order.line});
  for (const RollupTable& rollup : schema.rollups) all.push_back({rollup.table, {}, rollup.line});
  for (const PeriodTable& period : schema.periods) all.push_back({period.Pattern(), period, period.line});
  return all;
}

bool Overlap(const NamedTable& a, const NamedTable& b) {
  if (a.period && b.period) {
    // Formats differ in what they may say, too; names that could be of both are not taken.
    return a.period->prefix == b.period->prefix && a.period->suffix == b.period->suffix;
  }
  if (a.period) return a.period->PeriodOf(b.name).has_value();
  if (b.period) return b.period->PeriodOf(a.name).has_value();
  return a.name == b.name;
}

absl::Status Taken(const SeriesSchema& schema, const NamedTable& table, std::string_view whose) {
  return absl::FailedPreconditionError(fmt::format("{}:{}: table '{}' is {}; declare another table",
                                                   schema.file, table.line, table.name, whose));
}

// Rows of roll-ups come some time after the points.
absl::StatusOr<bool> GetsRows(const std::string& series, const DerivedTable& table, TableAccess* tables) {
  if (table.kind != DerivedTable::Kind::kRollup) return false;
  const absl::Status exists = tables->ListFamilies(table.name).status();
  if (absl::IsNotFound(exists)) return false;  // somebody has dropped it
  if (!exists.ok()) return exists;
  return HasMarks(series, table.name, tables);
}

}  // namespace

absl::Status CheckTablesAreFree(const SeriesSchema& schema, TableAccess* tables) {
  const std::vector<NamedTable> wanted = NamedTablesOf(schema);
  for (const NamedTable& table : wanted) {
    if (table.name == kOpenSeriesTable)
      return Taken(schema, table, "that of all series that nobody declares");
    if (table.name == kDeclarationsTable || table.name == kMarksTable ||
        table.name.starts_with(kCopiedTablePrefix)) {
      return Taken(schema, table, "kept for what is known of series");
    }
  }
  const absl::StatusOr<std::vector<StoredSeries>> all = ListDeclarations(tables);
  if (!all.ok()) return all.status();
  for (const StoredSeries& stored : *all) {
    if (stored.series == schema.name) continue;
    const absl::StatusOr<KnownSeries> other = ParseStored(stored);
    if (!other.ok()) continue;  // this build writes nothing by it
    for (const NamedTable& taken : NamedTablesOf(other->schema)) {
      for (const NamedTable& table : wanted) {
        if (Overlap(table, taken))
          return Taken(schema, table, fmt::format("one of series '{}'", stored.series));
      }
    }
  }
  return absl::OkStatus();
}

absl::Status CheckDerivedRows(const SeriesSchema& schema, TableAccess* tables) {
  const std::vector<DerivedTable> derived = DerivedTablesOf(schema);
  if (derived.empty()) return absl::OkStatus();
  const absl::StatusOr<std::vector<std::string>> history = ListHistory(schema.name, tables);
  if (!history.ok()) return history.status();
  std::map<std::string, DerivedTable> before;  // as it was declared last
  for (const std::string& text : *history) {
    const absl::StatusOr<SeriesSchema> old = ParseSchema(text, schema.file);
    if (!old.ok()) continue;
    for (DerivedTable& table : DerivedTablesOf(*old)) before.emplace(table.name, std::move(table));
    if (std::ranges::all_of(derived, [&](const auto& table) { return before.contains(table.name); })) break;
  }
  for (const DerivedTable& table : derived) {
    const auto then = before.find(table.name);
    const std::string what = then == before.end() ? "" : DifferenceOf(then->second, table);
    if (what.empty()) {
      if (absl::Status status = CheckRows(table.schema, tables); !status.ok()) return status;
      continue;
    }
    const absl::StatusOr<bool> has_rows = HasRows(then->second, tables);
    if (!has_rows.ok()) return has_rows.status();
    const absl::StatusOr<bool> gets_rows = GetsRows(schema.name, then->second, tables);
    if (!gets_rows.ok()) return gets_rows.status();
    if (!*has_rows && !*gets_rows) continue;
    return absl::FailedPreconditionError(fmt::format(
        "{}:{}: table '{}' {} rows of when it was declared otherwise: {}; declare another table, which "
        "'sonde series rebuild' fills, or drop this one first",
        schema.file, table.line, table.name, *has_rows ? "has" : "is about to get", what));
  }
  return absl::OkStatus();
}

}  // namespace sonde::series
