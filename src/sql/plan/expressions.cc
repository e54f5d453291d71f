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
#include "sql/function/cast.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/query_binder.h"
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
  const auto shown = [&] {
    std::string text = "actual argument types (WHEN THEN) ELSE:";
    for (size_t i = 0; i < conditions.size(); ++i) {
      text += fmt::format(" ({} {})", ShownType(FactsOf(*conditions[i])), ShownType(FactsOf(*values[i])));
    }
    return text + " " + ShownType(FactsOf(*values.back()));
  };
  for (ExpressionPtr& condition : conditions) {
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
  for (size_t i = 0; i < values.size(); ++i) {
    found += (i == 0 ? "" : ", ") + ShownType(FactsOf(*values[i]));
  }
  SONDE_TRY_SET(std::optional<Type> common, CoerceToCommon(&values, positions));
  if (!common.has_value()) {
    return Error(expr.position,
                 fmt::format("No matching signature for operator CASE; all THEN/ELSE arguments must be "
                             "coercible to a common type but found: {}; {}",
                             found, actual));
  }
  auto choice = std::make_unique<Expression>();
  choice->kind = Expression::Kind::kCase;
  choice->type = *common;
  for (size_t i = 0; i < conditions.size(); ++i) {
    choice->arguments.push_back(std::move(conditions[i]));
    choice->arguments.push_back(std::move(values[i]));
  }
  choice->arguments.push_back(std::move(values.back()));
  return choice;
}

absl::StatusOr<ExpressionPtr> QueryBinder::MakeCast(ExpressionPtr value, const Type& to, bool is_safe,
                                                    Position position) {
  const Kernel kernel = FindCast(value->type, to);
  if (kernel == nullptr) {
    return Error(position, fmt::format("Invalid cast from {} to {}", value->type.ToString(), to.ToString()));
  }
  auto cast = std::make_unique<Expression>();
  cast->kind = Expression::Kind::kCast;
  cast->type = to;
  cast->cast = kernel;
  cast->is_safe = is_safe;
  cast->arguments.push_back(std::move(value));
  return cast;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindCast(const Expr& expr, const Site& site) {
  const Expr& operand = *expr.children[0];
  SONDE_TRY_SET(ExpressionPtr value, BindExpression(operand, site));
  SONDE_TRY_SET(const Type to, BindType(*expr.type));
  const Expr* const format = expr.children.size() > 1 ? expr.children[1].get() : nullptr;
  const Expr* const zone = expr.children.size() > 2 ? expr.children[2].get() : nullptr;
  if (value->kind == Expression::Kind::kLiteral && value->written == Expression::Written::kUntyped) {
    SONDE_TRY_SET(value, Coerce(std::move(value), to, operand.position));
    value->written = Expression::Written::kNo;
    return value;
  }
  if (format == nullptr && zone == nullptr) {
    if (value->type == to) {
      value->written = Expression::Written::kNo;
      return value;
    }
    return MakeCast(std::move(value), to, expr.safe, operand.position);
  }
  const Kernel kernel = FindFormatCast(value->type, to);
  const std::string pair = fmt::format("cast from {} to {}", value->type.ToString(), to.ToString());
  if (kernel == nullptr || (format == nullptr && zone != nullptr)) {
    return format == nullptr ? Error(zone->position, fmt::format("AT TIME ZONE is not allowed for {}", pair))
                             : Error(format->position, fmt::format("FORMAT is not allowed for {}", pair));
  }
  if (zone != nullptr && !value->type.Is(TypeKind::kTimestamp) && !to.Is(TypeKind::kTimestamp)) {
    return Error(zone->position, fmt::format("AT TIME ZONE is not allowed for {}", pair));
  }
  SONDE_TRY_SET(ExpressionPtr cast, [&]() -> Bound {
    auto made = std::make_unique<Expression>();
    made->kind = Expression::Kind::kCast;
    made->type = to;
    made->cast = kernel;
    made->is_safe = expr.safe;
    made->arguments.push_back(std::move(value));
    return made;
  }());
  for (const Expr* const extra : {format, zone}) {
    if (extra == nullptr) continue;
    SONDE_TRY_SET(ExpressionPtr bound, BindExpression(*extra, site));
    if (!CoercionCost(FactsOf(*bound), TypeKind::kString).has_value()) {
      return Error(extra->position,
                   fmt::format("{} should be a STRING, but is {}",
                               extra == format ? "FORMAT expression" : "AT TIME ZONE expression",
                               bound->type.ToString()));
    }
    SONDE_TRY_SET(bound, Coerce(std::move(bound), TypeKind::kString, extra->position));
    cast->arguments.push_back(std::move(bound));
  }
  return cast;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindExtract(const Expr& expr, const Site& site) {
  std::vector<ExpressionPtr> arguments;
  arguments.push_back(MakeLiteral(Value::String(expr.text)));
  SONDE_TRY_SET(ExpressionPtr value, BindExpression(*expr.children[0], site));
  const ArgumentFacts facts = FactsOf(*value);
  if (!value->type.Is(TypeKind::kDate) && !value->type.Is(TypeKind::kTimestamp) && !facts.is_untyped_null) {
    return Error(expr.position,
                 fmt::format("EXTRACT does not support {}{} arguments",
                             facts.literal.has_value() ? "literal " : "", value->type.ToString()));
  }
  const bool is_date = value->type.Is(TypeKind::kDate);
  arguments.push_back(std::move(value));
  if (expr.children.size() > 1 && expr.children[1] != nullptr) {
    if (is_date) return Error(expr.position, "EXTRACT from DATE does not support AT TIME ZONE");
    SONDE_TRY_SET(ExpressionPtr zone, BindExpression(*expr.children[1], site));
    arguments.push_back(std::move(zone));
  }
  std::string part = expr.text.substr(0, expr.text.find('('));
  static constexpr std::string_view kTimeParts[] = {"HOUR", "MINUTE", "SECOND", "MILLISECOND", "MICROSECOND"};
  static constexpr std::string_view kDateParts[] = {"YEAR",    "ISOYEAR", "QUARTER",   "MONTH",     "WEEK",
                                                    "ISOWEEK", "DAY",     "DAYOFWEEK", "DAYOFYEAR", "DATE"};
  const auto among = [&part](const auto& parts) {
    for (const std::string_view known : parts) {
      if (part == known) return true;
    }
    return false;
  };
  if (!among(kTimeParts) && !among(kDateParts)) {
    return Error(WordFrom(WordFrom(expr.position, "("), expr.text),
                 fmt::format("A valid date part name is required but found {}", expr.text));
  }
  if (is_date && (among(kTimeParts) || part == "DATE")) {
    return Error(expr.position, fmt::format("EXTRACT from DATE does not support the {} date part", part));
  }
  return CallOperator("$extract", "function EXTRACT", std::move(arguments), expr.position);
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
  Type element_type = TypeKind::kInt64;
  if (expr.type != nullptr) {
    SONDE_TRY_SET(const Type type, BindType(*expr.type));
    element_type = type.Is(TypeKind::kArray) ? type.element() : type;
    for (size_t i = 0; i < elements.size(); ++i) {
      if (!CoercionCost(FactsOf(*elements[i]), element_type).has_value()) {
        return Error(positions[i], fmt::format("Array element type {} does not coerce to {}",
                                               ShownType(FactsOf(*elements[i])), element_type.ToString()));
      }
      SONDE_TRY_SET(elements[i], Coerce(std::move(elements[i]), element_type, positions[i]));
    }
  } else if (!elements.empty()) {
    std::vector<std::string> seen;
    for (const ExpressionPtr& element : elements) seen.push_back(ShownType(FactsOf(*element)));
    SONDE_TRY_SET(std::optional<Type> common, CoerceToCommon(&elements, positions));
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
