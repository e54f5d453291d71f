// GROUP BY, ORDER BY, LIMIT: clauses that name items of the select list, or count them.
#include <fmt/format.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

bool IsEmptyGroupBy(const Query& query) {
  return query.group_by.size() == 1 && query.group_by[0]->kind == Expr::Kind::kGrouping &&
         query.group_by[0]->text == "()";
}

bool HasCalls(const Expression& expr) { return ReadsColumnsIn(expr, kAggregateBase, kSelectBase); }

}  // namespace

absl::Status QueryBinder::RefuseLiteral(const Expr& expr, const Expression& bound,
                                        std::string_view clause) const {
  const bool is_taken = expr.kind == Expr::Kind::kDate || expr.kind == Expr::Kind::kTimestamp;
  if (is_taken || bound.kind != Expression::Kind::kLiteral || bound.written == Expression::Written::kNo)
    return absl::OkStatus();
  return Error(expr.position, fmt::format("Cannot {} literal values", clause));
}

std::optional<int64_t> QueryBinder::OrdinalOf(const Expression& bound) {
  const bool is_number = bound.kind == Expression::Kind::kLiteral &&
                         bound.written == Expression::Written::kLiteral && bound.type.Is(TypeKind::kInt64) &&
                         !bound.value.is_null();
  if (!is_number) return std::nullopt;
  return bound.value.datum().integer;
}

absl::Status QueryBinder::OrdinalBelowOne(Position position, int64_t ordinal) const {
  return Error(position,
               fmt::format("ORDER BY column number item is out of range. Column numbers must be greater "
                           "than or equal to one. Found : {}",
                           ordinal));
}

absl::StatusOr<size_t> QueryBinder::ItemAt(const Expr& expr, int64_t ordinal, size_t count) const {
  if (ordinal < 1) return OrdinalBelowOne(expr.position, ordinal);
  if (static_cast<uint64_t>(ordinal) <= count) return static_cast<size_t>(ordinal) - 1;
  return Error(expr.position, fmt::format("ORDER BY is out of SELECT column number range: {}", ordinal));
}

absl::Status QueryBinder::BindGroupBy(const Query& query, const Site& site, SelectBlock* block) {
  block->is_grouped = query.group_by_all || !query.group_by.empty();
  if (IsEmptyGroupBy(query)) return RequireExtension(query.group_by[0]->position, "GROUP BY ()");
  if (query.group_by_all) {
    for (const BoundItem& item : block->items) {
      if (HasCalls(*item.expr) || ReferencesOf(*item.expr).empty()) continue;
      SONDE_TRY(AddGroupKey(CloneDeep(*item.expr), item.position, block).status());
    }
    return absl::OkStatus();
  }
  Site inside = site;
  inside.clause = "GROUP BY";
  inside.aggregates = nullptr;
  inside.windows = nullptr;
  std::vector<const Expr*> items;
  for (const ExprPtr& expr : query.group_by) items.push_back(expr.get());
  return BindGroupItems(items, [&](const Expr& expr) { return BindGroupItem(expr, inside, block); }, block);
}

absl::StatusOr<size_t> QueryBinder::BindGroupItem(const Expr& expr, const Site& site, SelectBlock* block) {
  BoundItem* item = nullptr;
  ExpressionPtr key;
  if (expr.kind == Expr::Kind::kName) {
    for (BoundItem& candidate : block->items) {
      if (!candidate.has_alias || !SameName(candidate.name, expr.text)) continue;
      if (item != nullptr && !IsSame(*item->expr, *candidate.expr)) {
        return Error(expr.position,
                     fmt::format("Name {} in GROUP BY clause is ambiguous; it may refer to multiple "
                                 "columns in the SELECT-list",
                                 expr.text));
      }
      item = &candidate;
    }
  }
  if (item == nullptr) {
    SONDE_TRY_SET(key, BindExpression(expr, site));
    if (const std::optional<int64_t> ordinal = OrdinalOf(*key)) {
      if (*ordinal < 1 || static_cast<uint64_t>(*ordinal) > block->items.size()) {
        return Error(expr.position,
                     fmt::format("GROUP BY is out of SELECT column number range: {}", *ordinal));
      }
      item = &block->items[static_cast<size_t>(*ordinal) - 1];
    }
  }
  if (item != nullptr) {
    if (HasCalls(*item->expr)) {
      const bool is_window = !ReadsColumnsIn(*item->expr, kAggregateBase, kWindowBase);
      return Error(expr.position,
                   fmt::format("Column {} contains an {} function, which is not allowed in GROUP BY",
                               expr.text, is_window ? "analytic" : "aggregation"));
    }
    SONDE_TRY_SET(const size_t at, AddGroupKey(CloneDeep(*item->expr), expr.position, block));
    item->key = at;
    return at;
  }
  SONDE_TRY(RefuseLiteral(expr, *key, "GROUP BY"));
  return AddGroupKey(std::move(key), expr.position, block);
}

absl::StatusOr<size_t> QueryBinder::AddGroupKey(ExpressionPtr key, Position position, SelectBlock* block) {
  if (!key->type.IsGroupable()) {
    return Error(position,
                 fmt::format("Grouping by expressions of type {} is not allowed", key->type.ToString()));
  }
  for (size_t i = 0; i < block->keys.size(); ++i) {
    if (IsSame(*block->keys[i], *key)) return i;
  }
  block->keys.push_back(std::move(key));
  return block->keys.size() - 1;
}

absl::Status QueryBinder::BindOrderBy(const std::vector<OrderItem>& order_by, const Site& site,
                                      SelectBlock* block) {
  for (const OrderItem& item : order_by) {
    BoundOrder order;
    order.position = item.expr->position;
    order.descending = item.descending;
    order.nulls_first = item.nulls_first.value_or(!item.descending);
    SONDE_TRY_SET(order.expr, BindExpression(*item.expr, site));
    if (const std::optional<int64_t> ordinal = OrdinalOf(*order.expr)) {
      SONDE_TRY_SET(order.item, ItemAt(*item.expr, *ordinal, block->items.size()));
      order.expr = nullptr;
    } else {
      SONDE_TRY(RefuseLiteral(*item.expr, *order.expr, "ORDER BY"));
      if (order.expr->kind == Expression::Kind::kColumn && order.expr->index >= kSelectBase &&
          order.expr->index < kLambdaBase) {
        order.item = order.expr->index - kSelectBase;
        order.expr = nullptr;
      } else {
        ResolveAliases(*block, &order.expr);
      }
    }
    const Type& type = order.expr != nullptr ? order.expr->type : block->items[order.item].expr->type;
    if (!type.IsOrderable()) {
      return Error(item.expr->position,
                   fmt::format("ORDER BY does not support expressions of type {}", type.ToString()));
    }
    block->order.push_back(std::move(order));
  }
  return absl::OkStatus();
}

absl::Status QueryBinder::SortRelation(const std::vector<OrderItem>& order_by, const Scope* outer,
                                       Relation* relation) {
  const Scope scope{&relation->names, outer, true};
  SelectCalls calls;
  Site site;
  site.scope = &scope;
  site.clause = "ORDER BY clause";
  std::vector<SortKey> sort;
  for (const OrderItem& item : order_by) {
    SortKey key;
    SONDE_TRY_SET(key.expr, BindExpression(*item.expr, site));
    if (const std::optional<int64_t> ordinal = OrdinalOf(*key.expr)) {
      SONDE_TRY_SET(const size_t place, ItemAt(*item.expr, *ordinal, relation->names.columns.size()));
      const NamedColumn& column = relation->names.columns[place];
      key.expr = MakeColumn(column.index, column.type);
    } else {
      SONDE_TRY(RefuseLiteral(*item.expr, *key.expr, "ORDER BY"));
    }
    if (!key.expr->type.IsOrderable()) {
      return Error(item.expr->position, fmt::format("ORDER BY does not support expressions of type {}",
                                                    key.expr->type.ToString()));
    }
    key.descending = item.descending;
    key.nulls_first = item.nulls_first.value_or(!item.descending);
    sort.push_back(std::move(key));
  }
  relation->plan = MakeSort(std::move(relation->plan), std::move(sort));
  return absl::OkStatus();
}

absl::StatusOr<ExpressionPtr> QueryBinder::BindCount(const Expr& expr) {
  const NameList none;
  const Scope scope{&none, nullptr, false};
  Site site;
  site.scope = &scope;
  site.clause = "LIMIT";
  SONDE_TRY_SET(ExpressionPtr count, BindExpression(expr, site));
  if (!CoercionCost(FactsOf(*count), TypeKind::kInt64).has_value()) {
    return Error(expr.position,
                 fmt::format("LIMIT ... OFFSET ... expects INT64, got {}", count->type.ToString()));
  }
  return Coerce(std::move(count), TypeKind::kInt64, expr.position);
}

absl::Status QueryBinder::LimitRelation(const Expr* limit, const Expr* offset, Relation* relation) {
  if (limit == nullptr && offset == nullptr) return absl::OkStatus();
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kLimit;
  plan->types = relation->plan->types;
  if (limit != nullptr) {
    SONDE_TRY_SET(plan->limit, BindCount(*limit));
  }
  if (offset != nullptr) {
    SONDE_TRY_SET(plan->offset, BindCount(*offset));
  }
  plan->inputs.push_back(std::move(relation->plan));
  relation->plan = std::move(plan);
  return absl::OkStatus();
}

}  // namespace sonde::sql
