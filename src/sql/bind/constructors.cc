// Arrays and structs that are made of their parts.
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

absl::StatusOr<Type> QueryBinder::CoerceElements(const Expr& expr, const std::vector<Position>& positions,
                                                 std::vector<ExpressionPtr>* elements) {
  Type element_type = TypeKind::kInt64;
  if (expr.type != nullptr) {
    SONDE_TRY_SET(const Type type, BindType(*expr.type));
    element_type = type.Is(TypeKind::kArray) ? type.element() : type;
    for (size_t i = 0; i < elements->size(); ++i) {
      if (!CoercionCost(FactsOf(*(*elements)[i]), element_type).has_value()) {
        return Error(positions[i], fmt::format("Array element type {} does not coerce to {}",
                                               ShownType(FactsOf(*(*elements)[i])), element_type.ToString()));
      }
      SONDE_TRY_SET((*elements)[i], Coerce(std::move((*elements)[i]), element_type, positions[i]));
    }
  } else if (!elements->empty()) {
    std::vector<std::string> seen;
    for (const ExpressionPtr& element : *elements) seen.push_back(ShownType(FactsOf(*element)));
    SONDE_TRY_SET(std::optional<Type> common, CoerceToCommon(elements, positions));
    if (!common.has_value()) {
      std::string types;
      for (size_t i = 0; i < seen.size(); ++i) {
        if (std::find(seen.begin(), seen.begin() + static_cast<std::ptrdiff_t>(i), seen[i]) ==
            seen.begin() + static_cast<std::ptrdiff_t>(i)) {
          types += (types.empty() ? "" : ", ") + seen[i];
        }
      }
      return Error(expr.position,
                   fmt::format("Array elements of types {{{}}} do not have a common supertype", types));
    }
    element_type = *common;
  }
  return element_type;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindArray(const Expr& expr, const Site& site) {
  std::vector<ExpressionPtr> elements;
  std::vector<Position> positions;
  bool are_literals = true;
  for (const ExprPtr& child : expr.children) {
    SONDE_TRY_SET(ExpressionPtr element, BindExpression(*child, site));
    if (element->type.Is(TypeKind::kArray) && !IsUntypedNull(*element)) {
      return Error(child->position,
                   fmt::format("Cannot construct array with element type {} because nested arrays "
                               "are not supported",
                               element->type.ToString()));
    }
    are_literals = are_literals && element->kind == Expression::Kind::kLiteral &&
                   element->written != Expression::Written::kNo;
    elements.push_back(std::move(element));
    positions.push_back(child->position);
  }
  SONDE_TRY_SET(const Type element_type, CoerceElements(expr, positions, &elements));
  if (are_literals) {
    std::vector<Value> values;
    for (const ExpressionPtr& element : elements) values.push_back(element->value);
    ExpressionPtr literal = MakeLiteral(Value::Array(element_type, values));
    if (expr.type == nullptr) {
      literal->written = values.empty() ? Expression::Written::kUntyped : Expression::Written::kLiteral;
    }
    return literal;
  }
  auto array = std::make_unique<Expression>();
  array->kind = Expression::Kind::kArray;
  array->type = Type::Array(element_type);
  array->arguments = std::move(elements);
  return array;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindStruct(const Expr& expr, const Site& site) {
  std::optional<Type> wanted;
  if (expr.type != nullptr) {
    SONDE_TRY_SET(wanted, BindType(*expr.type));
    if (wanted->fields().size() != expr.children.size()) {
      return Error(expr.position, fmt::format("STRUCT type has {} fields but constructor call has {} fields",
                                              wanted->fields().size(), expr.children.size()));
    }
  }
  auto made = std::make_unique<Expression>();
  made->kind = Expression::Kind::kStruct;
  std::vector<Type::Field> fields;
  bool are_literals = true;
  for (size_t i = 0; i < expr.children.size(); ++i) {
    const Expr& child = *expr.children[i];
    SONDE_TRY_SET(ExpressionPtr value, BindExpression(child, site));
    std::string name = i < expr.names.size() ? expr.names[i] : "";
    if (wanted.has_value()) {
      const Type::Field& field = wanted->fields()[i];
      if (!CoercionCost(FactsOf(*value), field.type).has_value()) {
        return Error(child.position, fmt::format("Struct field {} has type {} which does not coerce to {}",
                                                 i + 1, value->type.ToString(), field.type.ToString()));
      }
      SONDE_TRY_SET(value, Coerce(std::move(value), field.type, child.position));
      name = field.name;
    } else if (name.empty() && !expr.is_tuple) {
      // STRUCT(a) names its field as a select list would.
      if (child.kind == Expr::Kind::kName || child.kind == Expr::Kind::kField) name = child.text;
    }
    are_literals = are_literals && value->kind == Expression::Kind::kLiteral &&
                   value->written != Expression::Written::kNo;
    fields.push_back({std::move(name), value->type});
    made->arguments.push_back(std::move(value));
  }
  made->type = Type::Struct(std::move(fields));
  if (!are_literals) return made;
  std::vector<Value> values;
  for (const ExpressionPtr& argument : made->arguments) values.push_back(argument->value);
  ExpressionPtr literal = MakeLiteral(Value::Struct(made->type, values));
  if (!wanted.has_value()) literal->written = Expression::Written::kLiteral;
  return literal;
}

}  // namespace sonde::sql
