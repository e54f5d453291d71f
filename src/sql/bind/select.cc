// Queries: WITH, SELECT, and what FinishSelect makes of a SELECT whose expressions are bound.
#include <fmt/format.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {

absl::StatusOr<Relation> QueryBinder::BindQuery(const Query& query, const Scope* outer) {
  const size_t known = with_.size();
  if (!query.with.empty()) SONDE_TRY(RequireExtension(query.with[0].position, "WITH"));
  if (query.recursive) return absl::UnimplementedError("WITH RECURSIVE is not supported");
  for (size_t i = 0; i < query.with.size(); ++i) {
    const Query::With& with = query.with[i];
    for (size_t j = known; j < with_.size(); ++j) {
      if (SameName(with_[j].name, with.name)) {
        return Error(with.position, fmt::format("Duplicate alias {} for WITH subquery", with.name));
      }
    }
    SONDE_TRY_SET(Relation relation, BindQuery(*with.query, nullptr));
    with_.push_back({with.name, Compact(std::move(relation))});
  }
  absl::StatusOr<Relation> relation = BindQueryWithoutWith(query, outer);
  with_.erase(with_.begin() + static_cast<std::ptrdiff_t>(known), with_.end());
  return relation;
}

absl::StatusOr<Relation> QueryBinder::BindQueryWithoutWith(const Query& query, const Scope* outer) {
  SONDE_TRY(BindHints(query.hints, &hints_));
  SONDE_TRY_SET(Relation relation, BindBody(query, outer));
  // A SELECT orders by what its items are made of, so it has done so itself.
  if (query.kind != Query::Kind::kSelect && !query.order_by.empty()) {
    SONDE_TRY(SortRelation(query.order_by, outer, &relation));
  }
  SONDE_TRY(LimitRelation(query.limit.get(), query.offset.get(), &relation));
  for (const PipeOperator& pipe : query.pipes) {
    SONDE_TRY_SET(relation, BindPipe(pipe, std::move(relation), outer));
  }
  // A query of no SELECT gives what * gives.
  const size_t hidden =
      std::erase_if(relation.names.columns, [](const NamedColumn& column) { return !column.in_star; });
  return hidden == 0 ? std::move(relation) : Compact(std::move(relation));
}

absl::StatusOr<Relation> QueryBinder::BindBody(const Query& query, const Scope* outer) {
  switch (query.kind) {
    case Query::Kind::kSelect:
      return BindSelect(query, outer);
    case Query::Kind::kFrom:
      return BindFrom(*query.from, outer);
    case Query::Kind::kNested:
      return BindQuery(*query.nested, outer);
    case Query::Kind::kSet:
      break;
  }
  SONDE_TRY(RequireExtension(query.position, query.set_operation));
  std::vector<Relation> inputs;
  std::vector<Position> positions;
  for (const QueryPtr& input : query.inputs) {
    SONDE_TRY_SET(Relation relation, BindQuery(*input, outer));
    inputs.push_back(std::move(relation));
    positions.push_back(input->position);
  }
  return BindSetOperation(query.set_operation, std::move(inputs), positions);
}

absl::Status QueryBinder::CheckWithoutFrom(const Query& query) const {
  const auto refuse = [this](Position position, std::string_view clause) {
    return Error(position, fmt::format("Query without FROM clause cannot have {} clause", clause));
  };
  for (const SelectItem& item : query.items) {
    if (item.star && item.expr == nullptr) return Error(item.position, "SELECT * must have a FROM clause");
  }
  if (query.where != nullptr) return refuse(WordBefore(query.where->position, "WHERE"), "a WHERE");
  if (!query.group_by.empty()) return refuse(WordBefore(query.group_by[0]->position, "GROUP"), "a GROUP BY");
  if (query.group_by_all) return refuse(query.position, "a GROUP BY");
  if (query.having != nullptr) return refuse(WordBefore(query.having->position, "HAVING"), "a HAVING");
  if (query.qualify != nullptr) return refuse(WordBefore(query.qualify->position, "QUALIFY"), "a QUALIFY");
  if (!query.order_by.empty())
    return refuse(WordBefore(query.order_by[0].expr->position, "ORDER"), "an ORDER BY");
  return absl::OkStatus();
}

absl::Status QueryBinder::CheckExtensions(const Query& query) const {
  if (query.distinct) SONDE_TRY(RequireExtension(query.position, "SELECT DISTINCT"));
  if (query.having != nullptr) SONDE_TRY(RequireExtension(query.having->position, "HAVING"));
  if (query.qualify != nullptr) SONDE_TRY(RequireExtension(query.qualify->position, "QUALIFY"));
  return absl::OkStatus();
}

absl::StatusOr<Relation> QueryBinder::BindSelect(const Query& query, const Scope* outer) {
  SONDE_TRY(CheckExtensions(query));
  SelectBlock block;
  if (query.from == nullptr) {
    SONDE_TRY(CheckWithoutFrom(query));
    block.input.plan = MakeSingleRow();
  } else {
    SONDE_TRY_SET(block.input, BindFrom(*query.from, outer));
  }
  const Scope scope{&block.input.names, outer, true};
  Site site;
  site.scope = &scope;
  if (query.where != nullptr) {
    site.clause = "WHERE clause";
    SONDE_TRY_SET(ExpressionPtr condition, BindCondition(*query.where, site, "WHERE clause"));
    block.input.plan = MakeFilter(std::move(block.input.plan), std::move(condition));
  }
  SONDE_TRY(CheckNamedWindows(query.windows));
  block.calls.named_windows = &query.windows;
  site.clause = query.from == nullptr ? "SELECT without FROM clause" : "SELECT list";
  if (query.from != nullptr) site.aggregates = site.windows = &block.calls;
  SONDE_TRY(BindSelectItems(query.items, site, &block));
  SONDE_TRY(BindGroupBy(query, site, &block));
  SONDE_TRY(BindLaterClauses(query, site, &block));
  block.distinct = query.distinct;
  SONDE_TRY_SET(Relation relation, FinishSelect(std::move(block)));
  if (query.as_value && relation.names.columns.size() != 1) {
    return Error(query.position, "SELECT AS VALUE query must have exactly one column");
  }
  if (query.as_struct) relation = AsStruct(std::move(relation));
  if (query.as_struct || query.as_value) {
    relation.names.columns[0].name = "";
    relation.names.columns[0].is_value = true;
  }
  return relation;
}

Relation QueryBinder::AsStruct(Relation relation) {
  relation = Compact(std::move(relation));
  auto row = std::make_unique<Expression>();
  row->kind = Expression::Kind::kStruct;
  std::vector<Type::Field> fields;
  for (const NamedColumn& column : relation.names.columns) {
    fields.push_back({column.name, column.type});
    row->arguments.push_back(MakeColumn(column.index, column.type));
  }
  row->type = Type::Struct(std::move(fields));
  const Type type = row->type;
  std::vector<ExpressionPtr> columns;
  columns.push_back(std::move(row));
  Relation made;
  made.plan = MakeProject(std::move(relation.plan), std::move(columns));
  made.names.columns.push_back({"", 0, type});
  return made;
}

absl::Status QueryBinder::BindLaterClauses(const Query& query, const Site& site, SelectBlock* block) {
  // Names of items come before those of the FROM clause.
  NameList aliases;
  for (size_t i = 0; i < block->items.size(); ++i) {
    const BoundItem& item = block->items[i];
    if (!item.name.empty()) aliases.columns.push_back({item.name, kSelectBase + i, item.expr->type});
  }
  const Scope scope{&aliases, site.scope, false};
  Site later = site;
  later.scope = &scope;
  if (query.having != nullptr) {
    later.clause = "HAVING clause";
    later.windows = nullptr;
    SONDE_TRY_SET(block->having, BindCondition(*query.having, later, "HAVING clause"));
    ResolveAliases(*block, &block->having);
    if (!block->is_grouped && block->calls.aggregates.empty()) {
      return Error(query.having->position,
                   "The HAVING clause requires GROUP BY or aggregation to be present");
    }
    later.windows = site.windows;
  }
  if (query.qualify != nullptr) {
    later.clause = "QUALIFY clause";
    SONDE_TRY_SET(block->qualify, BindCondition(*query.qualify, later, "QUALIFY clause"));
    ResolveAliases(*block, &block->qualify);
    if (block->calls.windows.empty()) {
      return Error(query.qualify->position, "The QUALIFY clause requires analytic function to be present");
    }
  }
  if (query.order_by.empty()) return absl::OkStatus();
  later.clause = "ORDER BY clause";
  return BindOrderBy(query.order_by, later, block);
}

void QueryBinder::ResolveAliases(const SelectBlock& block, ExpressionPtr* expr) const {
  Substitute(expr, [&block](size_t index) -> const Expression* {
    return index >= kSelectBase ? block.items[index - kSelectBase].expr.get() : nullptr;
  });
}

void QueryBinder::ResolveAliasesInCalls(SelectBlock* block) const {
  const auto resolve = [&](ExpressionPtr* expr) {
    if (*expr != nullptr) ResolveAliases(*block, expr);
  };
  const auto resolve_call = [&](AggregateItem* call) {
    for (ExpressionPtr& argument : call->arguments) resolve(&argument);
    resolve(&call->having);
    for (SortKey& key : call->order_by) resolve(&key.expr);
  };
  for (AggregateItem& call : block->calls.aggregates) resolve_call(&call);
  for (GroupingCall& call : block->calls.groupings) resolve(&call.argument);
  for (WindowCall& window : block->calls.windows) {
    resolve_call(&window.item.call);
    for (ExpressionPtr& key : window.partition) resolve(&key);
    for (SortKey& key : window.sort) resolve(&key.expr);
  }
}

absl::StatusOr<Relation> QueryBinder::FinishSelect(SelectBlock block) {
  // Calls in HAVING, QUALIFY and ORDER BY may name items of the select list, too.
  ResolveAliasesInCalls(&block);
  if (block.is_grouped || !block.calls.aggregates.empty()) SONDE_TRY(FinishAggregation(&block));
  if (!block.calls.windows.empty()) FinishWindows(&block);
  return FinishItems(&block);
}

absl::Status QueryBinder::FinishAggregation(SelectBlock* block) {
  if (!block->sets.empty()) ExpandBySets(block);
  SONDE_TRY(FinishGroupingCalls(block));
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kAggregate;
  for (size_t key = 0; key < block->keys.size(); ++key) {
    plan->types.push_back(block->keys[key]->type);
    plan->expressions.push_back(GroupExpression(*block, key));
  }
  for (AggregateItem& item : block->calls.aggregates) {
    plan->types.push_back(item.type);
    plan->aggregates.push_back(std::move(item));
  }
  plan->inputs.push_back(std::move(block->input.plan));
  constexpr std::string_view kWhy = "which is neither grouped nor aggregated";
  const auto replace = [&](ExpressionPtr* expr, std::string_view clause) {
    return *expr == nullptr ? absl::OkStatus() : ReplaceByKeys(expr, block->keys, clause, kWhy);
  };
  for (BoundItem& item : block->items) {
    // A literal, too, is NULL in groups of a set without it.
    if (!block->sets.empty() && item.key.has_value() && item.expr->kind == Expression::Kind::kLiteral) {
      item.expr = MakeColumn(*item.key, item.expr->type);
      continue;
    }
    SONDE_TRY(replace(&item.expr, item.from_star ? "Star expansion expression" : "SELECT list expression"));
  }
  SONDE_TRY(replace(&block->having, "HAVING clause expression"));
  SONDE_TRY(replace(&block->qualify, "QUALIFY clause expression"));
  for (BoundOrder& order : block->order) SONDE_TRY(replace(&order.expr, "ORDER BY clause expression"));
  for (WindowCall& window : block->calls.windows) {
    constexpr std::string_view kClause = "SELECT list expression";
    for (ExpressionPtr& argument : window.item.call.arguments) SONDE_TRY(replace(&argument, kClause));
    SONDE_TRY(replace(&window.item.call.having, kClause));
    for (ExpressionPtr& key : window.partition) SONDE_TRY(replace(&key, "PARTITION BY expression"));
    for (SortKey& key : window.sort) SONDE_TRY(replace(&key.expr, "ORDER BY clause expression"));
  }
  block->input.plan = MakeFilter(std::move(plan), std::move(block->having));
  return absl::OkStatus();
}

absl::Status QueryBinder::ReplaceByKeys(ExpressionPtr* expr, const std::vector<ExpressionPtr>& keys,
                                        std::string_view clause, std::string_view why) const {
  absl::Status status;
  VisitNodes(expr, [&](ExpressionPtr* node, size_t level) {
    const bool is_reference = IsReference(**node, level) && (*node)->index < kLambdaBase;
    for (size_t k = 0; k < keys.size(); ++k) {
      if (level == 0 && (*node)->kind != Expression::Kind::kLiteral && IsSame(**node, *keys[k])) {
        *node = MakeColumn(k, keys[k]->type);
        return true;
      }
      if (level > 0 && is_reference && keys[k]->kind == Expression::Kind::kColumn &&
          keys[k]->index == (*node)->index) {
        (*node)->index = k;
        return true;
      }
    }
    if (!is_reference) return false;
    if ((*node)->index >= kAggregateBase) {
      if ((*node)->index < kWindowBase) (*node)->index = (*node)->index - kAggregateBase + keys.size();
      return true;
    }
    if (!status.ok()) return true;
    const auto mention = mentions_.find(node->get());
    const bool is_known = mention != mentions_.end();
    const std::string text =
        fmt::format("{} references {} {}", clause, is_known ? mention->second.shown : "a column", why);
    status = is_known ? Error(mention->second.position, text) : absl::InvalidArgumentError(text);
    return true;
  });
  return status;
}

namespace {

bool IsSameList(const std::vector<ExpressionPtr>& a, const std::vector<ExpressionPtr>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!IsSame(*a[i], *b[i])) return false;
  }
  return true;
}

bool IsSameSort(const std::vector<SortKey>& a, const std::vector<SortKey>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (a[i].descending != b[i].descending || a[i].nulls_first != b[i].nulls_first ||
        !IsSame(*a[i].expr, *b[i].expr)) {
      return false;
    }
  }
  return true;
}

}  // namespace

void QueryBinder::FinishWindows(SelectBlock* block) {
  std::vector<WindowCall>& calls = block->calls.windows;
  std::vector<size_t> places(calls.size(), 0);
  std::vector<bool> is_done(calls.size(), false);
  for (size_t i = 0; i < calls.size(); ++i) {
    if (is_done[i]) continue;
    // Calls over the same partitions in the same order share an operator.
    auto plan = std::make_unique<Plan>();
    plan->kind = Plan::Kind::kWindow;
    plan->types = block->input.plan->types;
    for (size_t j = i; j < calls.size(); ++j) {
      const bool is_same = j == i || (IsSameList(calls[i].partition, calls[j].partition) &&
                                      IsSameSort(calls[i].sort, calls[j].sort));
      if (is_done[j] || !is_same) continue;
      is_done[j] = true;
      places[j] = plan->types.size();
      plan->types.push_back(calls[j].item.call.type);
      plan->windows.push_back(std::move(calls[j].item));
    }
    plan->expressions = std::move(calls[i].partition);
    plan->sort = std::move(calls[i].sort);
    plan->inputs.push_back(std::move(block->input.plan));
    block->input.plan = std::move(plan);
  }
  const auto place = [&places](ExpressionPtr* expr) {
    if (*expr == nullptr) return;
    MapReferences(expr, [&places](size_t index) {
      return index >= kWindowBase && index < kSelectBase ? places[index - kWindowBase] : index;
    });
  };
  for (BoundItem& item : block->items) place(&item.expr);
  for (BoundOrder& order : block->order) place(&order.expr);
  place(&block->qualify);
  block->input.plan = MakeFilter(std::move(block->input.plan), std::move(block->qualify));
}

absl::StatusOr<Relation> QueryBinder::FinishItems(SelectBlock* block) {
  Relation relation;
  std::vector<ExpressionPtr> columns;
  for (size_t i = 0; i < block->items.size(); ++i) {
    BoundItem& item = block->items[i];
    relation.names.columns.push_back({item.name, i, item.expr->type});
    columns.push_back(std::move(item.expr));
  }
  if (block->distinct) {
    SONDE_TRY(SortDistinct(block, std::move(columns), &relation));
    return relation;
  }
  const size_t width = columns.size();
  std::vector<SortKey> sort;
  for (BoundOrder& order : block->order) {
    size_t place = order.item;
    if (order.expr != nullptr) {
      place = columns.size();
      for (size_t i = 0; i < columns.size() && place == columns.size(); ++i) {
        if (IsSame(*columns[i], *order.expr)) place = i;
      }
      if (place == columns.size()) columns.push_back(std::move(order.expr));
    }
    sort.push_back({MakeColumn(place, columns[place]->type), order.descending, order.nulls_first});
  }
  const bool has_hidden = columns.size() > width;
  relation.plan = MakeSort(MakeProject(std::move(block->input.plan), std::move(columns)), std::move(sort));
  if (has_hidden) {
    std::vector<ExpressionPtr> shown;
    for (size_t i = 0; i < width; ++i) shown.push_back(MakeColumn(i, relation.plan->types[i]));
    relation.plan = MakeProject(std::move(relation.plan), std::move(shown));
  }
  return relation;
}

absl::Status QueryBinder::SortDistinct(SelectBlock* block, std::vector<ExpressionPtr> columns,
                                       Relation* relation) {
  std::vector<SortKey> sort;
  for (BoundOrder& order : block->order) {
    if (order.expr == nullptr) {
      order.expr = MakeColumn(order.item, columns[order.item]->type);
    } else {
      SONDE_TRY(ReplaceByKeys(&order.expr, columns, "ORDER BY clause expression",
                              "which is not visible after SELECT DISTINCT"));
    }
    sort.push_back({std::move(order.expr), order.descending, order.nulls_first});
  }
  for (size_t i = 0; i < columns.size(); ++i) {
    if (columns[i]->type.IsGroupable()) continue;
    const std::string name = block->items[i].name.empty() ? fmt::format("{}", i + 1) : block->items[i].name;
    return Error(block->items[i].position,
                 fmt::format("Column {} of type {} cannot be used in SELECT DISTINCT", name,
                             columns[i]->type.ToString()));
  }
  relation->plan =
      MakeSort(MakeDistinct(MakeProject(std::move(block->input.plan), std::move(columns))), std::move(sort));
  return absl::OkStatus();
}

}  // namespace sonde::sql
