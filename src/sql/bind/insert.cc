// INSERT INTO series.NAME: the rows of VALUES, or of a query, as points of a declared series.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "sql/bind/query_binder.h"
#include "sql/function/coercion.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

// More rows come by a query, or by another door.
constexpr size_t kInsertRowsMax = 1'000;

// How many letters differ, are too many, or are missing.
size_t DistanceOf(std::string_view a, std::string_view b) {
  std::vector<size_t> costs(b.size() + 1);
  std::iota(costs.begin(), costs.end(), size_t{0});
  for (size_t i = 0; i < a.size(); ++i) {
    size_t diagonal = std::exchange(costs[0], i + 1);
    for (size_t j = 0; j < b.size(); ++j) {
      const bool is_same = absl::ascii_tolower(a[i]) == absl::ascii_tolower(b[j]);
      const size_t best = std::min({diagonal + (is_same ? 0 : 1), costs[j] + 1, costs[j + 1] + 1});
      diagonal = std::exchange(costs[j + 1], best);
    }
  }
  return costs.back();
}

// "; Did you mean host?", or nothing: no name is near.
std::string NearestText(std::string_view name, const std::vector<NamedColumn>& columns) {
  constexpr size_t kNameBytesMax = 128;
  const size_t distance_max = std::min<size_t>(2, name.size() / 2);
  if (name.size() > kNameBytesMax) return "";
  const NamedColumn* nearest = nullptr;
  size_t least = distance_max + 1;
  for (const NamedColumn& column : columns) {
    if (column.name.size() > kNameBytesMax) continue;
    const size_t distance = DistanceOf(name, column.name);
    if (distance < least) nearest = &column;
    least = std::min(least, distance);
  }
  return nearest == nullptr ? "" : fmt::format("; Did you mean {}?", nearest->name);
}

std::string WrongCount(size_t has, size_t expected) {
  return fmt::format("Inserted row has wrong column count; Has {}, expected {}", has, expected);
}

bool IsOfPart(const SeriesColumn& column, SeriesColumn::Kind kind) { return column.kind == kind; }

}  // namespace

absl::StatusOr<InsertTarget> QueryBinder::BindInsertTarget(const InsertInto& insert,
                                                           std::vector<NamedColumn>* columns) {
  if (insert.into.parts.size() != 2) {
    return Error(insert.into.position, "INSERT writes to series.NAME, a name of two parts");
  }
  const std::string& name = insert.into.parts[1];
  absl::StatusOr<FoundSeries> series = options_.find_series_to_write(name);
  if (absl::IsNotFound(series.status())) {
    return ErrorAt(text_, insert.into.position,
                   absl::NotFoundError(fmt::format("Series not found: {}", name)));
  }
  if (!series.ok()) return series.status();
  if (series->known->is_open()) {
    return ErrorAt(
        text_, insert.into.position,
        absl::UnimplementedError(fmt::format(
            "INSERT into {} is not built, as nobody declared it: its points come in by line protocol "
            "or Prometheus remote write",
            name)));
  }
  Plan::SeriesScan scan;
  NameList all;
  AddColumnsOfSeries(*series->known, &scan, &all);
  InsertTarget target{.series = *std::move(series), .columns = {}};
  std::vector<bool> are_named(all.columns.size(), insert.columns.empty());
  for (const InsertInto::Column& column : insert.columns) {
    const auto has_name = [&](const NamedColumn& other) { return SameName(other.name, column.name); };
    const auto found = std::ranges::find_if(all.columns, has_name);
    if (std::ranges::count_if(all.columns, has_name) > 1) {
      return Error(column.position, fmt::format("Column name {} is ambiguous", column.name));
    }
    if (found == all.columns.end()) {
      return Error(column.position, fmt::format("Column {} is not present in series {}{}", column.name, name,
                                                NearestText(column.name, all.columns)));
    }
    if (are_named[found->index]) {
      return Error(column.position, fmt::format("INSERT has columns with duplicate name: {}", column.name));
    }
    are_named[found->index] = true;
    columns->push_back(*found);
    target.columns.push_back(scan.columns[found->index]);
  }
  if (insert.columns.empty()) {
    *columns = all.columns;
    target.columns = scan.columns;
  }
  for (const NamedColumn& column : all.columns) {
    const SeriesColumn& part = scan.columns[column.index];
    if (are_named[column.index] || IsOfPart(part, SeriesColumn::Kind::kField)) continue;
    return Error(insert.into.position,
                 fmt::format("A point of series {} needs {} {}, which INSERT does not name", name,
                             IsOfPart(part, SeriesColumn::Kind::kTime) ? "its" : "the tag", column.name));
  }
  const auto is_field = [](const SeriesColumn& column) {
    return IsOfPart(column, SeriesColumn::Kind::kField);
  };
  if (std::ranges::none_of(target.columns, is_field)) {
    return Error(insert.into.position,
                 fmt::format("A point of series {} needs a field, and INSERT names none", name));
  }
  return target;
}

absl::StatusOr<PlanPtr> QueryBinder::BindInsertValues(const InsertInto& insert,
                                                      const std::vector<NamedColumn>& columns) {
  if (insert.rows.size() > kInsertRowsMax) {
    return Error(
        insert.rows[kInsertRowsMax].position,
        fmt::format("INSERT has {} rows of VALUES; at most {} are allowed, and a query may give more",
                    insert.rows.size(), kInsertRowsMax));
  }
  const NameList none;
  const Scope scope{&none, nullptr, true};
  const Site site{.scope = &scope, .clause = "INSERT VALUES"};
  std::vector<PlanPtr> rows;
  for (const InsertInto::Row& row : insert.rows) {
    if (row.values.size() != columns.size()) {
      return Error(row.position, WrongCount(row.values.size(), columns.size()));
    }
    std::vector<ExpressionPtr> values;
    for (size_t i = 0; i < columns.size(); ++i) {
      const Expr& expr = *row.values[i];
      SONDE_TRY_SET(ExpressionPtr value, BindExpression(expr, site));
      const ArgumentFacts facts = FactsOf(*value);
      if (!CoercionCost(facts, columns[i].type).has_value()) {
        return Error(
            expr.position,
            fmt::format("Value has type {} which cannot be inserted into column {}, which has type {}",
                        ShownType(facts), columns[i].name, columns[i].type.ToString()));
      }
      SONDE_TRY_SET(value, Coerce(std::move(value), columns[i].type, expr.position));
      values.push_back(std::move(value));
    }
    rows.push_back(MakeProject(MakeSingleRow(), std::move(values)));
  }
  if (rows.size() == 1) return std::move(rows[0]);
  auto all = std::make_unique<Plan>();
  all->kind = Plan::Kind::kUnion;
  all->types = rows[0]->types;
  all->inputs = std::move(rows);
  return PlanPtr(std::move(all));
}

absl::StatusOr<PlanPtr> QueryBinder::BindInsertQuery(const Query& query,
                                                     const std::vector<NamedColumn>& columns) {
  SONDE_TRY_SET(Relation relation, BindQuery(query, nullptr));
  relation = Compact(std::move(relation));
  const Plan& plan = *relation.plan;
  if (plan.types.size() != columns.size()) {
    return Error(query.position, WrongCount(plan.types.size(), columns.size()));
  }
  std::vector<ExpressionPtr> values;
  for (size_t i = 0; i < columns.size(); ++i) {
    ArgumentFacts facts;
    facts.type = plan.types[i];
    if (plan.kind == Plan::Kind::kProject) facts = FactsOf(*plan.expressions[i]);
    if (!CoercionCost(facts, columns[i].type).has_value()) {
      return Error(query.position,
                   fmt::format("Query column {} has type {} which cannot be inserted into "
                               "column {}, which has type {}",
                               i + 1, ShownType(facts), columns[i].name, columns[i].type.ToString()));
    }
    if (facts.is_untyped_null) {
      values.push_back(MakeLiteral(Value::Null(columns[i].type)));
      continue;
    }
    SONDE_TRY_SET(ExpressionPtr value, Coerce(MakeColumn(i, plan.types[i]), columns[i].type, query.position));
    values.push_back(std::move(value));
  }
  return MakeProject(std::move(relation.plan), std::move(values));
}

// A scan that goes on while rows come behind it may never end.
absl::Status QueryBinder::CheckSource(const InsertInto& insert, const FoundSeries& series) const {
  const auto is_written = [&](const std::string& table) {
    return std::ranges::find(series.tables, table) != series.tables.end();
  };
  const auto is_table_written = [&](const TableSchemaRef& table) { return is_written(table->name); };
  bool reads_it = std::ranges::any_of(tables_, is_table_written) ||
                  std::ranges::any_of(tables_in_views_, is_table_written);
  for (const FoundSeries& other : series_) reads_it |= std::ranges::any_of(other.tables, is_written);
  if (!reads_it) return absl::OkStatus();
  return ErrorAt(
      text_, insert.into.position,
      absl::UnimplementedError(fmt::format(
          "INSERT into series {} from what the series itself has is not built: the points that it writes "
          "would be read again",
          series.known->schema.name)));
}

absl::StatusOr<Relation> QueryBinder::BindInsert(const Statement& statement,
                                                 std::optional<InsertTarget>* target) {
  const InsertInto& insert = *statement.insert;
  if (options_.dialect == Dialect::kProduction || options_.find_series_to_write == nullptr) {
    return Error(insert.position, "Statement not supported: InsertStatement");
  }
  if (statement.explain == Statement::Explain::kAnalyze) {
    return Error(insert.position, "EXPLAIN ANALYZE of an INSERT would write; EXPLAIN does not");
  }
  std::vector<NamedColumn> columns;
  SONDE_TRY_SET(*target, BindInsertTarget(insert, &columns));
  Relation relation;
  SONDE_TRY_SET(relation.plan, insert.rows.empty() ? BindInsertQuery(*statement.query, columns)
                                                   : BindInsertValues(insert, columns));
  SONDE_TRY(CheckSource(insert, (*target)->series));
  AddSeries((*target)->series);
  for (size_t i = 0; i < columns.size(); ++i) {
    relation.names.columns.push_back({columns[i].name, i, columns[i].type});
  }
  return relation;
}

}  // namespace sonde::sql
