#include "sql/operator/selectivity.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace sonde::sql {
namespace {

constexpr double kOfEqual = 0.1;
constexpr double kOfOrder = 0.3;
constexpr double kOfText = 0.2;
constexpr double kOfOthers = 0.5;

template <size_t kCount>
bool IsCallOfAny(const Expression& expression, const std::array<std::string_view, kCount>& names) {
  return std::ranges::any_of(names, [&](std::string_view name) { return IsCallOf(expression, name); });
}

double OfCall(const Expression& call) {
  constexpr std::array<std::string_view, 5> kOrders = {"$less", "$less_or_equal", "$greater",
                                                       "$greater_or_equal", "$between"};
  constexpr std::array<std::string_view, 4> kTexts = {"$like", "STARTS_WITH", "ENDS_WITH", "REGEXP_CONTAINS"};
  if (IsCallOf(call, "$not")) return 1 - SelectivityOf(*call.arguments[0]);
  if (IsCallOf(call, "$equal") || IsCallOf(call, "$is_null")) return kOfEqual;
  if (IsCallOf(call, "$not_equal")) return 1 - kOfEqual;
  if (IsCallOf(call, "$in")) return std::min(1.0, kOfEqual * static_cast<double>(call.arguments.size() - 1));
  if (IsCallOfAny(call, kOrders)) return kOfOrder;
  if (IsCallOfAny(call, kTexts)) return kOfText;
  return kOfOthers;
}

}  // namespace

double SelectivityOf(const Expression& condition, const std::vector<ExpressionPtr>* known) {
  const auto is_same = [&](const ExpressionPtr& one) { return IsSame(*one, condition); };
  if (known != nullptr && std::ranges::any_of(*known, is_same)) return 1;
  double part = 1;
  switch (condition.kind) {
    case Expression::Kind::kLiteral:
      return !condition.value.is_null() && condition.value.datum().integer != 0 ? 1 : 0;
    case Expression::Kind::kAnd:
      for (const ExpressionPtr& each : condition.arguments) part *= SelectivityOf(*each, known);
      return part;
    case Expression::Kind::kOr:
      for (const ExpressionPtr& each : condition.arguments) part *= 1 - SelectivityOf(*each, known);
      return 1 - part;
    case Expression::Kind::kCall:
      return OfCall(condition);
    default:
      return kOfOthers;
  }
}

}  // namespace sonde::sql
