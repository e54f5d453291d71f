// Calls that are expressions of kinds of their own: what evaluates only some of its arguments, and WRITE_TIMESTAMP.
#include <fmt/format.h>

#include <array>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/function/signature.h"
#include "sql/plan/access.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

struct Conditional {
  std::string_view name;
  Expression::Kind kind;
  size_t least;
  size_t most;
  std::string_view signature;
};

constexpr size_t kAny = 100'000;
constexpr std::array<Conditional, 7> kConditionals = {{
    {"IF", Expression::Kind::kIf, 3, 3, "IF(BOOL, T1, T1)"},
    {"COALESCE", Expression::Kind::kCoalesce, 1, kAny, "COALESCE([T1, ...])"},
    {"IFNULL", Expression::Kind::kCoalesce, 2, 2, "IFNULL(T1, T1)"},
    {"NULLIF", Expression::Kind::kNullIf, 2, 2, "NULLIF(T1, T1)"},
    {"IFERROR", Expression::Kind::kIfError, 2, 2, "IFERROR(T1, T1)"},
    {"ISERROR", Expression::Kind::kIsError, 1, 1, "ISERROR(T1)"},
    {"NULLIFERROR", Expression::Kind::kNullIfError, 1, 1, "NULLIFERROR(T1)"},
}};

const Conditional* FindConditional(std::string_view name) {
  for (const Conditional& conditional : kConditionals) {
    if (conditional.name == name) return &conditional;
  }
  return nullptr;
}

std::string Mismatch(const Conditional& conditional, const std::vector<ArgumentFacts>& facts,
                     std::string_view fault) {
  std::string types;
  for (const ArgumentFacts& fact : facts) types += (types.empty() ? "" : ", ") + ShownType(fact);
  if (types.empty()) types = "(no arguments)";
  return fmt::format("No matching signature for function {}\n  Argument types: {}\n  Signature: {}{}{}",
                     conditional.name, types, conditional.signature, fault.empty() ? "" : "\n    ", fault);
}

std::string SupertypeFault(const std::vector<ArgumentFacts>& facts, size_t from) {
  std::string types;
  for (size_t i = from; i < facts.size(); ++i) types += (types.empty() ? "" : ", ") + ShownType(facts[i]);
  return fmt::format(
      "Unable to find common supertype for templated argument <T1>\n      Input types for <T1>: {{{}}}",
      types);
}

}  // namespace

absl::StatusOr<ExpressionPtr> QueryBinder::BindSpecialCall(const Expr& expr, std::string_view name,
                                                           const Site& site, bool* is_special) {
  const bool is_write_timestamp = name == "WRITE_TIMESTAMP";
  const bool is_grouping = name == "GROUPING";
  *is_special = is_write_timestamp || is_grouping || FindConditional(name) != nullptr;
  if (!*is_special) return ExpressionPtr();
  const Expr::Call& call = *expr.call;
  if (call.over != nullptr) {
    return Error(expr.position, fmt::format("Function {} does not support an OVER clause", name));
  }
  if (call.distinct) {
    return Error(expr.position,
                 fmt::format("Non-aggregate function {} cannot be called with DISTINCT", name));
  }
  if (call.star) return Error(WordFrom(expr.position, "*"), "Argument * can only be used in COUNT(*)");
  if (is_grouping) return BindGroupingCall(expr, site);
  return is_write_timestamp ? BindWriteTimestamp(expr, site) : BindConditional(expr, name, site);
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindConditional(const Expr& expr, std::string_view name,
                                                           const Site& site) {
  const Conditional& conditional = *FindConditional(name);
  std::vector<ExpressionPtr> arguments;
  std::vector<Position> positions;
  std::vector<ArgumentFacts> facts;
  for (const ExprPtr& child : expr.call->arguments) {
    SONDE_TRY_SET(ExpressionPtr argument, BindExpression(*child, site));
    facts.push_back(FactsOf(*argument));
    arguments.push_back(std::move(argument));
    positions.push_back(child->position);
  }
  if (arguments.size() < conditional.least || arguments.size() > conditional.most ||
      !expr.call->named.empty()) {
    return Error(expr.position, Mismatch(conditional, facts, ""));
  }
  auto made = std::make_unique<Expression>();
  made->kind = conditional.kind;
  size_t from = 0;
  if (made->kind == Expression::Kind::kIf) {
    if (!CoercionCost(facts[0], TypeKind::kBool).has_value()) {
      return Error(expr.position,
                   Mismatch(conditional, facts,
                            fmt::format("Argument 1: Unable to coerce type {} to expected type BOOL",
                                        ShownType(facts[0]))));
    }
    SONDE_TRY_SET(ExpressionPtr condition, Coerce(std::move(arguments[0]), TypeKind::kBool, positions[0]));
    made->arguments.push_back(std::move(condition));
    arguments.erase(arguments.begin());
    positions.erase(positions.begin());
    from = 1;
  }
  SONDE_TRY_SET(const std::optional<Type> common, CoerceToCommon(&arguments, positions));
  if (!common.has_value())
    return Error(expr.position, Mismatch(conditional, facts, SupertypeFault(facts, from)));
  made->type = made->kind == Expression::Kind::kIsError ? Type(TypeKind::kBool) : *common;
  if (made->kind == Expression::Kind::kNullIf) {
    SONDE_TRY_SET(made->equal, EqualKernel(*common, expr.position));
  }
  for (ExpressionPtr& argument : arguments) made->arguments.push_back(std::move(argument));
  return made;
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindWriteTimestamp(const Expr& expr, const Site& site) {
  const Expr::Call& call = *expr.call;
  if (call.arguments.size() != 2 || !call.named.empty()) {
    return Error(expr.position,
                 "No matching signature for function WRITE_TIMESTAMP\n  Signature: WRITE_TIMESTAMP(column "
                 "family, BYTES)");
  }
  SONDE_TRY_SET(ExpressionPtr family, BindExpression(*call.arguments[0], site));
  SONDE_TRY_SET(ExpressionPtr qualifier, BindExpression(*call.arguments[1], site));
  const bool is_column = family->kind == Expression::Kind::kColumn && family->type.Is(TypeKind::kMap);
  if (!is_column) {
    return Error(call.arguments[0]->position,
                 "The first argument of WRITE_TIMESTAMP must be a column family of a table");
  }
  if (qualifier->kind != Expression::Kind::kLiteral || qualifier->value.is_null() ||
      !CoercionCost(FactsOf(*qualifier), TypeKind::kBytes).has_value()) {
    return Error(call.arguments[1]->position,
                 "The second argument of WRITE_TIMESTAMP must be a literal qualifier");
  }
  SONDE_TRY_SET(qualifier, Coerce(std::move(qualifier), TypeKind::kBytes, call.arguments[1]->position));
  return MakeWriteTimestamp(std::move(family), std::move(qualifier));
}

}  // namespace sonde::sql
