#include "series/known/derived_tables.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <limits>
#include <string_view>
#include <utility>

#include "series/known/row_match.h"

namespace sonde::series {
namespace {

using Kind = DerivedTable::Kind;

std::string_view KindName(Kind kind) {
  constexpr std::string_view kNames[] = {"a table of newest values", "an order", "tables of periods",
                                         "a roll-up"};
  return kNames[static_cast<size_t>(kind)];
}

int64_t AgeOf(std::optional<int64_t> max_age_micros) {
  return max_age_micros.value_or(std::numeric_limits<int64_t>::max());
}

int64_t AgeOf(const DerivedTable& table, const std::string& family) {
  return AgeOf(table.period ? table.period->max_age_micros : table.schema.RetentionOf(family).max_age_micros);
}

// Whether the copy has forgotten what it should have by now, and what the series' own table may still have.
bool LacksForgotten(const SeriesSchema& schema_before, const DerivedTable& before, const SeriesSchema& schema,
                    const DerivedTable& now) {
  return std::ranges::any_of(schema.Families(), [&](const std::string& family) {
    const int64_t age = AgeOf(before, family);
    const int64_t own_age = AgeOf(schema_before.RetentionOf(family).max_age_micros);
    const int64_t longer_micros = own_age == AgeOf(std::nullopt) ? 0 : schema_before.kept_longer_micros;
    if (age < AgeOf(now, family) && age < own_age + longer_micros) return true;
    // Where points are versions of a cell, which of them are forgotten goes by the rows that they are in.
    if (before.schema.IsRowPerPoint() || before.schema.layout == Layout::kOffsets) return false;
    const std::optional<int32_t> versions = before.schema.RetentionOf(family).max_versions;
    return versions && versions != now.schema.RetentionOf(family).max_versions;
  });
}

// Fields that the series did not have have no points; those that were texts had no aggregates.
bool HasAggregates(const SeriesSchema& schema_before, const DerivedTable& before, const SeriesSchema& schema,
                   const DerivedTable& now) {
  return std::ranges::all_of(schema.fields, [&](const Field& field) {
    if (field.type == FieldType::kString || !schema_before.FindField(field.name)) return true;
    return std::ranges::all_of(now.aggregates, [&](RollupAggregate aggregate) {
      return before.schema.FindField(fmt::format("{}_{}", field.name, RollupAggregateName(aggregate)))
          .has_value();
    });
  });
}

}  // namespace

std::vector<DerivedTable> DerivedTablesOf(const SeriesSchema& schema) {
  std::vector<DerivedTable> tables;
  const auto add = [&](Kind kind, std::string name, SeriesSchema rows, int line) -> DerivedTable& {
    DerivedTable& table = tables.emplace_back();
    table.kind = kind;
    table.name = std::move(name);
    table.schema = std::move(rows);
    table.line = line;
    return table;
  };
  for (const LatestTable& latest : schema.latest)
    add(Kind::kLatest, latest.table, MakeLatestSchema(schema, latest), latest.line);
  for (const OrderTable& order : schema.orders)
    add(Kind::kOrder, order.table, MakeOrderSchema(schema, order), order.line);
  for (const PeriodTable& period : schema.periods) {
    DerivedTable& table =
        add(Kind::kPeriod, period.Pattern(), MakePeriodSchema(schema, period, 0), period.line);
    table.every = period.every;
    table.period = period;
  }
  for (const RollupTable& rollup : schema.rollups) {
    DerivedTable& table = add(Kind::kRollup, rollup.table, MakeRollupSchema(schema, rollup), rollup.line);
    table.every = rollup.every;
    table.aggregates = rollup.aggregates;
  }
  return tables;
}

std::string DifferenceOf(const DerivedTable& before, const DerivedTable& now) {
  if (before.kind != now.kind) return fmt::format("it was {}", KindName(before.kind));
  if (before.every != now.every) return fmt::format("it had pieces of one {}", before.every->Name());
  // Each period has the rows of the series' own table.
  const std::string what = HowRowsDiffer(before.schema, now.schema).what;
  return what.empty() ? "" : fmt::format("{} is another", what);
}

bool HasWhatItShould(const SeriesSchema& schema_before, const DerivedTable& before,
                     const SeriesSchema& schema, const DerivedTable& now) {
  if (!DifferenceOf(before, now).empty()) return false;
  switch (now.kind) {
    case Kind::kLatest:
      return true;
    case Kind::kRollup:
      return HasAggregates(schema_before, before, schema, now);
    case Kind::kOrder:
    case Kind::kPeriod:
      break;
  }
  return !LacksForgotten(schema_before, before, schema, now);
}

}  // namespace sonde::series
