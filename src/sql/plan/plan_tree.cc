#include "sql/plan/plan_tree.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "sql/value/type.h"

namespace sonde::sql {
namespace {

void VisitPlan(Plan* plan, VisitNode visit, size_t level) {
  ForEachExpression(plan, [&](ExpressionPtr* expression) { VisitNodes(expression, visit, level); });
  for (PlanPtr& input : plan->inputs) VisitPlan(input.get(), visit, level);
}

// The plan of a subquery, for changes.
Plan* OwnPlan(Expression* node) {
  if (node->plan.use_count() != 1) node->plan = ClonePlan(*node->plan);
  return const_cast<Plan*>(node->plan.get());
}

template <typename Visit>
void VisitConst(const Expression& expression, const Visit& visit, size_t level);

template <typename Visit>
void VisitConstPlan(const Plan& plan, const Visit& visit, size_t level) {
  // ForEachExpression changes nothing by itself.
  ForEachExpression(const_cast<Plan*>(&plan),
                    [&](ExpressionPtr* expression) { VisitConst(**expression, visit, level); });
  for (const PlanPtr& input : plan.inputs) VisitConstPlan(*input, visit, level);
}

template <typename Visit>
void VisitConst(const Expression& expression, const Visit& visit, size_t level) {
  visit(expression, level);
  for (const ExpressionPtr& argument : expression.arguments) {
    if (argument != nullptr) VisitConst(*argument, visit, level);
  }
  if (expression.plan != nullptr) VisitConstPlan(*expression.plan, visit, level + 1);
}

ExpressionPtr CloneOrNull(const ExpressionPtr& expression) {
  return expression == nullptr ? nullptr : CloneDeep(*expression);
}

std::vector<ExpressionPtr> CloneAll(const std::vector<ExpressionPtr>& expressions) {
  std::vector<ExpressionPtr> copies;
  for (const ExpressionPtr& expression : expressions) copies.push_back(CloneOrNull(expression));
  return copies;
}

std::vector<SortKey> CloneSort(const std::vector<SortKey>& keys) {
  std::vector<SortKey> copies;
  for (const SortKey& key : keys) copies.push_back({CloneOrNull(key.expr), key.descending, key.nulls_first});
  return copies;
}

AggregateItem CloneItem(const AggregateItem& item) {
  AggregateItem copy;
  copy.function = item.function;
  copy.overload = item.overload;
  copy.type = item.type;
  copy.arguments = CloneAll(item.arguments);
  copy.distinct = item.distinct;
  copy.ignores_nulls = item.ignores_nulls;
  copy.having = CloneOrNull(item.having);
  copy.having_is_max = item.having_is_max;
  copy.order_by = CloneSort(item.order_by);
  copy.limit = CloneOrNull(item.limit);
  return copy;
}

WindowItem CloneWindow(const WindowItem& item) {
  WindowItem copy;
  copy.call = CloneItem(item.call);
  copy.is_range = item.is_range;
  copy.start = {item.start.kind, CloneOrNull(item.start.offset), item.start.part};
  copy.end = {item.end.kind, CloneOrNull(item.end.offset), item.end.part};
  return copy;
}

TemporalArguments CloneTemporal(const TemporalArguments& temporal) {
  TemporalArguments copy;
  copy.with_history = temporal.with_history;
  copy.as_of = CloneOrNull(temporal.as_of);
  copy.after = CloneOrNull(temporal.after);
  copy.after_or_equal = CloneOrNull(temporal.after_or_equal);
  copy.before = CloneOrNull(temporal.before);
  copy.before_or_equal = CloneOrNull(temporal.before_or_equal);
  copy.latest_n = CloneOrNull(temporal.latest_n);
  return copy;
}

std::unique_ptr<GapFill> CloneGapFill(const GapFill& fill) {
  auto copy = std::make_unique<GapFill>();
  copy->partition_columns = fill.partition_columns;
  copy->methods = fill.methods;
  copy->ignores_nulls = fill.ignores_nulls;
  copy->width = {CloneOrNull(fill.width.count), fill.width.part};
  copy->gap_max = {CloneOrNull(fill.gap_max.count), fill.gap_max.part};
  copy->origin = CloneOrNull(fill.origin);
  copy->range_start = CloneOrNull(fill.range_start);
  copy->range_end = CloneOrNull(fill.range_end);
  return copy;
}

std::unique_ptr<Plan::SeriesScan> CloneSeries(const Plan::SeriesScan& scan) {
  auto copy = std::make_unique<Plan::SeriesScan>();
  copy->series = scan.series;
  copy->columns = scan.columns;
  copy->temporal = CloneTemporal(scan.temporal);
  copy->conditions = CloneAll(scan.conditions);
  copy->needs_all_points = scan.needs_all_points;
  return copy;
}

std::unique_ptr<Plan::Scan> CloneScan(const Plan::Scan& scan) {
  auto copy = std::make_unique<Plan::Scan>();
  copy->table = scan.table;
  copy->columns = scan.columns;
  copy->temporal = CloneTemporal(scan.temporal);
  copy->key_conditions = CloneAll(scan.key_conditions);
  copy->reversed = scan.reversed;
  copy->needs_all_rows = scan.needs_all_rows;
  copy->time_conditions = CloneAll(scan.time_conditions);
  copy->hints = scan.hints;
  return copy;
}

// Gives the parameters of lambdas the columns from `width` on.
void NumberLambdas(ExpressionPtr* expression, size_t width) {
  Expression& node = **expression;
  if (node.kind != Expression::Kind::kLambda) {
    for (ExpressionPtr& argument : node.arguments) {
      if (argument != nullptr) NumberLambdas(&argument, width);
    }
    return;
  }
  const size_t old = node.index;
  const size_t count = node.count;
  node.index = width;
  VisitNodes(&node.arguments[0], [&](ExpressionPtr* inside, size_t level) {
    if (IsReference(**inside, level) && (*inside)->index >= old && (*inside)->index < old + count) {
      (*inside)->index = (*inside)->index - old + width;
    }
    return false;
  });
  NumberLambdas(&node.arguments[0], width + count);
}

// Makes the row that a subquery sees one of just the columns that it reads.  What reads nothing of that row gets none:
// the rows further out are nearer by one then.
void SeeOuterColumns(Expression* query, Plan* plan) {
  std::vector<size_t>& seen = query->outer_columns;
  const auto each = [plan](VisitNode visit) { VisitPlan(plan, visit, 1); };
  each([&seen](ExpressionPtr* node, size_t level) {
    if (IsReference(**node, level)) seen.push_back((*node)->index);
    return false;
  });
  std::sort(seen.begin(), seen.end());
  seen.erase(std::unique(seen.begin(), seen.end()), seen.end());
  each([&](ExpressionPtr* node, size_t level) {
    if (IsReference(**node, level)) {
      const auto place = std::lower_bound(seen.begin(), seen.end(), (*node)->index);
      (*node)->index = static_cast<size_t>(place - seen.begin());
    } else if (!query->is_correlated && (*node)->kind == Expression::Kind::kOuter && (*node)->depth > level) {
      --(*node)->depth;
    }
    return false;
  });
}

void FinishSubqueries(ExpressionPtr* expression) {
  for (ExpressionPtr& argument : (*expression)->arguments) {
    if (argument != nullptr) FinishSubqueries(&argument);
  }
  if ((*expression)->plan == nullptr) return;
  Plan* const plan = OwnPlan(expression->get());
  bool correlated = false;
  VisitPlan(
      plan,
      [&correlated](ExpressionPtr* node, size_t level) {
        correlated = correlated || ((*node)->kind == Expression::Kind::kOuter && (*node)->depth == level);
        return false;
      },
      1);
  (*expression)->is_correlated = correlated;
  SeeOuterColumns(expression->get(), plan);
  FinishPlan(plan);
}

size_t InputWidth(const Plan& plan) {
  if (plan.kind == Plan::Kind::kScan) return plan.scan->columns.size();
  if (plan.kind == Plan::Kind::kSeries) return plan.series->columns.size();
  size_t width = 0;
  for (const PlanPtr& input : plan.inputs) width += input->types.size();
  return width;
}

}  // namespace

void VisitNodes(ExpressionPtr* expression, VisitNode visit, size_t level) {
  if (visit(expression, level)) return;
  Expression& node = **expression;
  for (ExpressionPtr& argument : node.arguments) {
    if (argument != nullptr) VisitNodes(&argument, visit, level);
  }
  if (node.plan != nullptr) VisitPlan(OwnPlan(&node), visit, level + 1);
}

void ForEachExpression(Plan* plan, absl::FunctionRef<void(ExpressionPtr*)> visit) {
  const auto one = [visit](ExpressionPtr& expression) {
    if (expression != nullptr) visit(&expression);
  };
  const auto all = [&one](std::vector<ExpressionPtr>& expressions) {
    for (ExpressionPtr& expression : expressions) one(expression);
  };
  const auto sort = [&one](std::vector<SortKey>& keys) {
    for (SortKey& key : keys) one(key.expr);
  };
  const auto item = [&](AggregateItem& aggregate) {
    all(aggregate.arguments);
    one(aggregate.having);
    sort(aggregate.order_by);
    one(aggregate.limit);
  };
  all(plan->expressions);
  for (AggregateItem& aggregate : plan->aggregates) item(aggregate);
  for (WindowItem& window : plan->windows) {
    item(window.call);
    one(window.start.offset);
    one(window.end.offset);
  }
  sort(plan->sort);
  one(plan->limit);
  one(plan->offset);
  sort(plan->asof_order);
  one(plan->condition);
  const auto temporal = [&one](TemporalArguments& of) {
    for (ExpressionPtr* argument :
         {&of.as_of, &of.after, &of.after_or_equal, &of.before, &of.before_or_equal, &of.latest_n}) {
      one(*argument);
    }
  };
  if (plan->gap_fill != nullptr) {
    GapFill& fill = *plan->gap_fill;
    for (ExpressionPtr* argument :
         {&fill.width.count, &fill.gap_max.count, &fill.origin, &fill.range_start, &fill.range_end}) {
      one(*argument);
    }
  }
  if (plan->series != nullptr) {
    temporal(plan->series->temporal);
    all(plan->series->conditions);
  }
  if (plan->scan == nullptr) return;
  temporal(plan->scan->temporal);
  all(plan->scan->key_conditions);
  all(plan->scan->time_conditions);
}

namespace {

void VisitSubqueries(Expression* expression, absl::FunctionRef<void(Expression::Kind, PlanPtr*)> visit) {
  for (ExpressionPtr& argument : expression->arguments) {
    if (argument != nullptr) VisitSubqueries(argument.get(), visit);
  }
  if (expression->plan == nullptr) return;
  auto subquery = std::make_unique<Plan>(std::move(*OwnPlan(expression)));
  visit(expression->kind, &subquery);
  expression->plan = std::move(subquery);
}

}  // namespace

void ForEachSubquery(Plan* plan, absl::FunctionRef<void(Expression::Kind kind, PlanPtr* subquery)> visit) {
  ForEachExpression(plan, [visit](ExpressionPtr* expression) { VisitSubqueries(expression->get(), visit); });
}

bool IsReference(const Expression& node, size_t level) {
  return level == 0 ? node.kind == Expression::Kind::kColumn
                    : node.kind == Expression::Kind::kOuter && node.depth == level;
}

std::vector<size_t> ReferencesOf(const Expression& expression) {
  std::vector<size_t> found;
  VisitConst(
      expression,
      [&found](const Expression& node, size_t level) {
        if (IsReference(node, level) && node.index < kLambdaBase) found.push_back(node.index);
      },
      0);
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool HasOuter(const Expression& expression) {
  bool has = false;
  VisitConst(
      expression,
      [&has](const Expression& node, size_t level) {
        has = has || (node.kind == Expression::Kind::kOuter && node.depth > level);
      },
      0);
  return has;
}

bool HasSubquery(const Expression& expression) {
  bool has = false;
  VisitConst(expression, [&has](const Expression& node, size_t) { has = has || node.plan != nullptr; }, 0);
  return has;
}

bool HasVolatile(const Expression& expression) {
  bool has = false;
  VisitConst(expression, [&has](const Expression& node, size_t) { has = has || node.is_volatile; }, 0);
  return has;
}

void MapReferences(ExpressionPtr* expression, absl::FunctionRef<size_t(size_t)> to) {
  VisitNodes(expression, [to](ExpressionPtr* node, size_t level) {
    if (IsReference(**node, level) && (*node)->index < kLambdaBase) (*node)->index = to((*node)->index);
    return false;
  });
}

void Substitute(ExpressionPtr* expression, absl::FunctionRef<const Expression*(size_t)> with) {
  VisitNodes(expression, [with](ExpressionPtr* node, size_t level) {
    if (!IsReference(**node, level) || (*node)->index >= kLambdaBase) return false;
    const Expression* const found = with((*node)->index);
    if (found == nullptr) return false;
    ExpressionPtr replacement = CloneDeep(*found);
    if (level > 0) {
      // What the replacement reads are columns of the query further out.
      VisitNodes(&replacement, [level](ExpressionPtr* inside, size_t inner) {
        if (IsReference(**inside, inner)) {
          (*inside)->kind = Expression::Kind::kOuter;
          (*inside)->depth = level + inner;
        } else if ((*inside)->kind == Expression::Kind::kOuter && (*inside)->depth > inner) {
          (*inside)->depth += level;
        }
        return false;
      });
    }
    *node = std::move(replacement);
    return true;
  });
}

ExpressionPtr CloneDeep(const Expression& expression) {
  auto copy = std::make_unique<Expression>();
  copy->kind = expression.kind;
  copy->type = expression.type;
  copy->value = expression.value;
  copy->index = expression.index;
  copy->count = expression.count;
  copy->depth = expression.depth;
  copy->is_safe = expression.is_safe;
  copy->function = expression.function;
  copy->overload = expression.overload;
  copy->cast = expression.cast;
  copy->equal = expression.equal;
  copy->arguments = CloneAll(expression.arguments);
  if (expression.plan != nullptr) copy->plan = ClonePlan(*expression.plan);
  copy->is_correlated = expression.is_correlated;
  copy->outer_columns = expression.outer_columns;
  copy->is_volatile = expression.is_volatile;
  copy->written = expression.written;
  return copy;
}

PlanPtr ClonePlan(const Plan& plan) {
  auto copy = std::make_unique<Plan>();
  copy->kind = plan.kind;
  copy->types = plan.types;
  for (const PlanPtr& input : plan.inputs) copy->inputs.push_back(ClonePlan(*input));
  copy->expressions = CloneAll(plan.expressions);
  if (plan.scan != nullptr) copy->scan = CloneScan(*plan.scan);
  if (plan.series != nullptr) copy->series = CloneSeries(*plan.series);
  if (plan.gap_fill != nullptr) copy->gap_fill = CloneGapFill(*plan.gap_fill);
  copy->history = plan.history;
  copy->with_offset = plan.with_offset;
  copy->is_outer = plan.is_outer;
  for (const AggregateItem& item : plan.aggregates) copy->aggregates.push_back(CloneItem(item));
  for (const WindowItem& item : plan.windows) copy->windows.push_back(CloneWindow(item));
  copy->sort = CloneSort(plan.sort);
  copy->limit = CloneOrNull(plan.limit);
  copy->offset = CloneOrNull(plan.offset);
  copy->join = plan.join;
  copy->asof = plan.asof;
  copy->asof_order = CloneSort(plan.asof_order);
  copy->condition = CloneOrNull(plan.condition);
  copy->set_is_except = plan.set_is_except;
  copy->set_is_distinct = plan.set_is_distinct;
  return copy;
}

void FinishPlan(Plan* plan) {
  for (PlanPtr& input : plan->inputs) FinishPlan(input.get());
  const size_t width = InputWidth(*plan);
  ForEachExpression(plan, [width](ExpressionPtr* expression) {
    NumberLambdas(expression, width);
    FinishSubqueries(expression);
  });
}

PlanPtr MakeSingleRow() { return std::make_unique<Plan>(); }

PlanPtr MakeFilter(PlanPtr input, ExpressionPtr condition) {
  if (condition == nullptr) return input;
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kFilter;
  plan->types = input->types;
  plan->inputs.push_back(std::move(input));
  plan->expressions.push_back(std::move(condition));
  return plan;
}

PlanPtr MakeProject(PlanPtr input, std::vector<ExpressionPtr> expressions) {
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kProject;
  for (const ExpressionPtr& expression : expressions) plan->types.push_back(expression->type);
  plan->inputs.push_back(std::move(input));
  plan->expressions = std::move(expressions);
  return plan;
}

PlanPtr MakeDistinct(PlanPtr input) {
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kAggregate;
  plan->types = input->types;
  for (size_t i = 0; i < input->types.size(); ++i)
    plan->expressions.push_back(MakeColumn(i, input->types[i]));
  plan->inputs.push_back(std::move(input));
  return plan;
}

PlanPtr MakeSort(PlanPtr input, std::vector<SortKey> sort) {
  if (sort.empty()) return input;
  auto plan = std::make_unique<Plan>();
  plan->kind = Plan::Kind::kSort;
  plan->types = input->types;
  plan->inputs.push_back(std::move(input));
  plan->sort = std::move(sort);
  return plan;
}

ExpressionPtr MakeAnd(std::vector<ExpressionPtr> conditions) {
  if (conditions.empty()) return nullptr;
  if (conditions.size() == 1) return std::move(conditions.front());
  auto both = std::make_unique<Expression>();
  both->kind = Expression::Kind::kAnd;
  both->type = TypeKind::kBool;
  both->arguments = std::move(conditions);
  return both;
}

void SplitAnd(ExpressionPtr condition, std::vector<ExpressionPtr>* conjuncts) {
  if (condition->kind != Expression::Kind::kAnd) {
    conjuncts->push_back(std::move(condition));
    return;
  }
  for (ExpressionPtr& argument : condition->arguments) SplitAnd(std::move(argument), conjuncts);
}

}  // namespace sonde::sql
