// Values as values of another type, where GoogleSQL does it without a CAST.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/cast/cast.h"
#include "sql/function/signature.h"
#include "sql/plan/constant.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {

ArgumentFacts FactsOf(const Expression& expression) {
  ArgumentFacts facts;
  facts.type = expression.type;
  facts.is_parameter = expression.kind == Expression::Kind::kParameter;
  if (expression.kind == Expression::Kind::kLiteral) {
    facts.is_untyped_null = expression.written == Expression::Written::kUntyped;
    if (expression.written == Expression::Written::kLiteral) facts.literal = expression.value;
  }
  if (expression.kind == Expression::Kind::kStruct) {
    for (const ExpressionPtr& field : expression.arguments) facts.fields.push_back(FactsOf(*field));
  }
  return facts;
}

bool IsUntypedNull(const Expression& expression) {
  return expression.kind == Expression::Kind::kLiteral &&
         expression.written == Expression::Written::kUntyped && expression.value.is_null();
}

bool ReadsColumnsIn(const Expression& expression, size_t from, size_t to) {
  for (const size_t column : ReferencesOf(expression)) {
    if (column >= from && column < to) return true;
  }
  return false;
}

ExpressionPtr FieldOf(ExpressionPtr value, size_t field) {
  auto access = std::make_unique<Expression>();
  access->kind = Expression::Kind::kField;
  access->type = value->type.fields()[field].type;
  access->index = field;
  access->arguments.push_back(std::move(value));
  return access;
}

namespace {

// A literal as one of `to`.  A NULL inside becomes one of whatever type stands there.
absl::StatusOr<Value> CastLiteral(const Value& value, const Type& to) {
  if (value.is_null()) return Value::Null(to);
  const bool is_struct = value.type().Is(TypeKind::kStruct) && to.Is(TypeKind::kStruct) &&
                         value.type().fields().size() == to.fields().size();
  const bool is_array = value.type().Is(TypeKind::kArray) && to.Is(TypeKind::kArray);
  if (!is_struct && !is_array) return CastValue(value, to);
  std::vector<Value> items;
  for (size_t i = 0; i < value.datum().size; ++i) {
    const Type& from = is_struct ? value.type().fields()[i].type : value.type().element();
    SONDE_TRY_SET(Value item, CastLiteral(Value(from, value.datum().items[i]),
                                          is_struct ? to.fields()[i].type : to.element()));
    items.push_back(std::move(item));
  }
  return is_struct ? Value::Struct(to, items) : Value::Array(to.element(), items);
}

}  // namespace

absl::StatusOr<ExpressionPtr> QueryBinder::Coerce(ExpressionPtr value, const Type& to, Position position) {
  if (value->kind == Expression::Kind::kLiteral && value->written == Expression::Written::kUntyped) {
    Value typed =
        value->value.is_null() || !to.Is(TypeKind::kArray) ? Value::Null(to) : Value::Array(to.element(), {});
    ExpressionPtr literal = MakeLiteral(std::move(typed));
    if (to == value->type) literal->written = Expression::Written::kUntyped;
    return literal;
  }
  if (value->type == to) return value;
  if (value->kind == Expression::Kind::kLiteral) {
    absl::StatusOr<Value> cast = CastLiteral(value->value, to);
    if (!cast.ok()) {
      return Error(position,
                   fmt::format("Could not cast literal {} to type {}", value->value.ToSql(), to.ToString()));
    }
    return MakeLiteral(*std::move(cast));
  }
  const bool is_made_here = value->kind == Expression::Kind::kStruct && to.Is(TypeKind::kStruct) &&
                            value->arguments.size() == to.fields().size();
  if (!is_made_here) return MakeCast(std::move(value), to, /*is_safe=*/false, position);
  for (size_t i = 0; i < value->arguments.size(); ++i) {
    SONDE_TRY_SET(value->arguments[i], Coerce(std::move(value->arguments[i]), to.fields()[i].type, position));
  }
  value->type = to;
  return value;
}

absl::StatusOr<std::optional<Type>> QueryBinder::CoerceToCommon(std::vector<ExpressionPtr>* values,
                                                                const std::vector<Position>& positions) {
  std::vector<ArgumentFacts> facts;
  for (const ExpressionPtr& value : *values) facts.push_back(FactsOf(*value));
  std::optional<Type> common = CommonSupertype(facts);
  if (!common.has_value()) return common;
  for (size_t i = 0; i < values->size(); ++i) {
    SONDE_TRY_SET((*values)[i], Coerce(std::move((*values)[i]), *common, positions[i]));
  }
  return common;
}

std::string ShownType(const ArgumentFacts& facts) {
  switch (facts.kind) {
    case ArgumentFacts::Kind::kPart:
      return "DATE_TIME_PART";
    case ArgumentFacts::Kind::kInterval:
      return "INTERVAL";
    case ArgumentFacts::Kind::kLambda:
      return "LAMBDA";
    case ArgumentFacts::Kind::kValue:
      break;
  }
  if (facts.is_untyped_null && !facts.type.Is(TypeKind::kArray)) return "NULL";
  return facts.type.ToString();
}

namespace {

std::string ShownTypes(absl::Span<const ArgumentFacts> arguments) {
  std::string text;
  for (const ArgumentFacts& argument : arguments) {
    if (!text.empty()) text += ", ";
    text += ShownType(argument);
  }
  return text;
}

std::string CountOf(size_t count) { return fmt::format("{} argument{}", count, count == 1 ? "" : "s"); }

// Why a signature does not take so many arguments; empty: it does.
std::string CountFault(const Signature& signature, size_t count) {
  size_t least = 0;
  bool repeats = false;
  for (const Signature::Argument& argument : signature.arguments()) {
    if (argument.repeats) {
      repeats = true;
    } else if (!argument.is_optional) {
      ++least;
    }
  }
  const size_t most = signature.arguments().size();
  if (count < least) {
    return fmt::format("Signature requires at least {}, found {}", CountOf(least), CountOf(count));
  }
  if (!repeats && count > most) {
    return fmt::format("Signature accepts at most {}, found {}", CountOf(most), CountOf(count));
  }
  return "";
}

// Why a signature does not take these arguments, as far as that is simple; empty: it is not.
std::string Fault(const Signature& signature, absl::Span<const ArgumentFacts> arguments) {
  std::string fault = CountFault(signature, arguments.size());
  if (!fault.empty()) return fault;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const size_t place = std::min(i, signature.arguments().size() - 1);
    const Signature::Argument& wanted = signature.arguments()[place];
    if (wanted.kind != ArgumentFacts::Kind::kValue || arguments[i].kind != ArgumentFacts::Kind::kValue)
      continue;
    if (wanted.type.kind != TypePattern::Kind::kExact) continue;
    if (CoercionCost(arguments[i], wanted.type.type).has_value()) continue;
    return fmt::format("Argument {}: Unable to coerce type {} to expected type {}", i + 1,
                       ShownType(arguments[i]), wanted.type.type.ToString());
  }
  return "";
}

// The part of a signature between its parentheses.
std::string ArgumentsOf(const Signature& signature) {
  const std::string& text = signature.text();
  const size_t arrow = text.rfind("->");
  std::string inside = text.substr(0, arrow);
  while (!inside.empty() && inside.back() == ' ') inside.pop_back();
  return inside;
}

}  // namespace

std::string NoSignatureText(std::string_view shown, const Function& function,
                            absl::Span<const ArgumentFacts> arguments) {
  std::string text = fmt::format("No matching signature for {}", shown);
  const bool is_comparison =
      shown.starts_with("operator ") &&
      (shown.find('=') != std::string_view::npos || shown == "operator <" || shown == "operator >");
  const std::string types = ShownTypes(arguments);
  if (is_comparison) {
    text += " for argument types: " + types;
    return text;
  }
  text += types.empty() ? "\n  Argument types: (no arguments)" : "\n  Argument types: " + types;
  if (function.name.starts_with("$")) return text;
  for (const Overload& overload : function.overloads) {
    text += fmt::format("\n  Signature: {}{}", function.name, ArgumentsOf(overload.signature));
    const std::string fault = Fault(overload.signature, arguments);
    if (!fault.empty()) text += "\n    " + fault;
  }
  return text;
}

}  // namespace sonde::sql
