#include "sql/rewrite/pushdown.h"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

#include "sql/plan/access.h"
#include "sql/plan/plan_tree.h"

namespace sonde::sql {
namespace {

// Whether an expression costs so little that it may be evaluated twice.
bool IsCheap(const Expression& expression) {
  switch (expression.kind) {
    case Expression::Kind::kColumn:
    case Expression::Kind::kLiteral:
    case Expression::Kind::kParameter:
    case Expression::Kind::kOuter:
      return true;
    case Expression::Kind::kField:
      return IsCheap(*expression.arguments[0]);
    default:
      return AccessOf(expression).has_value() || NumberAccessOf(expression).has_value();
  }
}

bool AllBelow(const std::vector<size_t>& columns, size_t end) {
  return columns.empty() || columns.back() < end;
}

void PutBelow(PlanPtr* input, ExpressionPtr condition) {
  *input = MakeFilter(std::move(*input), std::move(condition));
}

bool PushIntoProject(Plan* project, ExpressionPtr* condition) {
  for (const size_t column : ReferencesOf(**condition)) {
    if (!IsCheap(*project->expressions[column])) return false;
  }
  Substitute(condition, [project](size_t index) { return project->expressions[index].get(); });
  PutBelow(&project->inputs[0], std::move(*condition));
  return true;
}

bool PushIntoAggregate(Plan* aggregate, ExpressionPtr* condition) {
  const std::vector<size_t> columns = ReferencesOf(**condition);
  // Without keys there is a row even of nothing.
  if (columns.empty() || !AllBelow(columns, aggregate->expressions.size())) return false;
  for (const size_t column : columns) {
    if (HasVolatile(*aggregate->expressions[column])) return false;
  }
  Substitute(condition, [aggregate](size_t index) { return aggregate->expressions[index].get(); });
  PutBelow(&aggregate->inputs[0], std::move(*condition));
  return true;
}

bool PushIntoJoin(Plan* join, ExpressionPtr* condition) {
  const size_t left_width = join->inputs[0]->types.size();
  const std::vector<size_t> columns = ReferencesOf(**condition);
  if (columns.empty()) return false;
  const bool keeps_left = join->join == Plan::Join::kInner || join->join == Plan::Join::kLeft;
  const bool keeps_right =
      !join->asof && (join->join == Plan::Join::kInner || join->join == Plan::Join::kRight);
  if (keeps_left && columns.back() < left_width) {
    PutBelow(&join->inputs[0], std::move(*condition));
    return true;
  }
  if (columns.front() < left_width) {
    // A condition on both sides of an inner join is one of its conditions.
    if (join->asof || join->join != Plan::Join::kInner || columns.back() < left_width) return false;
    std::vector<ExpressionPtr> conditions;
    if (join->condition != nullptr) conditions.push_back(std::move(join->condition));
    conditions.push_back(std::move(*condition));
    join->condition = MakeAnd(std::move(conditions));
    return true;
  }
  if (!keeps_right) return false;
  MapReferences(condition, [left_width](size_t index) { return index - left_width; });
  PutBelow(&join->inputs[1], std::move(*condition));
  return true;
}

bool PushIntoUnpack(Plan* unpack, ExpressionPtr* condition) {
  const std::vector<size_t> columns = ReferencesOf(**condition);
  if (columns.empty() || !AllBelow(columns, unpack->inputs[0]->types.size())) return false;
  for (const Plan::History& history : unpack->history) {
    if (std::find(columns.begin(), columns.end(), history.column) != columns.end()) return false;
  }
  PutBelow(&unpack->inputs[0], std::move(*condition));
  return true;
}

// A condition without columns stays above: below, it would be evaluated for a row whose array is empty.
bool PushIntoUnnest(Plan* unnest, ExpressionPtr* condition) {
  const std::vector<size_t> columns = ReferencesOf(**condition);
  if (columns.empty() || !AllBelow(columns, unnest->inputs[0]->types.size())) return false;
  PutBelow(&unnest->inputs[0], std::move(*condition));
  return true;
}

// A condition on the partition is one of all its rows.
bool PushIntoGapFill(Plan* fill, ExpressionPtr* condition) {
  const std::vector<size_t> columns = ReferencesOf(**condition);
  if (columns.empty() || columns.front() == 0 || !AllBelow(columns, 1 + fill->gap_fill->partition_columns)) {
    return false;
  }
  PutBelow(&fill->inputs[0], std::move(*condition));
  return true;
}

// Whether the condition went into `plan`, which is the input of a filter.
bool Push(Plan* plan, ExpressionPtr* condition) {
  if (HasVolatile(**condition)) return false;
  switch (plan->kind) {
    case Plan::Kind::kProject:
      return PushIntoProject(plan, condition);
    case Plan::Kind::kAggregate:
      return PushIntoAggregate(plan, condition);
    case Plan::Kind::kJoin:
      return PushIntoJoin(plan, condition);
    case Plan::Kind::kUnpack:
      return PushIntoUnpack(plan, condition);
    case Plan::Kind::kUnnest:
      return PushIntoUnnest(plan, condition);
    case Plan::Kind::kGapFill:
      return PushIntoGapFill(plan, condition);
    case Plan::Kind::kSort:
      PutBelow(&plan->inputs[0], std::move(*condition));
      return true;
    case Plan::Kind::kUnion:
      for (PlanPtr& input : plan->inputs) PutBelow(&input, CloneDeep(**condition));
      return true;
    default:
      return false;
  }
}

// Conditions of an inner join that are about one side filter that side.
void PushJoinCondition(Plan* join) {
  if (join->asof || join->join != Plan::Join::kInner || join->condition == nullptr) return;
  std::vector<ExpressionPtr> conjuncts;
  SplitAnd(std::move(join->condition), &conjuncts);
  std::vector<ExpressionPtr> kept;
  for (ExpressionPtr& conjunct : conjuncts) {
    if (HasVolatile(*conjunct) || !PushIntoJoin(join, &conjunct)) kept.push_back(std::move(conjunct));
  }
  if (join->condition != nullptr) kept.push_back(std::move(join->condition));
  std::vector<ExpressionPtr> flat;
  for (ExpressionPtr& condition : kept) SplitAnd(std::move(condition), &flat);
  join->condition = MakeAnd(std::move(flat));
}

void PushFilter(PlanPtr* plan) {
  std::vector<ExpressionPtr> conjuncts;
  PlanPtr input;
  // Filters over filters are one.
  while ((*plan)->kind == Plan::Kind::kFilter) {
    std::vector<ExpressionPtr> more;
    SplitAnd(std::move((*plan)->expressions[0]), &more);
    conjuncts.insert(conjuncts.begin(), std::make_move_iterator(more.begin()),
                     std::make_move_iterator(more.end()));
    input = std::move((*plan)->inputs[0]);
    *plan = std::move(input);
  }
  std::vector<ExpressionPtr> kept;
  for (ExpressionPtr& conjunct : conjuncts) {
    if (!Push(plan->get(), &conjunct)) kept.push_back(std::move(conjunct));
  }
  *plan = MakeFilter(std::move(*plan), MakeAnd(std::move(kept)));
}

}  // namespace

void PushFilters(PlanPtr* plan) {
  if ((*plan)->kind == Plan::Kind::kFilter) PushFilter(plan);
  if ((*plan)->kind == Plan::Kind::kJoin) PushJoinCondition(plan->get());
  for (PlanPtr& input : (*plan)->inputs) PushFilters(&input);
  ForEachSubquery(plan->get(), [](Expression::Kind /*kind*/, PlanPtr* subquery) { PushFilters(subquery); });
}

}  // namespace sonde::sql
