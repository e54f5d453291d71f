// Joins: of arrays, and of relations.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

bool IsLiteralTrue(const Expr* expr) {
  return expr == nullptr || (expr->kind == Expr::Kind::kBool && expr->boolean);
}

std::string_view NameOf(FromItem::Join join) {
  switch (join) {
    case FromItem::Join::kComma:
      return "comma join";
    case FromItem::Join::kCross:
      return "CROSS JOIN";
    case FromItem::Join::kInner:
      return "INNER JOIN";
    case FromItem::Join::kLeft:
      return "LEFT JOIN";
    case FromItem::Join::kRight:
      return "RIGHT JOIN";
    case FromItem::Join::kFull:
      return "FULL JOIN";
  }
  return "";
}

// The only column of this name; null: there is none, or more than one.
const NamedColumn* OnlyColumn(const NameList& names, std::string_view name) {
  const NamedColumn* found = nullptr;
  for (const NamedColumn& column : names.columns) {
    if (!SameName(column.name, name)) continue;
    if (found != nullptr) return nullptr;
    found = &column;
  }
  return found;
}

bool IsUsed(const std::vector<std::string>& used, std::string_view name) {
  for (const std::string& other : used) {
    if (SameName(other, name)) return true;
  }
  return false;
}

}  // namespace

absl::StatusOr<Relation> QueryBinder::BindJoin(const FromItem& item, Relation left, const Scope* outer) {
  const bool sees_left = item.join != FromItem::Join::kRight && item.join != FromItem::Join::kFull;
  const FromItem& right = *item.right;
  if (sees_left && !item.asof && item.using_columns.empty() && IsArray(right, left.names, outer)) {
    return JoinArray(item, std::move(left), outer);
  }
  SONDE_TRY(RequireExtension(right.position, item.asof ? "ASOF JOIN" : NameOf(item.join)));
  if (right.kind == FromItem::Kind::kTable && right.path.parts.size() == 1) {
    const Scope scope{&left.names, nullptr, true};
    const absl::StatusOr<FoundName> found = FindName(scope, right.path.parts[0]);
    const bool is_name = found.ok() && found->kind != FoundName::Kind::kNothing;
    bool is_with = false;
    for (const WithQuery& with : with_) is_with = is_with || SameName(with.name, right.path.parts[0]);
    if (is_name && !is_with && IsUnknown(right.path.parts[0])) {
      return ErrorAt(
          text_, right.path.position,
          absl::NotFoundError(fmt::format(
              "Table not found: {0} (Unqualified identifiers in a FROM clause are always resolved as tables. "
              "Identifier {0} is in scope but unqualified names cannot be resolved here.)",
              right.path.parts[0])));
    }
  }
  SONDE_TRY_SET(Relation bound, BindFrom(right, outer));
  return JoinRelations(item, std::move(left), std::move(bound), outer);
}

absl::StatusOr<Relation> QueryBinder::JoinArray(const FromItem& item, Relation left, const Scope* outer) {
  const bool is_join = item.kind == FromItem::Kind::kJoin;
  const FromItem& array_item = is_join ? *item.right : item;
  const bool is_left = is_join && item.join == FromItem::Join::kLeft;
  for (const RangeVariable& variable : left.names.variables) {
    if (!array_item.alias.empty() && SameName(variable.name, array_item.alias)) {
      return Error(array_item.position,
                   fmt::format("Duplicate table alias {} in the same FROM clause", array_item.alias));
    }
  }
  const size_t left_width = left.plan->types.size();
  const Scope scope{&left.names, outer, true};
  SONDE_TRY_SET(ExpressionPtr array, BindArrayOf(array_item, scope));
  const bool filters = is_join && !IsLiteralTrue(item.on.get());
  SONDE_TRY_SET(Relation relation,
                UnnestOver(array_item, std::move(array), std::move(left), is_left && !filters));
  if (!filters) return relation;
  const Scope joined{&relation.names, outer, true};
  Site site;
  site.scope = &joined;
  site.clause = "JOIN ON clause";
  SONDE_TRY_SET(ExpressionPtr condition, BindCondition(*item.on, site, "JOIN ON clause"));
  if (!is_left) {
    relation.plan = MakeFilter(std::move(relation.plan), std::move(condition));
    return relation;
  }
  return FilterOuterArray(std::move(relation), std::move(condition), left_width);
}

absl::StatusOr<Relation> QueryBinder::FilterOuterArray(Relation relation, ExpressionPtr condition,
                                                       size_t left_width) {
  // LEFT JOIN UNNEST(array) ON condition: the elements that fulfil it are found by a subquery over the left row, and
  // unnested then.
  Plan& unnest = *relation.plan;
  const size_t shown = unnest.types.size() - left_width;
  const auto further_out = [left_width](ExpressionPtr* expr) {
    VisitNodes(expr, [left_width](ExpressionPtr* node, size_t level) {
      if (IsReference(**node, level) && (*node)->index < kLambdaBase) {
        if ((*node)->index >= left_width) {
          (*node)->index -= left_width;
        } else {
          (*node)->kind = Expression::Kind::kOuter;
          (*node)->depth = level + 1;
        }
      } else if ((*node)->kind == Expression::Kind::kOuter && (*node)->depth > level) {
        ++(*node)->depth;
      }
      return false;
    });
  };
  auto inside = std::make_unique<Plan>();
  inside->kind = Plan::Kind::kUnnest;
  inside->with_offset = unnest.with_offset;
  inside->types.assign(unnest.types.begin() + static_cast<std::ptrdiff_t>(left_width), unnest.types.end());
  further_out(&unnest.expressions[0]);
  further_out(&condition);
  inside->expressions.push_back(std::move(unnest.expressions[0]));
  inside->inputs.push_back(MakeSingleRow());
  auto row = std::make_unique<Expression>();
  row->kind = Expression::Kind::kStruct;
  std::vector<Type::Field> fields;
  for (size_t i = 0; i < shown; ++i) {
    fields.push_back({"", inside->types[i]});
    row->arguments.push_back(MakeColumn(i, inside->types[i]));
  }
  row->type = Type::Struct(std::move(fields));
  const Type row_type = row->type;
  std::vector<ExpressionPtr> rows;
  rows.push_back(std::move(row));
  auto elements = std::make_unique<Expression>();
  elements->kind = Expression::Kind::kArrayQuery;
  elements->type = Type::Array(row_type);
  elements->plan = MakeProject(MakeFilter(std::move(inside), std::move(condition)), std::move(rows));
  unnest.expressions[0] = std::move(elements);
  unnest.with_offset = false;
  unnest.is_outer = true;
  const std::vector<Type> types = unnest.types;
  unnest.types.resize(left_width);
  unnest.types.push_back(row_type);
  std::vector<ExpressionPtr> columns;
  for (size_t i = 0; i < left_width; ++i) columns.push_back(MakeColumn(i, types[i]));
  for (size_t i = 0; i < shown; ++i) columns.push_back(FieldOf(MakeColumn(left_width, row_type), i));
  relation.plan = MakeProject(std::move(relation.plan), std::move(columns));
  return relation;
}

absl::StatusOr<Relation> QueryBinder::JoinRelations(const FromItem& item, Relation left, Relation right,
                                                    const Scope* outer) {
  for (const RangeVariable& variable : right.names.variables) {
    if (left.names.FindVariable(variable.name) == nullptr) continue;
    return Error(item.right == nullptr ? item.position : item.right->position,
                 fmt::format("Duplicate table alias {} in the same FROM clause", variable.name));
  }
  auto join = std::make_unique<Plan>();
  join->kind = Plan::Kind::kJoin;
  join->types = left.plan->types;
  for (const Type& type : right.plan->types) join->types.push_back(type);
  join->join = item.join == FromItem::Join::kLeft    ? Plan::Join::kLeft
               : item.join == FromItem::Join::kRight ? Plan::Join::kRight
               : item.join == FromItem::Join::kFull  ? Plan::Join::kFull
                                                     : Plan::Join::kInner;
  const size_t left_width = left.plan->types.size();
  join->inputs.push_back(std::move(left.plan));
  join->inputs.push_back(std::move(right.plan));
  Relation relation;
  std::vector<ExpressionPtr> merged;
  const bool needs_condition = item.join != FromItem::Join::kComma && item.join != FromItem::Join::kCross;
  if (!item.using_columns.empty()) {
    SONDE_TRY(BindUsing(item, left.names, right.names, join.get(), &relation.names, &merged));
  } else {
    relation.names = std::move(left.names);
    relation.names.Append(right.names, left_width);
    if (item.on != nullptr) {
      const Scope scope{&relation.names, outer, true};
      Site site;
      site.scope = &scope;
      site.clause = "JOIN ON clause";
      SONDE_TRY_SET(join->condition, BindCondition(*item.on, site, "JOIN ON clause"));
    } else if (needs_condition) {
      return Error(item.position, fmt::format("{} must have an immediately following ON or USING clause",
                                              NameOf(item.join)));
    }
  }
  if (item.asof) SONDE_TRY(BindAsof(item, left_width, join.get()));
  relation.plan = std::move(join);
  if (merged.empty()) return relation;
  // FULL JOIN USING: what is not NULL on one of the sides comes behind the columns of the join.
  std::vector<ExpressionPtr> columns;
  for (size_t i = 0; i < relation.plan->types.size(); ++i)
    columns.push_back(MakeColumn(i, relation.plan->types[i]));
  for (ExpressionPtr& expr : merged) columns.push_back(std::move(expr));
  relation.plan = MakeProject(std::move(relation.plan), std::move(columns));
  return relation;
}

absl::Status QueryBinder::BindUsing(const FromItem& item, const NameList& left, const NameList& right,
                                    Plan* join, NameList* names, std::vector<ExpressionPtr>* merged) {
  const size_t left_width = join->inputs[0]->types.size();
  const Position using_position = WordFrom(item.right->position, "USING");
  std::vector<ExpressionPtr> conditions;
  for (const std::string& name : item.using_columns) {
    const NamedColumn* const a = OnlyColumn(left, name);
    const NamedColumn* const b = OnlyColumn(right, name);
    if (a == nullptr || b == nullptr) {
      return Error(WordFrom(using_position, name),
                   fmt::format("Column {} in USING clause not found on {} side of join", name,
                               a == nullptr ? "left" : "right"));
    }
    std::vector<ExpressionPtr> sides;
    sides.push_back(MakeColumn(a->index, a->type));
    sides.push_back(MakeColumn(b->index + left_width, b->type));
    absl::StatusOr<ExpressionPtr> equal =
        CallOperator("$equal", "operator =", std::move(sides), item.position);
    if (!equal.ok()) {
      return Error(WordFrom(using_position, name),
                   fmt::format("Column '{}' in USING has incompatible types that cannot be directly "
                               "compared using equality on either side of the join: {} and {}",
                               name, a->type.ToString(), b->type.ToString()));
    }
    conditions.push_back(*std::move(equal));
    NamedColumn both = *a;
    if (join->join == Plan::Join::kRight) {
      both = *b;
      both.index += left_width;
    } else if (join->join == Plan::Join::kFull) {
      std::vector<ExpressionPtr> values;
      values.push_back(MakeColumn(a->index, a->type));
      values.push_back(MakeColumn(b->index + left_width, b->type));
      SONDE_TRY_SET(const std::optional<Type> common,
                    CoerceToCommon(&values, {item.position, item.position}));
      auto coalesce = std::make_unique<Expression>();
      coalesce->kind = Expression::Kind::kCoalesce;
      coalesce->type = common.value_or(a->type);
      coalesce->arguments = std::move(values);
      both.index = join->types.size() + merged->size();
      both.type = coalesce->type;
      merged->push_back(std::move(coalesce));
    }
    names->columns.push_back(std::move(both));
  }
  NameList rest;
  for (const auto& [list, shift] : {std::pair{&left, size_t{0}}, std::pair{&right, left_width}}) {
    for (NamedColumn column : list->columns) {
      if (IsUsed(item.using_columns, column.name)) continue;
      column.index += shift;
      names->columns.push_back(std::move(column));
    }
    NameList variables;
    variables.variables = list->variables;
    rest.Append(variables, shift);
  }
  names->variables = std::move(rest.variables);
  join->condition = MakeAnd(std::move(conditions));
  return absl::OkStatus();
}

absl::Status QueryBinder::BindAsof(const FromItem& item, size_t left_width, Plan* join) {
  join->asof = true;
  if (join->join != Plan::Join::kInner && join->join != Plan::Join::kLeft) {
    return Error(item.position, "ASOF JOIN is an inner or a LEFT join");
  }
  if (join->condition == nullptr) return Error(item.position, "ASOF JOIN needs an ON clause");
  std::vector<ExpressionPtr> conjuncts;
  SplitAnd(CloneDeep(*join->condition), &conjuncts);
  const auto is_right = [left_width](const Expression& side) {
    const std::vector<size_t> columns = ReferencesOf(side);
    return !columns.empty() && columns.front() >= left_width;
  };
  const auto is_left = [left_width](const Expression& side) {
    const std::vector<size_t> columns = ReferencesOf(side);
    return !columns.empty() && columns.back() < left_width;
  };
  for (const ExpressionPtr& conjunct : conjuncts) {
    if (conjunct->kind != Expression::Kind::kCall || conjunct->arguments.size() != 2) continue;
    const std::string& name = conjunct->function->name;
    const bool is_greater = name == "$greater" || name == "$greater_or_equal";
    const bool is_less = name == "$less" || name == "$less_or_equal";
    if (!is_greater && !is_less) continue;
    const Expression& a = *conjunct->arguments[0];
    const Expression& b = *conjunct->arguments[1];
    const bool is_straight = is_left(a) && is_right(b);
    if (!is_straight && !(is_right(a) && is_left(b))) continue;
    if (!join->asof_order.empty()) {
      return Error(item.position, "ASOF JOIN needs exactly one inequality between the two sides");
    }
    // left >= right: the greatest of the right side is the nearest.
    const bool descending = is_greater == is_straight;
    join->asof_order.push_back({CloneDeep(is_straight ? b : a), descending, !descending});
  }
  if (join->asof_order.empty()) {
    return Error(item.position, "ASOF JOIN needs exactly one inequality between the two sides");
  }
  return absl::OkStatus();
}

}  // namespace sonde::sql
