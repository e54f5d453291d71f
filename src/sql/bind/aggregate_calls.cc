// Calls of aggregate functions.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/ascii.h"
#include "sql/bind/query_binder.h"
#include "sql/function/function.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

bool TakesOrder(const Function& function) {
  return function.name == "ARRAY_AGG" || function.name == "STRING_AGG" || function.name == "ARRAY_CONCAT_AGG";
}

bool TakesNullsModifier(const Function& function) {
  return function.name == "ARRAY_AGG" || function.name == "ANY_VALUE";
}

// Whether two aggregates give the same; of what has an order or a limit, nobody asks.
bool IsSameAggregate(const AggregateItem& a, const AggregateItem& b) {
  const auto is_simple = [](const AggregateItem& item) {
    return item.having == nullptr && item.order_by.empty() && item.limit == nullptr;
  };
  return is_simple(a) && is_simple(b) && a.overload == b.overload && a.type == b.type &&
         a.distinct == b.distinct && a.ignores_nulls == b.ignores_nulls &&
         std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                    [](const ExpressionPtr& x, const ExpressionPtr& y) { return IsSame(*x, *y); });
}

bool IsAmong(const Expression& expression, const std::vector<ExpressionPtr>& arguments) {
  for (const ExpressionPtr& argument : arguments) {
    if (IsSame(expression, *argument)) return true;
  }
  return false;
}

}  // namespace

absl::Status QueryBinder::CheckMayAggregate(const Expr& expr, std::string_view name, const Site& site) const {
  if (site.around != nullptr) {
    return Error(
        site.around->position,
        "Multi-level aggregation requires the enclosing aggregate function to have one or more GROUP BY "
        "modifiers.");
  }
  if (site.aggregates == nullptr) {
    return Error(expr.position, fmt::format("Aggregate function {}{} not allowed in {}", name,
                                            expr.call->star ? "(*)" : "", site.clause));
  }
  return absl::OkStatus();
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindAggregateCall(const Expr& expr, const Function& function,
                                                             const Site& site) {
  SONDE_TRY(CheckMayAggregate(expr, function.name, site));
  SONDE_TRY_SET(AggregateItem item, BindAggregateItem(expr, function, site));
  std::vector<AggregateItem>& items = site.aggregates->aggregates;
  const auto same = std::find_if(items.begin(), items.end(),
                                 [&](const AggregateItem& other) { return IsSameAggregate(item, other); });
  const size_t place = static_cast<size_t>(same - items.begin());
  Type type = item.type;
  if (same == items.end()) items.push_back(std::move(item));
  return MakeColumn(kAggregateBase + place, std::move(type));
}

absl::StatusOr<AggregateItem> QueryBinder::BindAggregateItem(const Expr& expr, const Function& function,
                                                             const Site& site) {
  SONDE_TRY(CheckModifiers(expr, function));
  Site inside = site;
  const bool is_window = expr.call->over != nullptr;
  if (!is_window) {
    inside.around = &expr;
    inside.aggregates = nullptr;
  }
  inside.windows = nullptr;
  inside.clause = is_window ? "argument of analytic function" : "argument of aggregate function";
  SONDE_TRY_SET(std::vector<CallArgument> arguments, BindArguments(expr, function, inside));
  const bool makes_arrays =
      function.name == "ARRAY_AGG" && arguments.size() == 1 && arguments[0].bound != nullptr;
  if (makes_arrays && arguments[0].bound->type.Is(TypeKind::kArray)) {
    return Error(expr.position, fmt::format("The argument to ARRAY_AGG must not be an array type but was {}",
                                            arguments[0].bound->type.ToString()));
  }
  SONDE_TRY_SET(const ChosenOverload chosen, Choose(expr, function, &arguments, inside));
  AggregateItem item;
  item.function = &function;
  item.overload = chosen.overload;
  item.type = chosen.match.result;
  SONDE_TRY_SET(item.arguments, FinishArguments(chosen, std::move(arguments), inside));
  if (!is_window && function.name.starts_with("PERCENTILE_") && !ColumnsOf(*item.arguments[1]).empty()) {
    return Error(expr.call->arguments[1]->position,
                 fmt::format("Argument 2 to {} must be the same for all rows", function.name));
  }
  SONDE_TRY(BindModifiers(expr, function, inside, &item));
  return item;
}

absl::Status QueryBinder::CheckModifiers(const Expr& expr, const Function& function) const {
  const Expr::Call& call = *expr.call;
  const bool is_window = call.over != nullptr;
  if (call.star && call.distinct) return Error(expr.position, "COUNT(*) cannot be used with DISTINCT");
  if (function.kind == Function::Kind::kWindow && is_window && call.distinct &&
      !function.name.starts_with("PERCENTILE")) {
    return Error(expr.position, fmt::format("Analytic function {} does not support DISTINCT", function.name));
  }
  if (!call.order_by.empty() && (is_window || !TakesOrder(function))) {
    return Error(WordBefore(call.order_by[0].expr->position, "ORDER"),
                 is_window ? fmt::format("ORDER BY in arguments is not supported on analytic functions")
                           : fmt::format("Aggregate function {} does not support ORDER BY in arguments",
                                         function.name));
  }
  if (call.limit != nullptr && (is_window || !TakesOrder(function))) {
    return Error(
        WordBefore(call.limit->position, "LIMIT"),
        is_window ? fmt::format("LIMIT in arguments is not supported on analytic functions")
                  : fmt::format("Aggregate function {} does not support LIMIT in arguments", function.name));
  }
  static constexpr std::string_view kWindowsWithNulls[] = {
      "FIRST_VALUE", "LAST_VALUE", "NTH_VALUE", "PERCENTILE_CONT", "PERCENTILE_DISC", "LAG", "LEAD"};
  bool takes_nulls_modifier = TakesNullsModifier(function);
  for (const std::string_view name : kWindowsWithNulls)
    takes_nulls_modifier |= is_window && function.name == name;
  if (call.nulls != Expr::Call::Nulls::kUnsaid && !takes_nulls_modifier) {
    const bool is_aggregate = function.kind == Function::Kind::kAggregate || !is_window;
    return Error(expr.position,
                 fmt::format("IGNORE NULLS and RESPECT NULLS are not allowed for {} function {}",
                             is_aggregate ? "aggregate" : "analytic",
                             is_aggregate ? absl::AsciiStrToLower(function.name) : function.name));
  }
  return absl::OkStatus();
}

absl::Status QueryBinder::BindModifiers(const Expr& expr, const Function& /*function*/, const Site& inside,
                                        AggregateItem* item) {
  const Expr::Call& call = *expr.call;
  item->distinct = call.distinct;
  const bool ignores_unless_told = item->function->name.starts_with("PERCENTILE_");
  item->ignores_nulls = call.nulls == Expr::Call::Nulls::kIgnore ||
                        (ignores_unless_told && call.nulls != Expr::Call::Nulls::kRespect);
  if (call.distinct) {
    for (const ExpressionPtr& argument : item->arguments) {
      if (argument->type.IsGroupable()) continue;
      return Error(expr.position,
                   fmt::format("Aggregate functions with DISTINCT cannot be used with arguments of type {}",
                               argument->type.ToString()));
    }
  }
  const Expr* const having = call.having_max != nullptr ? call.having_max.get() : call.having_min.get();
  if (having != nullptr) {
    SONDE_TRY_SET(item->having, BindExpression(*having, inside));
    item->having_is_max = call.having_max != nullptr;
    if (!item->having->type.IsOrderable()) {
      return Error(having->position, fmt::format("HAVING modifier does not support expressions of type {}",
                                                 item->having->type.ToString()));
    }
  }
  bool has_ordinal = false;
  for (const OrderItem& order : call.order_by) {
    SortKey key;
    SONDE_TRY_SET(key.expr, BindExpression(*order.expr, inside));
    if (const std::optional<int64_t> ordinal = OrdinalOf(*key.expr)) {
      if (*ordinal < 1) return OrdinalBelowOne(order.expr->position, *ordinal);
      has_ordinal = true;
      continue;
    }
    SONDE_TRY(RefuseLiteral(*order.expr, *key.expr, "ORDER BY"));
    if (!key.expr->type.IsOrderable()) {
      return Error(order.expr->position, fmt::format("ORDER BY does not support expressions of type {}",
                                                     key.expr->type.ToString()));
    }
    key.descending = order.descending;
    key.nulls_first = order.nulls_first.value_or(!order.descending);
    item->order_by.push_back(std::move(key));
  }
  if (has_ordinal) {
    return Error(WordBefore(call.order_by[0].expr->position, "ORDER"),
                 "Aggregate functions do not allow ORDER BY by index in arguments");
  }
  for (size_t i = 0; call.distinct && i < item->order_by.size(); ++i) {
    if (IsAmong(*item->order_by[i].expr, item->arguments)) continue;
    return Error(call.order_by[i].expr->position,
                 "An aggregate function that has both DISTINCT and ORDER BY arguments can only "
                 "ORDER BY expressions that are arguments to the function");
  }
  if (call.limit != nullptr) {
    SONDE_TRY_SET(item->limit, BindCount(*call.limit));
  }
  return absl::OkStatus();
}

}  // namespace sonde::sql
