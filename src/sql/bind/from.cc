// FROM: what stands there, and arrays.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {

Relation Compact(Relation relation) {
  bool is_compact = relation.plan->types.size() == relation.names.columns.size();
  for (size_t i = 0; i < relation.names.columns.size(); ++i) {
    is_compact = is_compact && relation.names.columns[i].index == i;
  }
  if (is_compact) return relation;
  std::vector<ExpressionPtr> columns;
  NameList names;
  for (const NamedColumn& column : relation.names.columns) {
    NamedColumn moved = column;
    moved.index = columns.size();
    columns.push_back(MakeColumn(column.index, column.type));
    names.columns.push_back(std::move(moved));
  }
  return {MakeProject(std::move(relation.plan), std::move(columns)), std::move(names)};
}

void SetAlias(std::string_view alias, NameList* names) {
  names->variables.clear();
  if (alias.empty()) return;
  RangeVariable variable;
  variable.name = alias;
  variable.is_value = names->columns.size() == 1 && names->columns[0].is_value;
  if (variable.is_value) names->columns[0].name = alias;
  variable.columns = names->columns;
  names->variables.push_back(std::move(variable));
}

absl::StatusOr<Relation> QueryBinder::BindFrom(const FromItem& item, const Scope* outer) {
  constexpr size_t kRelationsMax = 1'000;
  if (++relations_ > kRelationsMax) {
    return absl::InvalidArgumentError(fmt::format("A query reads from at most {} tables", kRelationsMax));
  }
  switch (item.kind) {
    case FromItem::Kind::kTable: {
      const NameList none;
      if (!IsArray(item, none, outer)) return BindTable(item, outer);
      Relation row;
      row.plan = MakeSingleRow();
      return JoinArray(item, std::move(row), outer);
    }
    case FromItem::Kind::kUnnest: {
      Relation row;
      row.plan = MakeSingleRow();
      return JoinArray(item, std::move(row), outer);
    }
    case FromItem::Kind::kQuery: {
      SONDE_TRY(RequireExtension(item.position, "a subquery in FROM"));
      SONDE_TRY_SET(Relation relation, BindQuery(*item.query, outer));
      relation = Compact(std::move(relation));
      SetAlias(item.alias, &relation.names);
      return relation;
    }
    case FromItem::Kind::kUnpack: {
      SONDE_TRY_SET(Relation relation, BindQuery(*item.query, outer));
      return BindUnpack(std::move(relation), item.alias, item.position);
    }
    case FromItem::Kind::kJoin: {
      SONDE_TRY_SET(Relation left, BindFrom(*item.left, outer));
      return BindJoin(item, std::move(left), outer);
    }
    case FromItem::Kind::kFunction:
      break;
  }
  std::string name;
  for (const std::string& part : item.path.parts) name += (name.empty() ? "" : ".") + part;
  if (SameName(name, "GAP_FILL")) return BindGapFill(item, nullptr, outer);
  return Error(item.path.position, fmt::format("Table-valued function not found: {}", name));
}

bool QueryBinder::IsArray(const FromItem& item, const NameList& left, const Scope* outer) const {
  if (item.kind == FromItem::Kind::kUnnest) return true;
  if (item.kind != FromItem::Kind::kTable || item.path.parts.size() < 2 || !item.arguments.empty())
    return false;
  const Scope scope{&left, outer, true};
  const absl::StatusOr<FoundName> found = FindName(scope, item.path.parts[0]);
  return !found.ok() || found->kind != FoundName::Kind::kNothing;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindArrayOf(const FromItem& item, const Scope& scope) {
  Site site;
  site.scope = &scope;
  site.clause = "FROM clause";
  ExpressionPtr array;
  Position position = item.position;
  if (item.kind == FromItem::Kind::kUnnest) {
    if (item.array == nullptr) return Error(position, "UNNEST needs an array");
    position = item.array->position;
    SONDE_TRY_SET(array, BindExpression(*item.array, site));
  } else {
    // The path as an expression: a.b.c.
    position = item.path.position;
    ExprPtr path;
    for (const std::string& part : item.path.parts) {
      auto step = std::make_unique<Expr>();
      step->kind = path == nullptr ? Expr::Kind::kName : Expr::Kind::kField;
      step->position = position;
      step->text = part;
      if (path != nullptr) step->children.push_back(std::move(path));
      path = std::move(step);
    }
    SONDE_TRY_SET(array, BindExpression(*path, site));
  }
  if (IsUntypedNull(*array)) return Coerce(std::move(array), Type::Array(TypeKind::kInt64), position);
  if (!array->type.Is(TypeKind::kArray)) {
    return Error(
        position,
        fmt::format("Values referenced in UNNEST must be arrays. UNNEST contains expression of type {}",
                    array->type.ToString()));
  }
  return array;
}

absl::StatusOr<Relation> QueryBinder::UnnestOver(const FromItem& item, ExpressionPtr array, Relation left,
                                                 bool is_outer) {
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kUnnest;
  plan->types = left.plan->types;
  plan->is_outer = is_outer;
  plan->with_offset = item.with_offset;
  const Type element = array->type.element();
  std::string alias = item.alias;
  if (alias.empty() && item.kind == FromItem::Kind::kTable) alias = item.path.parts.back();
  NamedColumn column{alias, plan->types.size(), element, /*is_value=*/true};
  plan->types.push_back(element);
  left.names.columns.push_back(column);
  if (!alias.empty()) left.names.variables.push_back({alias, {column}, /*is_value=*/true});
  if (item.with_offset) {
    const std::string name = item.offset_alias.empty() ? "offset" : item.offset_alias;
    const NamedColumn offset{name, plan->types.size(), TypeKind::kInt64};
    plan->types.emplace_back(TypeKind::kInt64);
    left.names.columns.push_back(offset);
    NamedColumn value = offset;
    left.names.variables.push_back({name, {value}, /*is_value=*/true});
  }
  plan->expressions.push_back(std::move(array));
  plan->inputs.push_back(std::move(left.plan));
  left.plan = std::move(plan);
  return left;
}

}  // namespace sonde::sql
