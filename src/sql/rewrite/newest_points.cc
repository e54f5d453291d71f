#include "sql/rewrite/newest_points.h"

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "series/known/known_series.h"
#include "sql/plan/plan_tree.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

bool IsOne(const Expression& expression) {
  return expression.kind == Expression::Kind::kLiteral && expression.type.Is(TypeKind::kInt64) &&
         !expression.value.is_null() && expression.value.datum().integer == 1;
}

bool IsColumn(const Expression& expression, size_t column) {
  return expression.kind == Expression::Kind::kColumn && expression.index == column;
}

// $column = 1.
bool SaysOne(const Expression& condition, size_t column) {
  if (!IsCallOf(condition, "$equal")) return false;
  const Expression& left = *condition.arguments[0];
  const Expression& right = *condition.arguments[1];
  return (IsColumn(left, column) && IsOne(right)) || (IsColumn(right, column) && IsOne(left));
}

// Whether a condition is about whole series, so that it leaves the newest point of each that it lets through.
bool IsOfTags(const Expression& condition, const Plan::SeriesScan& scan) {
  if (HasVolatile(condition) || HasOuter(condition) || HasSubquery(condition)) return false;
  return std::ranges::all_of(ReferencesOf(condition), [&scan](size_t column) {
    return scan.columns[column].kind == SeriesColumn::Kind::kTag;
  });
}

// The scan whose points a window numbers; null: there are other operators between, or none that would do.
Plan::SeriesScan* ScanOfWindow(Plan* window) {
  Plan* at = window->inputs[0].get();
  if (at->kind == Plan::Kind::kFilter && at->inputs[0]->kind == Plan::Kind::kSeries) {
    if (!IsOfTags(*at->expressions[0], *at->inputs[0]->series)) return nullptr;
    at = at->inputs[0].get();
  }
  if (at->kind != Plan::Kind::kSeries) return nullptr;
  Plan::SeriesScan* const scan = at->series.get();
  const TemporalArguments& temporal = scan->temporal;
  const bool has_times = temporal.after != nullptr || temporal.after_or_equal != nullptr ||
                         temporal.before != nullptr || temporal.before_or_equal != nullptr;
  // In layout columns a series may have several points of one time.
  const bool is_of_columns = scan->series.known->schema.layout == series::Layout::kColumns;
  return scan->IsOfNewest() || has_times || is_of_columns ? nullptr : scan;
}

bool NumbersNewestFirst(const Plan& window, const Plan::SeriesScan& scan) {
  const series::KnownSeries& known = *scan.series.known;
  if (window.windows.size() != 1 || window.sort.size() != 1) return false;
  const AggregateItem& call = window.windows[0].call;
  if (call.function == nullptr || call.function->name != "ROW_NUMBER") return false;
  const SortKey& key = window.sort[0];
  if (!key.descending || key.expr->kind != Expression::Kind::kColumn) return false;
  if (scan.columns[key.expr->index].kind != SeriesColumn::Kind::kTime) return false;
  std::vector<bool> has_tag(known.is_open() ? known.labels.size() : known.schema.tags.size(), false);
  for (const ExpressionPtr& partition : window.expressions) {
    if (partition->kind != Expression::Kind::kColumn) return false;
    const SeriesColumn& column = scan.columns[partition->index];
    if (column.kind != SeriesColumn::Kind::kTag) return false;
    has_tag[column.index] = true;
  }
  return std::ranges::all_of(has_tag, [](bool has) { return has; });
}

void OfFilterOverWindow(PlanPtr* plan) {
  Plan* const window = (*plan)->inputs[0].get();
  if (window->kind != Plan::Kind::kWindow) return;
  Plan::SeriesScan* const scan = ScanOfWindow(window);
  if (scan == nullptr || !NumbersNewestFirst(*window, *scan)) return;
  const size_t number = window->inputs[0]->types.size();
  std::vector<ExpressionPtr> conjuncts;
  SplitAnd(CloneDeep(*(*plan)->expressions[0]), &conjuncts);
  const auto says_one = std::ranges::find_if(
      conjuncts, [number](const ExpressionPtr& conjunct) { return SaysOne(*conjunct, number); });
  if (says_one == conjuncts.end()) return;
  conjuncts.erase(says_one);
  scan->temporal.latest_n = MakeLiteral(Value::Int(1));
  std::vector<ExpressionPtr> columns;
  for (size_t i = 0; i < number; ++i) columns.push_back(MakeColumn(i, window->inputs[0]->types[i]));
  columns.push_back(MakeLiteral(Value::Int(1)));
  PlanPtr input = std::move(window->inputs[0]);
  *plan = MakeFilter(MakeProject(std::move(input), std::move(columns)), MakeAnd(std::move(conjuncts)));
}

}  // namespace

void UseNewestPoints(PlanPtr* plan) {
  if ((*plan)->kind == Plan::Kind::kFilter) OfFilterOverWindow(plan);
  for (PlanPtr& input : (*plan)->inputs) UseNewestPoints(&input);
  ForEachSubquery(plan->get(),
                  [](Expression::Kind /*kind*/, PlanPtr* subquery) { UseNewestPoints(subquery); });
}

}  // namespace sonde::sql
