// Calls of functions of one row: which function, which overload, and the arguments as its kernel takes them.
#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "sql/bind/query_binder.h"
#include "sql/function/function.h"
#include "sql/library/library.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"
#include "sql/syntax/syntax_error.h"

namespace sonde::sql {
namespace {

std::string Joined(const std::vector<std::string>& parts, size_t from) {
  std::string name;
  for (size_t i = from; i < parts.size(); ++i) name += (name.empty() ? "" : ".") + parts[i];
  return name;
}

// Whether an overload of the function takes such an argument at a place.
bool Takes(const Function& function, size_t place, ArgumentFacts::Kind kind) {
  return std::any_of(function.overloads.begin(), function.overloads.end(), [&](const Overload& overload) {
    const std::vector<Signature::Argument>& arguments = overload.signature.arguments();
    if (arguments.empty() || (place >= arguments.size() && !arguments.back().repeats)) return false;
    return arguments[std::min(place, arguments.size() - 1)].kind == kind;
  });
}

// The text of a part: MONTH, or WEEK(MONDAY); empty: the expression is none.
std::string PartOf(const Expr& expr) {
  if (expr.kind == Expr::Kind::kName) return absl::AsciiStrToUpper(expr.text);
  if (expr.kind != Expr::Kind::kCall || expr.call->name.parts.size() != 1 || expr.call->arguments.size() != 1)
    return "";
  const Expr& day = *expr.call->arguments[0];
  if (day.kind != Expr::Kind::kName) return "";
  return absl::AsciiStrToUpper(expr.call->name.parts[0]) + "(" + absl::AsciiStrToUpper(day.text) + ")";
}

bool IsDatePart(std::string_view part) {
  static constexpr std::string_view kParts[] = {
      "YEAR",        "ISOYEAR",     "QUARTER",    "MONTH", "WEEK",     "ISOWEEK",
      "DAY",         "DAYOFWEEK",   "DAYOFYEAR",  "HOUR",  "MINUTE",   "SECOND",
      "MILLISECOND", "MICROSECOND", "NANOSECOND", "DATE",  "DATETIME", "TIME"};
  const std::string_view word = part.substr(0, part.find('('));
  return std::find(std::begin(kParts), std::end(kParts), word) != std::end(kParts);
}

// Other databases' names for parts of what GAP_FILL does.
bool IsOfGapFill(const std::string& name) {
  return absl::EqualsIgnoreCase(name, "LOCF") || absl::EqualsIgnoreCase(name, "INTERPOLATE") ||
         absl::EqualsIgnoreCase(name, "TIME_BUCKET_GAPFILL");
}

}  // namespace

absl::StatusOr<ExpressionPtr> QueryBinder::BindCall(const Expr& expr, const Site& site) {
  const Expr::Call& call = *expr.call;
  const bool is_safe = call.name.parts.size() > 1 && call.name.parts[0] == "SAFE";
  const std::string name = Joined(call.name.parts, is_safe ? 1 : 0);
  bool is_special = false;
  Bound special = BindSpecialCall(expr, name, site, &is_special);
  if (is_special) return special;
  const Function* const function = FindFunction(name);
  if (function == nullptr && IsOfGapFill(name) && options_.dialect == Dialect::kSonde) {
    return ErrorAt(
        text_, expr.position,
        absl::UnimplementedError(fmt::format("Function {} is not built: GAP_FILL fills gaps", name)));
  }
  if (function == nullptr || name.starts_with("$")) {
    return Error(expr.position, fmt::format("Function not found: {}", name));
  }
  if (function->kind == Function::Kind::kNotBuilt) {
    return absl::UnimplementedError(fmt::format("Function {} is not built", name));
  }
  if (function->IsExtension()) SONDE_TRY(RequireExtension(expr.position, name));
  if (call.star && name != "COUNT")
    return Error(WordFrom(expr.position, "*"), "Argument * can only be used in COUNT(*)");
  if (call.over != nullptr) {
    if (function->kind == Function::Kind::kScalar) {
      return Error(expr.position, fmt::format("Function {} does not support an OVER clause", name));
    }
    return BindWindowCall(expr, *function, site);
  }
  if (function->kind == Function::Kind::kWindow && !function->IsAlsoAggregate()) {
    return Error(expr.position,
                 fmt::format("Analytic function {} cannot be called without an OVER clause", name));
  }
  if (function->kind != Function::Kind::kScalar) return BindAggregateCall(expr, *function, site);
  return BindScalarCall(expr, *function, is_safe, site);
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindScalarCall(const Expr& expr, const Function& function,
                                                          bool is_safe, const Site& site) {
  const Expr::Call& call = *expr.call;
  if (call.distinct) {
    return Error(expr.position,
                 fmt::format("Non-aggregate function {} cannot be called with DISTINCT", function.name));
  }
  if (!call.order_by.empty()) {
    return Error(WordBefore(call.order_by[0].expr->position, "ORDER"),
                 "ORDER BY in arguments is not supported on scalar functions");
  }
  if (call.limit != nullptr) {
    return Error(WordBefore(call.limit->position, "LIMIT"),
                 "LIMIT in arguments is not supported on scalar functions");
  }
  if (call.nulls != Expr::Call::Nulls::kUnsaid) {
    return Error(expr.position, "IGNORE NULLS and RESPECT NULLS are not supported on scalar functions");
  }
  if (call.having_max != nullptr || call.having_min != nullptr) {
    return Error(expr.position, "HAVING modifier is not supported on scalar functions");
  }
  SONDE_TRY_SET(std::vector<CallArgument> arguments, BindArguments(expr, function, site));
  if (function.name == "CONCAT") SONDE_TRY(CastArgumentsToTexts(&arguments, expr.position));
  SONDE_TRY_SET(const ChosenOverload chosen, Choose(expr, function, &arguments, site));
  SONDE_TRY(CheckParts(expr, function, chosen, arguments));
  SONDE_TRY(CheckArguments(expr, function, chosen, arguments));
  auto made = std::make_unique<Expression>();
  made->kind = Expression::Kind::kCall;
  made->type = chosen.match.result;
  made->function = &function;
  made->overload = chosen.overload;
  made->is_safe = is_safe;
  made->is_volatile = function.is_volatile;
  SONDE_TRY_SET(made->arguments, FinishArguments(chosen, std::move(arguments), site));
  return made;
}

absl::StatusOr<CallArgument> QueryBinder::BindArgument(const Expr& expr, const Function& function,
                                                       size_t place, const Site& site) {
  CallArgument argument;
  argument.expr = &expr;
  if (expr.kind == Expr::Kind::kLambda) {
    argument.facts.kind = ArgumentFacts::Kind::kLambda;
    argument.facts.lambda_parameters = expr.names.size();
    return argument;
  }
  if (expr.kind == Expr::Kind::kInterval) {
    argument.facts.kind = ArgumentFacts::Kind::kInterval;
    argument.part = expr.text;
    if (!IsDatePart(argument.part)) {
      return Error(WordFrom(expr.children[0]->position, expr.text),
                   fmt::format("A valid date part name is required but found {}", expr.text));
    }
    SONDE_TRY_SET(argument.bound, BindExpression(*expr.children[0], site));
    const ArgumentFacts facts = FactsOf(*argument.bound);
    const bool is_text = facts.literal.has_value() && argument.bound->type.Is(TypeKind::kString);
    if (!is_text && !CoercionCost(facts, TypeKind::kInt64).has_value()) {
      return Error(
          expr.children[0]->position,
          fmt::format("Interval value must be coercible to INT64 type, but has type {}", ShownType(facts)));
    }
    SONDE_TRY_SET(argument.bound,
                  Coerce(std::move(argument.bound), TypeKind::kInt64, expr.children[0]->position));
    argument.facts.type = TypeKind::kInt64;
    return argument;
  }
  std::string part = PartOf(expr);
  if (!part.empty() && Takes(function, place, ArgumentFacts::Kind::kPart)) {
    if (!function.name.starts_with("NORMALIZE") && !IsDatePart(part)) {
      return Error(expr.position, fmt::format("A valid date part name is required but found {}",
                                              expr.kind == Expr::Kind::kName ? expr.text : part));
    }
    argument.facts.kind = ArgumentFacts::Kind::kPart;
    argument.facts.type = TypeKind::kString;
    argument.part = std::move(part);
    return argument;
  }
  const bool wants_interval = Takes(function, place, ArgumentFacts::Kind::kInterval) &&
                              !Takes(function, place, ArgumentFacts::Kind::kValue);
  if (wants_interval) return Error(expr.position, "Expected INTERVAL expression");
  SONDE_TRY_SET(argument.bound, BindExpression(expr, site));
  argument.facts = FactsOf(*argument.bound);
  return argument;
}

absl::StatusOr<std::vector<CallArgument>> QueryBinder::BindArguments(const Expr& expr,
                                                                     const Function& function,
                                                                     const Site& site) {
  std::vector<CallArgument> arguments;
  for (const ExprPtr& child : expr.call->arguments) {
    SONDE_TRY_SET(CallArgument argument, BindArgument(*child, function, arguments.size(), site));
    arguments.push_back(std::move(argument));
  }
  if (!expr.call->named.empty()) SONDE_TRY(PlaceNamedArguments(expr, function, &arguments, site));
  return arguments;
}

absl::Status QueryBinder::PlaceNamedArguments(const Expr& expr, const Function& function,
                                              std::vector<CallArgument>* arguments, const Site& site) {
  const std::vector<NamedArgument>& named = expr.call->named;
  for (const Overload& overload : function.overloads) {
    const std::vector<Signature::Argument>& wanted = overload.signature.arguments();
    std::vector<const NamedArgument*> places;
    for (size_t place = arguments->size(); place < wanted.size(); ++place) {
      const auto found = std::find_if(named.begin(), named.end(), [&](const NamedArgument& argument) {
        return SameName(argument.name, wanted[place].name);
      });
      if (found == named.end()) break;
      places.push_back(&*found);
    }
    if (places.size() != named.size()) continue;
    for (const NamedArgument* const argument : places) {
      SONDE_TRY_SET(CallArgument bound, BindArgument(*argument->value, function, arguments->size(), site));
      arguments->push_back(std::move(bound));
    }
    return absl::OkStatus();
  }
  std::vector<ArgumentFacts> facts;
  for (const CallArgument& argument : *arguments) facts.push_back(argument.facts);
  std::string text = NoSignatureText(fmt::format("function {}", function.name), function, facts);
  text += fmt::format("\n    Named argument `{}` does not exist in signature", named.front().name);
  return Error(expr.position, text);
}

absl::StatusOr<ChosenOverload> QueryBinder::Choose(const Expr& expr, const Function& function,
                                                   std::vector<CallArgument>* arguments, const Site& site) {
  std::vector<ArgumentFacts> facts;
  for (const CallArgument& argument : *arguments) facts.push_back(argument.facts);
  absl::Status lambda_error;
  const auto lambda_result = [&](size_t index, absl::Span<const Type> parameters) -> std::optional<Type> {
    const Expr& lambda = *(*arguments)[index].expr;
    const Bound bound = BindLambda(lambda, {parameters.begin(), parameters.end()}, site);
    if (!bound.ok()) {
      lambda_error = bound.status();
      return std::nullopt;
    }
    return (*bound)->arguments[0]->type;
  };
  const bool has_over = expr.kind == Expr::Kind::kCall && expr.call->over != nullptr;
  const bool has_names = expr.kind == Expr::Kind::kCall && !expr.call->named.empty();
  std::optional<ChosenOverload> chosen =
      ChooseOverload(function, facts, lambda_result, {has_over, has_names});
  if (chosen.has_value()) {
    if (chosen->overload->is_extension) {
      SONDE_TRY(RequireExtension(expr.position, fmt::format("this form of {}", function.name)));
    }
    return *std::move(chosen);
  }
  if (!lambda_error.ok()) return lambda_error;
  const std::string_view what = function.kind == Function::Kind::kAggregate ? "aggregate function"
                                : function.kind == Function::Kind::kWindow  ? "analytic function"
                                                                            : "function";
  return Error(expr.position, NoSignatureText(fmt::format("{} {}", what, function.name), function, facts));
}

absl::StatusOr<std::vector<ExpressionPtr>> QueryBinder::FinishArguments(const ChosenOverload& chosen,
                                                                        std::vector<CallArgument> arguments,
                                                                        const Site& site) {
  std::vector<ExpressionPtr> finished;
  for (size_t i = 0; i < arguments.size(); ++i) {
    CallArgument& argument = arguments[i];
    const Type& wanted = chosen.match.argument_types[i];
    switch (argument.facts.kind) {
      case ArgumentFacts::Kind::kPart:
        finished.push_back(MakeLiteral(Value::String(argument.part)));
        break;
      case ArgumentFacts::Kind::kInterval:
        finished.push_back(std::move(argument.bound));
        finished.push_back(MakeLiteral(Value::String(argument.part)));
        break;
      case ArgumentFacts::Kind::kLambda: {
        SONDE_TRY_SET(ExpressionPtr lambda,
                      BindLambda(*argument.expr, chosen.match.lambda_parameters[i], site));
        SONDE_TRY_SET(lambda->arguments[0],
                      Coerce(std::move(lambda->arguments[0]), wanted, argument.expr->children[0]->position));
        lambda->type = wanted;
        finished.push_back(std::move(lambda));
        break;
      }
      case ArgumentFacts::Kind::kValue: {
        SONDE_TRY_SET(ExpressionPtr value,
                      Coerce(std::move(argument.bound), wanted, argument.expr->position));
        finished.push_back(std::move(value));
        break;
      }
    }
  }
  return finished;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindLambda(const Expr& expr, const std::vector<Type>& parameters,
                                                      const Site& site) {
  NameList names;
  auto lambda = std::make_unique<Expression>();
  lambda->kind = Expression::Kind::kLambda;
  lambda->index = kLambdaBase + next_lambda_;
  lambda->count = parameters.size();
  for (size_t i = 0; i < parameters.size(); ++i) {
    for (const NamedColumn& other : names.columns) {
      if (SameName(other.name, expr.names[i])) {
        return Error(expr.position,
                     fmt::format("Lambda argument name `{}` is already defined", expr.names[i]));
      }
    }
    names.columns.push_back({expr.names[i], kLambdaBase + next_lambda_++, parameters[i]});
  }
  Scope scope;
  scope.names = &names;
  scope.outer = site.scope;
  Site inside = site;
  inside.scope = &scope;
  inside.aggregates = nullptr;
  inside.windows = nullptr;
  inside.clause = "lambda body";
  SONDE_TRY_SET(ExpressionPtr body, BindExpression(*expr.children[0], inside));
  lambda->type = body->type;
  lambda->arguments.push_back(std::move(body));
  return lambda;
}

}  // namespace sonde::sql
