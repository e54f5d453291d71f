// Subqueries in expressions.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

std::string_view NameOf(Expr::Kind kind) {
  switch (kind) {
    case Expr::Kind::kArrayQuery:
      return "ARRAY subquery";
    case Expr::Kind::kExistsQuery:
      return "EXISTS subquery";
    case Expr::Kind::kInQuery:
      return "IN subquery";
    default:
      return "scalar subquery";
  }
}

}  // namespace

absl::StatusOr<ExpressionPtr> QueryBinder::BindSubquery(const Expr& expr, const Site& site) {
  SONDE_TRY(RequireExtension(expr.position, NameOf(expr.kind)));
  auto made = std::make_unique<Expression>();
  ExpressionPtr sought;
  if (expr.kind == Expr::Kind::kInQuery) {
    SONDE_TRY_SET(sought, BindExpression(*expr.children[0], site));
  }
  SONDE_TRY_SET(Relation relation, BindQuery(*expr.query, site.scope));
  if (expr.kind == Expr::Kind::kExistsQuery) {
    made->kind = Expression::Kind::kExistsQuery;
    made->type = TypeKind::kBool;
    made->plan = std::move(relation.plan);
    return made;
  }
  if (relation.names.columns.size() != 1) {
    if (expr.kind == Expr::Kind::kInQuery) {
      return Error(expr.query->position, "Subquery of type IN must have only one output column");
    }
    return Error(expr.position,
                 fmt::format("{} subquery cannot have more than one column unless using SELECT AS STRUCT "
                             "to build STRUCT values",
                             expr.kind == Expr::Kind::kArrayQuery ? "ARRAY" : "Scalar"));
  }
  relation = Compact(std::move(relation));
  const Type type = relation.plan->types[0];
  if (expr.kind == Expr::Kind::kScalarQuery) {
    made->kind = Expression::Kind::kScalarQuery;
    made->type = type;
    made->plan = std::move(relation.plan);
    return made;
  }
  if (expr.kind == Expr::Kind::kArrayQuery) {
    if (type.Is(TypeKind::kArray)) {
      return Error(expr.position,
                   fmt::format("Cannot use array subquery with column of type {} because nested arrays are "
                               "not supported",
                               type.ToString()));
    }
    made->kind = Expression::Kind::kArrayQuery;
    made->type = Type::Array(type);
    made->plan = std::move(relation.plan);
    return made;
  }
  // IN: both sides as one type.
  ArgumentFacts column;
  column.type = type;
  const std::optional<Type> common = CommonSupertype({FactsOf(*sought), column});
  if (!common.has_value() || !common->IsComparable()) {
    return Error(expr.position, fmt::format("Cannot execute IN subquery with uncomparable types {} and {}",
                                            sought->type.ToString(), type.ToString()));
  }
  SONDE_TRY_SET(sought, Coerce(std::move(sought), *common, expr.position));
  if (type != *common) {
    std::vector<ExpressionPtr> columns;
    SONDE_TRY_SET(ExpressionPtr cast,
                  MakeCast(MakeColumn(0, type), *common, /*is_safe=*/false, expr.position));
    columns.push_back(std::move(cast));
    relation.plan = MakeProject(std::move(relation.plan), std::move(columns));
  }
  made->kind = Expression::Kind::kInQuery;
  made->type = TypeKind::kBool;
  SONDE_TRY_SET(made->equal, EqualKernel(*common, expr.position));
  made->arguments.push_back(std::move(sought));
  made->plan = std::move(relation.plan);
  return Negate(std::move(made), expr.negated, expr.position);
}

}  // namespace sonde::sql
