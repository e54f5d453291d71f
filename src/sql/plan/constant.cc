#include "sql/plan/constant.h"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "base/arena.h"
#include "rows/batch.h"
#include "sql/cast/cast.h"

namespace sonde::sql {
namespace {

// Larger results are made anew each time, and not kept in the plan.
constexpr size_t kFoldedItemsMax = 10'000;

bool IsFoldable(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::kCall:
    case Expression::Kind::kCast:
    case Expression::Kind::kAnd:
    case Expression::Kind::kOr:
    case Expression::Kind::kIf:
    case Expression::Kind::kCase:
    case Expression::Kind::kCoalesce:
    case Expression::Kind::kNullIf:
    case Expression::Kind::kArray:
    case Expression::Kind::kStruct:
    case Expression::Kind::kField:
      break;
    default:
      return false;
  }
  // What reads the clock is the same for a statement, but not for a plan.
  for (const ExpressionPtr& argument : expression.arguments) {
    if (argument == nullptr || argument->kind != Expression::Kind::kLiteral) return false;
  }
  return !expression.is_volatile && IsConstant(expression);
}

bool ReadsTheStatement(const Expression& expression) {
  if (expression.kind != Expression::Kind::kCall || expression.function == nullptr) return false;
  const std::string& name = expression.function->name;
  return expression.function->is_volatile || name.starts_with("CURRENT_") || name == "VIEW_PARAMETERS";
}

}  // namespace

absl::StatusOr<Value> CastValue(const Value& value, const Type& to) {
  if (value.type() == to) return value;
  if (value.is_null()) return Value::Null(to);
  const Kernel kernel = FindCast(value.type(), to);
  if (kernel == nullptr) {
    return absl::InvalidArgumentError(
        fmt::format("Invalid cast from {} to {}", value.type().ToString(), to.ToString()));
  }
  const StatementFacts facts;
  const std::vector<Type> types = {value.type()};
  Call::Site site;
  site.argument_types = &types;
  site.result_type = &to;
  site.lambdas.resize(1);
  Arena arena;
  Call call(&facts, &site, &arena, 1);
  const std::vector<ColumnView> arguments = {value.AsColumn(1)};
  const ColumnView result = kernel(call, arguments);
  if (!call.status().ok()) return call.status();
  return Value(to, DatumAt(result, 0));
}

void FoldConstants(ExpressionPtr* expression) {
  for (ExpressionPtr& argument : (*expression)->arguments) {
    if (argument != nullptr) FoldConstants(&argument);
  }
  if (!IsFoldable(**expression) || ReadsTheStatement(**expression)) return;
  const EvaluationContext context;
  absl::StatusOr<Value> value = EvaluateConstant(**expression, context);
  if (!value.ok() || (!value->is_null() && value->datum().kind == Datum::Kind::kList &&
                      value->datum().size > kFoldedItemsMax)) {
    return;
  }
  *expression = MakeLiteral(*std::move(value));
}

}  // namespace sonde::sql
