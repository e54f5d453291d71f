// Statements: text, tree, plan.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/binder.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/column_units.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"
#include "sql/rewrite/rewrite.h"
#include "sql/syntax/parser.h"
#include "sql/syntax/syntax_error.h"

namespace sonde::sql {

absl::Status QueryBinder::Error(Position position, std::string_view message) const {
  return ErrorAt(text_, position, message);
}

Position QueryBinder::WordBefore(Position position, std::string_view word) const {
  for (size_t at = std::min<size_t>(position.offset, text_.size()); at-- > 0;) {
    if (SameName(text_.substr(at, word.size()), word)) return {static_cast<uint32_t>(at)};
  }
  return position;
}

Position QueryBinder::WordFrom(Position position, std::string_view word) const {
  for (size_t at = position.offset; at + word.size() <= text_.size(); ++at) {
    if (SameName(text_.substr(at, word.size()), word)) return {static_cast<uint32_t>(at)};
  }
  return position;
}

absl::Status QueryBinder::RequireExtension(Position position, std::string_view construct) const {
  if (options_.dialect == Dialect::kSonde) return absl::OkStatus();
  return ErrorAt(text_, position,
                 absl::UnimplementedError(fmt::format("Not in the language of Bigtable: {}", construct)));
}

absl::StatusOr<BoundQuery> QueryBinder::BindStatement(const Statement& statement) {
  if (statement.explain != Statement::Explain::kNo) SONDE_TRY(RequireExtension({}, "EXPLAIN"));
  BoundQuery query;
  SONDE_TRY_SET(Relation relation, statement.insert != nullptr ? BindInsert(statement, &query.insert)
                                                               : BindQuery(*statement.query, nullptr));
  SONDE_TRY(error_of_all_rows_);
  relation = Compact(std::move(relation));
  // Before the plan is rewritten: units are those of what the text says.
  std::vector<std::string> units(relation.plan->types.size());
  if (!series_.empty()) units = UnitsOfColumns(*relation.plan);
  for (size_t i = 0; i < relation.names.columns.size(); ++i) {
    const NamedColumn& column = relation.names.columns[i];
    query.columns.push_back(
        {column.name.empty() ? fmt::format("$col{}", i + 1) : column.name, column.type, units[column.index]});
  }
  query.plan = std::move(relation.plan);
  query.parameters = options_.parameters;
  query.explain = statement.explain == Statement::Explain::kNo     ? BoundQuery::Explain::kNo
                  : statement.explain == Statement::Explain::kPlan ? BoundQuery::Explain::kPlan
                                                                   : BoundQuery::Explain::kAnalyze;
  query.tables = std::move(tables_);
  for (const TableSchemaRef& table : tables_in_views_) AddTable(table, &query.tables);
  query.views = std::move(views_);
  query.named = std::move(named_);
  query.bundles = std::move(bundles_);
  query.series = std::move(series_);
  return query;
}

absl::StatusOr<BoundQuery> Bind(const Statement& statement, std::string_view text,
                                const BindOptions& options) {
  QueryBinder binder(text, options);
  SONDE_TRY_SET(BoundQuery query, binder.BindStatement(statement));
  SONDE_TRY(Rewrite(options.rewrite, &query.plan));
  FinishPlan(query.plan.get());
  if (query.insert.has_value()) {
    query.columns = {
        {"points", TypeKind::kInt64}, {"refused", TypeKind::kInt64}, {"first_refusal", TypeKind::kString}};
  }
  // The rows of EXPLAIN are the plan's, a line each.
  if (query.explain != BoundQuery::Explain::kNo) query.columns = {{"plan", TypeKind::kString}};
  return query;
}

absl::StatusOr<BoundQuery> ParseAndBind(std::string_view text, const BindOptions& options) {
  SONDE_TRY_SET(const std::unique_ptr<Statement> statement, ParseStatement(text));
  return Bind(*statement, text, options);
}

}  // namespace sonde::sql
