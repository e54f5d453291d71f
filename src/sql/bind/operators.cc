// Operators: what they are called among the functions, and AND and OR.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/function/function.h"
#include "sql/library/library.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

struct Operator {
  std::string_view text;
  std::string_view function;
};

constexpr Operator kBinary[] = {
    {"+", "$add"},          {"-", "$subtract"},
    {"*", "$multiply"},     {"/", "$divide"},
    {"||", "$concat"},      {"<<", "$shift_left"},
    {">>", "$shift_right"}, {"&", "$bitwise_and"},
    {"|", "$bitwise_or"},   {"^", "$bitwise_xor"},
    {"=", "$equal"},        {"!=", "$not_equal"},
    {"<", "$less"},         {"<=", "$less_or_equal"},
    {">", "$greater"},      {">=", "$greater_or_equal"},
    {"LIKE", "$like"},      {"IS DISTINCT FROM", "$is_distinct"},
};

std::string_view FunctionOf(std::string_view text) {
  for (const Operator& known : kBinary) {
    if (known.text == text) return known.function;
  }
  return "";
}

}  // namespace

absl::StatusOr<ExpressionPtr> QueryBinder::CallOperator(std::string_view name, std::string_view shown,
                                                        std::vector<ExpressionPtr> arguments,
                                                        Position position,
                                                        const std::vector<ExprPtr>* places) {
  const Function* const function = FindFunction(name);
  if (function == nullptr) {
    return absl::UnimplementedError(fmt::format("{} is not built", shown));
  }
  std::vector<ArgumentFacts> facts;
  for (const ExpressionPtr& argument : arguments) facts.push_back(FactsOf(*argument));
  if (name == "$extract") {
    facts[0] = {};
    facts[0].kind = ArgumentFacts::Kind::kPart;
  }
  const std::optional<ChosenOverload> chosen = ChooseOverload(*function, facts);
  if (!chosen.has_value()) return Error(position, NoSignatureText(shown, *function, facts));
  auto call = std::make_unique<Expression>();
  call->kind = Expression::Kind::kCall;
  call->type = chosen->match.result;
  call->function = function;
  call->overload = chosen->overload;
  call->is_volatile = function->is_volatile;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (facts[i].kind == ArgumentFacts::Kind::kValue) {
      const Position place = places == nullptr || i >= places->size() ? position : (*places)[i]->position;
      SONDE_TRY_SET(arguments[i], Coerce(std::move(arguments[i]), chosen->match.argument_types[i], place));
    }
    call->arguments.push_back(std::move(arguments[i]));
  }
  return call;
}

absl::StatusOr<Kernel> QueryBinder::EqualKernel(const Type& type, Position position) {
  std::vector<ExpressionPtr> sides;
  sides.push_back(MakeColumn(0, type));
  sides.push_back(MakeColumn(0, type));
  SONDE_TRY_SET(const ExpressionPtr equal, CallOperator("$equal", "operator =", std::move(sides), position));
  return equal->overload->kernel;
}

absl::StatusOr<ExpressionPtr> QueryBinder::Negate(ExpressionPtr value, bool negated, Position position) {
  if (!negated) return value;
  std::vector<ExpressionPtr> arguments;
  arguments.push_back(std::move(value));
  return CallOperator("$not", "operator NOT", std::move(arguments), position);
}

absl::Status QueryBinder::RefuseNull(std::string_view shown, const Expr& operand,
                                     const Expression& bound) const {
  if (!IsUntypedNull(bound)) return absl::OkStatus();
  return Error(operand.position, fmt::format("Operands of {} cannot be literal NULL", shown));
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindUnary(const Expr& expr, const Site& site) {
  const Expr& operand = *expr.children[0];
  // A literal in parentheses keeps its own value: -(1) is no literal.
  const bool is_number = !operand.parenthesized && expr.text == "-";
  if (is_number && operand.kind == Expr::Kind::kInt) return BindInteger(operand, true, expr.position);
  SONDE_TRY_SET(ExpressionPtr value, BindExpression(operand, site));
  SONDE_TRY(RefuseNull(expr.text, operand, *value));
  if (expr.text == "+") {
    if (value->type.IsNumeric()) return value;
    return Error(expr.position, fmt::format("No matching signature for operator +\n  Argument types: {}",
                                            value->type.ToString()));
  }
  if (is_number && operand.kind == Expr::Kind::kFloat) {
    ExpressionPtr literal = MakeLiteral(Value::Double(-value->value.datum().number));
    literal->written = Expression::Written::kLiteral;
    return literal;
  }
  const std::string_view function = expr.text == "-"   ? "$unary_minus"
                                    : expr.text == "~" ? "$bitwise_not"
                                                       : "$not";
  std::vector<ExpressionPtr> arguments;
  arguments.push_back(std::move(value));
  return CallOperator(function, fmt::format("operator {}", expr.text), std::move(arguments), expr.position);
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindAndOr(const Expr& expr, const Site& site) {
  auto both = std::make_unique<Expression>();
  both->kind = expr.text == "AND" ? Expression::Kind::kAnd : Expression::Kind::kOr;
  both->type = TypeKind::kBool;
  std::vector<ArgumentFacts> facts;
  for (const ExprPtr& child : expr.children) {
    SONDE_TRY_SET(ExpressionPtr operand, BindExpression(*child, site));
    facts.push_back(FactsOf(*operand));
    both->arguments.push_back(std::move(operand));
  }
  for (size_t i = 0; i < facts.size(); ++i) {
    if (!CoercionCost(facts[i], TypeKind::kBool).has_value()) {
      std::string types;
      for (const ArgumentFacts& fact : facts) types += (types.empty() ? "" : ", ") + ShownType(fact);
      return Error(
          expr.position,
          fmt::format("No matching signature for operator {0}\n  Argument types: {1}\n  Signature: BOOL {0} "
                      "([BOOL, ...])\n    Argument {2}: Unable to coerce type {3} to expected type BOOL",
                      expr.text, types, i + 1, ShownType(facts[i])));
    }
    SONDE_TRY_SET(both->arguments[i],
                  Coerce(std::move(both->arguments[i]), TypeKind::kBool, expr.children[i]->position));
  }
  return both;
}

absl::Status QueryBinder::CheckBitwise(const Expr& expr, const Expression& left,
                                       const Expression& right) const {
  const auto has_bits = [](const Expression& operand) {
    return operand.type.Is(TypeKind::kInt64) || operand.type.Is(TypeKind::kBytes) || IsUntypedNull(operand);
  };
  if (expr.text == "<<" || expr.text == ">>") {
    if (has_bits(left)) return absl::OkStatus();
    return Error(
        WordBefore(expr.children[1]->position, expr.text),
        fmt::format("The first argument to bitwise operator {} must be an integer or BYTES but saw {}",
                    expr.text, ShownType(FactsOf(left))));
  }
  if (has_bits(left) && left.type == right.type) return absl::OkStatus();
  return Error(expr.position,
               fmt::format("Bitwise operator {} requires two integer/BYTES arguments of the same "
                           "type, but saw {} and {}",
                           expr.text, ShownType(FactsOf(left)), ShownType(FactsOf(right))));
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindBinary(const Expr& expr, const Site& site) {
  if (expr.text == "AND" || expr.text == "OR") return BindAndOr(expr, site);
  if ((expr.text == "+" || expr.text == "-") &&
      (expr.children[0]->kind == Expr::Kind::kInterval || expr.children[1]->kind == Expr::Kind::kInterval)) {
    return BindIntervalOperator(expr, site);
  }
  const bool takes_null = expr.text == "IS DISTINCT FROM" || expr.text == "<<" || expr.text == ">>";
  std::vector<ExpressionPtr> arguments;
  for (const ExprPtr& child : expr.children) {
    SONDE_TRY_SET(ExpressionPtr operand, BindExpression(*child, site));
    arguments.push_back(std::move(operand));
  }
  // Errors of the operands come first.
  for (size_t i = 0; i < arguments.size() && !takes_null; ++i)
    SONDE_TRY(RefuseNull(expr.text, *expr.children[i], *arguments[i]));
  if (expr.text == "||") SONDE_TRY(CastToTexts({&arguments[0], &arguments[1]}, expr.position));
  static constexpr std::string_view kBitwise[] = {"<<", ">>", "&", "|", "^"};
  if (std::find(std::begin(kBitwise), std::end(kBitwise), expr.text) != std::end(kBitwise)) {
    SONDE_TRY(CheckBitwise(expr, *arguments[0], *arguments[1]));
  }
  if (expr.text == "LIKE") CheckLikePattern(*arguments[1]);
  const std::string_view function = FunctionOf(expr.text);
  if (function.empty()) return absl::UnimplementedError(fmt::format("Operator {} is not built", expr.text));
  SONDE_TRY_SET(ExpressionPtr call, CallOperator(function, fmt::format("operator {}", expr.text),
                                                 std::move(arguments), expr.position, &expr.children));
  return Negate(std::move(call), expr.negated, expr.position);
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindIs(const Expr& expr, const Site& site) {
  SONDE_TRY_SET(ExpressionPtr value, BindExpression(*expr.children[0], site));
  const std::string_view function = expr.text == "NULL"   ? "$is_null"
                                    : expr.text == "TRUE" ? "$is_true"
                                                          : "$is_false";
  std::vector<ExpressionPtr> arguments;
  arguments.push_back(std::move(value));
  SONDE_TRY_SET(ExpressionPtr call, CallOperator(function, fmt::format("operator IS {}", expr.text),
                                                 std::move(arguments), expr.position, &expr.children));
  return Negate(std::move(call), expr.negated, expr.position);
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindBetween(const Expr& expr, const Site& site) {
  std::vector<ExpressionPtr> arguments;
  for (const ExprPtr& child : expr.children) {
    SONDE_TRY_SET(ExpressionPtr operand, BindExpression(*child, site));
    arguments.push_back(std::move(operand));
  }
  SONDE_TRY_SET(ExpressionPtr call, CallOperator("$between", "operator BETWEEN", std::move(arguments),
                                                 expr.position, &expr.children));
  return Negate(std::move(call), expr.negated, expr.position);
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindIn(const Expr& expr, const Site& site) {
  std::vector<ExpressionPtr> arguments;
  for (const ExprPtr& child : expr.children) {
    SONDE_TRY_SET(ExpressionPtr operand, BindExpression(*child, site));
    arguments.push_back(std::move(operand));
  }
  const bool in_array = expr.kind == Expr::Kind::kInUnnest;
  if (in_array && !arguments[1]->type.Is(TypeKind::kArray) && !IsUntypedNull(*arguments[1])) {
    return Error(expr.position, fmt::format("Second argument of IN UNNEST must be an array but was {}",
                                            arguments[1]->type.ToString()));
  }
  std::vector<ArgumentFacts> facts;
  for (const ExpressionPtr& argument : arguments) facts.push_back(FactsOf(*argument));
  const std::string_view name = in_array ? "$in_array" : "$in";
  const Function* const function = FindFunction(name);
  if (function != nullptr && !ChooseOverload(*function, facts).has_value()) {
    std::string text;
    if (in_array) {
      text = fmt::format("No matching signature for operator IN UNNEST for argument types: {}, {}",
                         ShownType(facts[0]), ShownType(facts[1]));
    } else {
      std::string set;
      std::vector<std::string> seen;
      for (size_t i = 1; i < facts.size(); ++i) {
        const std::string type = ShownType(facts[i]);
        if (std::find(seen.begin(), seen.end(), type) != seen.end()) continue;
        seen.push_back(type);
        set += (set.empty() ? "" : ", ") + type;
      }
      const Expr::Kind kind = expr.children[0]->kind;
      const bool is_bare_literal =
          facts[0].literal.has_value() && kind != Expr::Kind::kDate && kind != Expr::Kind::kTimestamp;
      text = fmt::format("No matching signature for operator IN for argument types {}{} and {{{}}}",
                         is_bare_literal ? "literal " : "", ShownType(facts[0]), set);
    }
    return Error(WordFrom(expr.children[0]->position, expr.negated ? "NOT IN" : "IN"), text);
  }
  SONDE_TRY_SET(ExpressionPtr call, CallOperator(name, in_array ? "operator IN UNNEST" : "operator IN",
                                                 std::move(arguments), expr.position, &expr.children));
  return Negate(std::move(call), expr.negated, expr.position);
}

}  // namespace sonde::sql
