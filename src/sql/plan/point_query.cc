#include "sql/plan/point_query.h"

#include <algorithm>

#include "sql/function/function.h"
#include "sql/plan/plan_tree.h"

namespace sonde::sql {
namespace {

bool IsKeyOf(const Plan::Scan& scan, const Expression& expression) {
  return expression.kind == Expression::Kind::kColumn &&
         scan.columns[expression.index].kind == ScanColumn::Kind::kKey;
}

// key = value, or value = key.
bool SaysTheKey(const Plan::Scan& scan, const Expression& condition) {
  if (condition.kind == Expression::Kind::kAnd) {
    return std::ranges::any_of(condition.arguments,
                               [&scan](const ExpressionPtr& part) { return SaysTheKey(scan, *part); });
  }
  if (condition.kind != Expression::Kind::kCall || condition.function == nullptr ||
      condition.function->name != "$equal") {
    return false;
  }
  const Expression& left = *condition.arguments[0];
  const Expression& right = *condition.arguments[1];
  return (IsKeyOf(scan, left) && ReferencesOf(right).empty()) ||
         (IsKeyOf(scan, right) && ReferencesOf(left).empty());
}

}  // namespace

bool IsPointQuery(const Plan& plan) {
  const auto asks = [](const ExpressionPtr& expression) {
    return expression != nullptr && HasSubquery(*expression);
  };
  if (std::ranges::any_of(plan.expressions, asks)) return false;
  switch (plan.kind) {
    case Plan::Kind::kFilter:
    case Plan::Kind::kProject:
    case Plan::Kind::kLimit:
      return !asks(plan.limit) && !asks(plan.offset) && IsPointQuery(*plan.inputs[0]);
    case Plan::Kind::kScan:
      return std::ranges::any_of(plan.scan->key_conditions, [&plan](const ExpressionPtr& condition) {
        return SaysTheKey(*plan.scan, *condition);
      });
    default:
      return false;
  }
}

}  // namespace sonde::sql
