// Pipe operators: each makes another relation of the one before it.
#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/bind/query_binder.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"

namespace sonde::sql {
namespace {

// How many columns have a name.
size_t CountNamed(const NameList& names, std::string_view name) {
  size_t count = 0;
  for (const NamedColumn& column : names.columns) count += SameName(column.name, name) ? 1 : 0;
  return count;
}

// Items that give the columns of a plan as they are.
std::vector<BoundItem> ColumnsOfInput(const Plan& plan) {
  std::vector<BoundItem> items;
  for (size_t i = 0; i < plan.types.size(); ++i) {
    BoundItem item;
    item.expr = MakeColumn(i, plan.types[i]);
    items.push_back(std::move(item));
  }
  return items;
}

}  // namespace

absl::StatusOr<Relation> QueryBinder::BindPipe(const PipeOperator& pipe, Relation input, const Scope* outer) {
  switch (pipe.kind) {
    case PipeOperator::Kind::kSelect:
      return PipeSelect(pipe, std::move(input), outer);
    case PipeOperator::Kind::kExtend:
      return PipeExtend(pipe, std::move(input), outer);
    case PipeOperator::Kind::kSet:
      return PipeSet(pipe, std::move(input), outer);
    case PipeOperator::Kind::kDrop:
      return PipeDrop(pipe, std::move(input));
    case PipeOperator::Kind::kRename:
      return PipeRename(pipe, std::move(input));
    case PipeOperator::Kind::kAs:
      SetAlias(pipe.names[0], &input.names);
      return input;
    case PipeOperator::Kind::kWhere: {
      const Scope scope{&input.names, outer, true};
      Site site;
      site.scope = &scope;
      site.clause = "pipe WHERE clause";
      SONDE_TRY_SET(ExpressionPtr condition, BindCondition(*pipe.expr, site, "WHERE clause"));
      input.plan = MakeFilter(std::move(input.plan), std::move(condition));
      return input;
    }
    case PipeOperator::Kind::kAggregate:
      return PipeAggregate(pipe, std::move(input), outer);
    case PipeOperator::Kind::kDistinct:
      return PipeDistinct(std::move(input), pipe.position);
    case PipeOperator::Kind::kOrderBy:
      SONDE_TRY(SortRelation(pipe.order_by, outer, &input));
      return input;
    case PipeOperator::Kind::kLimit:
      SONDE_TRY(LimitRelation(pipe.limit.get(), pipe.offset.get(), &input));
      return input;
    case PipeOperator::Kind::kJoin:
      return BindJoin(*pipe.from, std::move(input), outer);
    case PipeOperator::Kind::kCall:
      return PipeCall(pipe, std::move(input));
    case PipeOperator::Kind::kUnion:
      return PipeSetOperation(pipe, std::move(input), outer);
  }
  return absl::InternalError("a pipe operator of no kind");
}

absl::StatusOr<Relation> QueryBinder::PipeSelect(const PipeOperator& pipe, Relation input,
                                                 const Scope* outer) {
  SONDE_TRY(CheckNamedWindows(pipe.windows));
  SelectBlock block;
  block.input = std::move(input);
  block.calls.named_windows = &pipe.windows;
  block.distinct = pipe.distinct;
  const Scope scope{&block.input.names, outer, true};
  Site site;
  site.scope = &scope;
  site.clause = "pipe SELECT";
  site.windows = &block.calls;
  SONDE_TRY(BindSelectItems(pipe.items, site, &block));
  return FinishSelect(std::move(block));
}

absl::StatusOr<Relation> QueryBinder::PipeExtend(const PipeOperator& pipe, Relation input,
                                                 const Scope* outer) {
  SONDE_TRY(CheckNamedWindows(pipe.windows));
  SelectBlock block;
  block.input = std::move(input);
  block.calls.named_windows = &pipe.windows;
  block.items = ColumnsOfInput(*block.input.plan);
  const size_t width = block.items.size();
  const Scope scope{&block.input.names, outer, true};
  Site site;
  site.scope = &scope;
  site.clause = "pipe EXTEND";
  site.windows = &block.calls;
  SONDE_TRY(BindSelectItems(pipe.items, site, &block));
  NameList names = block.input.names;
  SONDE_TRY_SET(Relation relation, FinishSelect(std::move(block)));
  for (size_t i = width; i < relation.names.columns.size(); ++i)
    names.columns.push_back(relation.names.columns[i]);
  relation.names = std::move(names);
  return relation;
}

absl::StatusOr<Relation> QueryBinder::PipeSet(const PipeOperator& pipe, Relation input, const Scope* outer) {
  std::vector<ExpressionPtr> columns;
  for (size_t i = 0; i < input.plan->types.size(); ++i)
    columns.push_back(MakeColumn(i, input.plan->types[i]));
  NameList names = input.names;
  const Scope scope{&input.names, outer, true};
  Site site;
  site.scope = &scope;
  site.clause = "pipe SET";
  for (const SelectItem& item : pipe.items) {
    const size_t count = CountNamed(names, item.alias);
    if (count != 1) {
      return Error(item.position,
                   fmt::format("Column name in pipe SET {} input table: {}",
                               count == 0 ? "not found in" : "exists more than once in", item.alias));
    }
    SONDE_TRY_SET(ExpressionPtr value, BindExpression(*item.expr, site));
    for (NamedColumn& column : names.columns) {
      if (SameName(column.name, item.alias)) column = {column.name, columns.size(), value->type};
    }
    columns.push_back(std::move(value));
  }
  return Relation{MakeProject(std::move(input.plan), std::move(columns)), std::move(names)};
}

absl::StatusOr<Relation> QueryBinder::PipeDrop(const PipeOperator& pipe, Relation input) {
  for (const std::string& name : pipe.names) {
    const size_t dropped = std::erase_if(
        input.names.columns, [&name](const NamedColumn& column) { return SameName(column.name, name); });
    if (dropped == 0) {
      return Error(WordFrom({pipe.position.offset + 4}, name),
                   fmt::format("Column name in pipe DROP not found in input table: {}", name));
    }
  }
  if (input.names.columns.empty())
    return Error(pipe.position, "Pipe DROP dropped all columns in the input table");
  return input;
}

absl::StatusOr<Relation> QueryBinder::PipeRename(const PipeOperator& pipe, Relation input) {
  const NameList before = input.names;
  for (size_t i = 0; i < pipe.names.size(); ++i) {
    const size_t count = CountNamed(before, pipe.names[i]);
    if (count != 1) {
      return Error(WordFrom({pipe.position.offset + 6}, pipe.names[i]),
                   fmt::format("Column name in pipe RENAME {} input table: {}",
                               count == 0 ? "not found in" : "exists more than once in", pipe.names[i]));
    }
    for (size_t j = 0; j < before.columns.size(); ++j) {
      if (SameName(before.columns[j].name, pipe.names[i])) input.names.columns[j].name = pipe.new_names[i];
    }
  }
  return input;
}

absl::StatusOr<Relation> QueryBinder::PipeAggregate(const PipeOperator& pipe, Relation input,
                                                    const Scope* outer) {
  SelectBlock block;
  block.input = std::move(input);
  block.is_grouped = !pipe.group_by.empty();
  const Scope scope{&block.input.names, outer, true};
  Site site;
  site.scope = &scope;
  site.clause = "pipe AGGREGATE GROUP BY";
  // Group keys come first, then the aggregates.
  for (const SelectItem& item : pipe.group_by) {
    if (item.expr->kind == Expr::Kind::kGrouping) {
      return absl::UnimplementedError(
          fmt::format("{} is not supported in pipe AGGREGATE, only in GROUP BY of SELECT", item.expr->text));
    }
    SONDE_TRY(BindSelectItem(item, site, &block));
    if (OrdinalOf(*block.items.back().expr).has_value()) {
      return Error(item.expr->position, "GROUP BY ordinal not allowed in pipe AGGREGATE");
    }
    SONDE_TRY(AddGroupKey(CloneDeep(*block.items.back().expr), item.expr->position, &block).status());
  }
  site.clause = "pipe AGGREGATE";
  site.aggregates = &block.calls;
  for (const SelectItem& item : pipe.items) {
    SONDE_TRY(BindSelectItem(item, site, &block));
    if (!ReadsColumnsIn(*block.items.back().expr, kAggregateBase, kWindowBase)) {
      return Error(item.expr->position, "Pipe AGGREGATE cannot include non-aggregate expressions");
    }
  }
  SONDE_TRY(BindOrderBy(pipe.order_by, site, &block));
  return FinishSelect(std::move(block));
}

absl::StatusOr<Relation> QueryBinder::PipeDistinct(Relation input, Position position) {
  input = Compact(std::move(input));
  for (const NamedColumn& column : input.names.columns) {
    if (column.type.IsGroupable()) continue;
    return Error(position, fmt::format("Column {} of type {} cannot be used in pipe DISTINCT", column.name,
                                       column.type.ToString()));
  }
  input.plan = MakeDistinct(std::move(input.plan));
  return input;
}

absl::StatusOr<Relation> QueryBinder::PipeSetOperation(const PipeOperator& pipe, Relation input,
                                                       const Scope* outer) {
  SONDE_TRY(RequireExtension(pipe.position, pipe.set_operation));
  std::vector<Relation> inputs;
  std::vector<Position> positions;
  inputs.push_back(std::move(input));
  positions.push_back(pipe.position);
  for (const QueryPtr& query : pipe.queries) {
    SONDE_TRY_SET(Relation relation, BindQuery(*query, outer));
    inputs.push_back(std::move(relation));
    positions.push_back(query->position);
  }
  return BindSetOperation(pipe.set_operation, std::move(inputs), positions);
}

absl::StatusOr<Relation> QueryBinder::PipeCall(const PipeOperator& pipe, Relation input) {
  if (pipe.from->kind == FromItem::Kind::kUnpack)
    return BindUnpack(std::move(input), pipe.from->alias, pipe.position);
  std::string name;
  for (const std::string& part : pipe.from->path.parts) name += (name.empty() ? "" : ".") + part;
  if (SameName(name, "GAP_FILL")) return BindGapFill(*pipe.from, &input, nullptr);
  return Error(pipe.from->path.position, fmt::format("Table-valued function not found: {}", name));
}

}  // namespace sonde::sql
