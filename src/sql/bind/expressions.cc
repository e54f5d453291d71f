// Expressions that are neither operators nor calls: names, fields, CASE, CAST, constructors.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "sql/bind/query_binder.h"
#include "sql/cast/cast.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {

absl::StatusOr<ExpressionPtr> QueryBinder::BindExpression(const Expr& expr, const Site& site) {
  switch (expr.kind) {
    case Expr::Kind::kNull:
    case Expr::Kind::kBool:
    case Expr::Kind::kInt:
    case Expr::Kind::kFloat:
    case Expr::Kind::kString:
    case Expr::Kind::kBytes:
    case Expr::Kind::kDate:
    case Expr::Kind::kTimestamp:
      return BindLiteral(expr);
    case Expr::Kind::kParameter:
      return BindParameter(expr);
    case Expr::Kind::kName:
      return BindName(expr, site);
    case Expr::Kind::kField:
      return BindField(expr, site);
    case Expr::Kind::kStarField:
      return Error(expr.position, "Dot-star is not supported here");
    case Expr::Kind::kIndex:
      return BindIndex(expr, site);
    case Expr::Kind::kUnary:
      return BindUnary(expr, site);
    case Expr::Kind::kBinary:
      return BindBinary(expr, site);
    case Expr::Kind::kIs:
      return BindIs(expr, site);
    case Expr::Kind::kBetween:
      return BindBetween(expr, site);
    case Expr::Kind::kInList:
    case Expr::Kind::kInUnnest:
      return BindIn(expr, site);
    case Expr::Kind::kCase:
      return BindCase(expr, site);
    case Expr::Kind::kCast:
      return BindCast(expr, site);
    case Expr::Kind::kExtract:
      return BindExtract(expr, site);
    case Expr::Kind::kInterval:
      return Error(expr.position, "INTERVAL expressions are supported only as arguments of functions");
    case Expr::Kind::kArray:
      return BindArray(expr, site);
    case Expr::Kind::kStruct:
      return BindStruct(expr, site);
    case Expr::Kind::kLambda:
      return Error(expr.position, "Lambda is not supported here");
    case Expr::Kind::kGrouping:
      return Error(expr.position, fmt::format("{} is only allowed in GROUP BY", expr.text));
    case Expr::Kind::kCall:
      return BindCall(expr, site);
    case Expr::Kind::kInQuery:
    case Expr::Kind::kScalarQuery:
    case Expr::Kind::kArrayQuery:
    case Expr::Kind::kExistsQuery:
      return BindSubquery(expr, site);
  }
  return absl::InternalError("an expression of no kind");
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindCondition(const Expr& expr, const Site& site,
                                                         std::string_view clause) {
  SONDE_TRY_SET(ExpressionPtr condition, BindExpression(expr, site));
  if (IsUntypedNull(*condition)) return Coerce(std::move(condition), TypeKind::kBool, expr.position);
  if (!condition->type.Is(TypeKind::kBool)) {
    return Error(expr.position, fmt::format("{} should return type BOOL, but returns {}", clause,
                                            condition->type.ToString()));
  }
  return condition;
}

ExpressionPtr QueryBinder::Reference(const NamedColumn& column, size_t depth, Position position,
                                     std::string_view shown) {
  ExpressionPtr reference = MakeColumn(column.index, column.type);
  if (depth > 0) {
    reference->kind = Expression::Kind::kOuter;
    reference->depth = depth;
  }
  mentions_[reference.get()] = {position, std::string(shown)};
  return reference;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindFound(const FoundName& found, std::string_view name,
                                                     Position position) {
  switch (found.kind) {
    case FoundName::Kind::kNothing:
      return Error(position, fmt::format("Unrecognized name: {}", name));
    case FoundName::Kind::kColumn:
      return Reference(*found.column, found.depth, position, fmt::format("column {}", name));
    case FoundName::Kind::kValueField:
      return AccessField(Reference(*found.column, found.depth, position, name), name, position);
    case FoundName::Kind::kVariable:
      break;
  }
  const RangeVariable& variable = *found.variable;
  if (variable.is_value) return Reference(variable.columns[0], found.depth, position, name);
  auto row = std::make_unique<Expression>();
  row->kind = Expression::Kind::kStruct;
  std::vector<Type::Field> fields;
  for (const NamedColumn& column : variable.columns) {
    fields.push_back({column.name, column.type});
    row->arguments.push_back(Reference(column, found.depth, position, name));
  }
  row->type = Type::Struct(std::move(fields));
  return row;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindName(const Expr& expr, const Site& site) {
  absl::StatusOr<FoundName> found = FindName(*site.scope, expr.text);
  if (!found.ok()) return Error(expr.position, found.status().message().data());
  return BindFound(*found, expr.text, expr.position);
}

Position QueryBinder::FieldPosition(const Expr& expr) const {
  const Expr& base = *expr.children[0];
  if (base.kind != Expr::Kind::kName && base.kind != Expr::Kind::kField) return expr.position;
  const Position start = base.kind == Expr::Kind::kName ? base.position : FieldPosition(base);
  size_t at = start.offset + base.text.size();
  if (at > text_.size() || text_.substr(start.offset, base.text.size()) != base.text) return expr.position;
  while (at < text_.size() && (text_[at] == ' ' || text_[at] == '.')) ++at;
  return {static_cast<uint32_t>(at)};
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindField(const Expr& expr, const Site& site) {
  const Expr& base = *expr.children[0];
  if (base.kind == Expr::Kind::kName) {
    absl::StatusOr<FoundName> found = FindName(*site.scope, base.text);
    if (!found.ok()) return Error(base.position, found.status().message().data());
    if (found->kind == FoundName::Kind::kVariable && !found->variable->is_value) {
      const NamedColumn* column = nullptr;
      for (const NamedColumn& candidate : found->variable->columns) {
        if (!SameName(candidate.name, expr.text)) continue;
        if (column != nullptr)
          return Error(FieldPosition(expr), fmt::format("Column name {} is ambiguous", expr.text));
        column = &candidate;
      }
      if (column == nullptr) {
        return Error(FieldPosition(expr), fmt::format("Name {} not found inside {}", expr.text, base.text));
      }
      return Reference(*column, found->depth, base.position, fmt::format("{}.{}", base.text, expr.text));
    }
  }
  SONDE_TRY_SET(ExpressionPtr value, BindExpression(base, site));
  return AccessField(std::move(value), expr.text, FieldPosition(expr));
}

absl::StatusOr<ExpressionPtr> QueryBinder::AccessField(ExpressionPtr value, std::string_view name,
                                                       Position position) {
  if (value->type.Is(TypeKind::kProto)) return AccessMessageField(std::move(value), name, position);
  if (!value->type.Is(TypeKind::kStruct)) {
    return Error(position,
                 fmt::format("Cannot access field {} on a value with type {}", name, value->type.ToString()));
  }
  const std::vector<size_t> fields = FieldsNamed(value->type, name);
  if (fields.empty()) {
    return Error(position, fmt::format("Field name {} does not exist in {}", name, value->type.ToString()));
  }
  if (fields.size() > 1) {
    return Error(position, fmt::format("Struct field name {} is ambiguous", name));
  }
  return FieldOf(std::move(value), fields[0]);
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindParameter(const Expr& expr) {
  for (size_t i = 0; i < options_.parameters.size(); ++i) {
    if (!SameName(options_.parameters[i].name, expr.text)) continue;
    auto parameter = std::make_unique<Expression>();
    parameter->kind = Expression::Kind::kParameter;
    parameter->type = options_.parameters[i].type;
    parameter->index = i;
    return parameter;
  }
  return Error(expr.position,
               fmt::format("Query parameter '{}' not found", absl::AsciiStrToLower(expr.text)));
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindIndex(const Expr& expr, const Site& site) {
  SONDE_TRY_SET(ExpressionPtr base, BindExpression(*expr.children[0], site));
  SONDE_TRY_SET(ExpressionPtr place, BindExpression(*expr.children[1], site));
  const std::string& how = expr.text;
  const bool by_key = how == "KEY" || how == "SAFE_KEY";
  std::vector<ExpressionPtr> arguments;
  if (base->type.Is(TypeKind::kMap) && (how.empty() || by_key)) {
    if (how == "KEY")
      return absl::UnimplementedError("Subscript access by KEY is not built; SAFE_KEY and [k] are");
    arguments.push_back(std::move(base));
    arguments.push_back(std::move(place));
    return CallOperator("$map_at", "operator []", std::move(arguments), expr.position);
  }
  if (!base->type.Is(TypeKind::kArray) || by_key) {
    return Error(expr.children[1]->position,
                 fmt::format("Subscript access using [{}{}{}{}] is not supported on values of type {}", how,
                             how.empty() ? "" : "(", place->type.ToString(), how.empty() ? "" : ")",
                             base->type.ToString()));
  }
  if (!CoercionCost(FactsOf(*place), TypeKind::kInt64).has_value()) {
    return Error(expr.children[1]->position,
                 fmt::format("Array position in [] must be coercible to INT64 type, but has type {}",
                             ShownType(FactsOf(*place))));
  }
  std::string_view function = "$array_at_offset";
  if (how == "ORDINAL") function = "$array_at_ordinal";
  if (how == "SAFE_OFFSET") function = "$safe_array_at_offset";
  if (how == "SAFE_ORDINAL") function = "$safe_array_at_ordinal";
  arguments.push_back(std::move(base));
  arguments.push_back(std::move(place));
  return CallOperator(function, "operator []", std::move(arguments), expr.position);
}

absl::StatusOr<Type> QueryBinder::CoerceCase(const Expr& expr, const std::vector<Position>& positions,
                                             std::vector<ExpressionPtr>* conditions,
                                             std::vector<ExpressionPtr>* values) {
  const auto shown = [&] {
    std::string text = "actual argument types (WHEN THEN) ELSE:";
    for (size_t i = 0; i < conditions->size(); ++i) {
      text +=
          fmt::format(" ({} {})", ShownType(FactsOf(*(*conditions)[i])), ShownType(FactsOf(*(*values)[i])));
    }
    return text + " " + ShownType(FactsOf(*values->back()));
  };
  for (ExpressionPtr& condition : *conditions) {
    if (IsUntypedNull(*condition)) {
      SONDE_TRY_SET(condition, Coerce(std::move(condition), TypeKind::kBool, expr.position));
    }
    if (!condition->type.Is(TypeKind::kBool)) {
      return Error(
          expr.position,
          fmt::format("No matching signature for operator CASE; all WHEN argument types must be BOOL but "
                      "found: {}; {}",
                      condition->type.ToString(), shown()));
    }
  }
  const std::string actual = shown();
  std::string found;
  for (size_t i = 0; i < values->size(); ++i) {
    found += (i == 0 ? "" : ", ") + ShownType(FactsOf(*(*values)[i]));
  }
  SONDE_TRY_SET(std::optional<Type> common, CoerceToCommon(values, positions));
  if (!common.has_value()) {
    return Error(expr.position,
                 fmt::format("No matching signature for operator CASE; all THEN/ELSE arguments must be "
                             "coercible to a common type but found: {}; {}",
                             found, actual));
  }
  return *common;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindCase(const Expr& expr, const Site& site) {
  ExpressionPtr operand;
  size_t at = 0;
  if (expr.has_operand) {
    SONDE_TRY_SET(operand, BindExpression(*expr.children[0], site));
    at = 1;
  }
  std::vector<ExpressionPtr> conditions;
  std::vector<ExpressionPtr> values;
  std::vector<Position> positions;
  const size_t end = expr.children.size() - (expr.has_else ? 1 : 0);
  for (; at + 1 < end; at += 2) {
    SONDE_TRY_SET(ExpressionPtr condition, BindExpression(*expr.children[at], site));
    if (operand != nullptr) {
      std::vector<ExpressionPtr> sides;
      sides.push_back(CloneDeep(*operand));
      sides.push_back(std::move(condition));
      SONDE_TRY_SET(condition, CallOperator("$equal", "operator CASE", std::move(sides), expr.position));
    }
    conditions.push_back(std::move(condition));
    SONDE_TRY_SET(ExpressionPtr value, BindExpression(*expr.children[at + 1], site));
    values.push_back(std::move(value));
    positions.push_back(expr.children[at + 1]->position);
  }
  if (expr.has_else) {
    SONDE_TRY_SET(ExpressionPtr value, BindExpression(*expr.children.back(), site));
    values.push_back(std::move(value));
    positions.push_back(expr.children.back()->position);
  } else {
    ExpressionPtr null = MakeLiteral(Value::Null(TypeKind::kInt64));
    null->written = Expression::Written::kUntyped;
    values.push_back(std::move(null));
    positions.push_back(expr.position);
  }
  SONDE_TRY_SET(const Type type, CoerceCase(expr, positions, &conditions, &values));
  auto choice = std::make_unique<Expression>();
  choice->kind = Expression::Kind::kCase;
  choice->type = type;
  for (size_t i = 0; i < conditions.size(); ++i) {
    choice->arguments.push_back(std::move(conditions[i]));
    choice->arguments.push_back(std::move(values[i]));
  }
  choice->arguments.push_back(std::move(values.back()));
  return choice;
}

}  // namespace sonde::sql
