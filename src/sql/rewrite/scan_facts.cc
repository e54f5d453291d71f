#include "sql/rewrite/scan_facts.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/plan/access.h"
#include "sql/plan/plan_tree.h"

namespace sonde::sql {
namespace {

bool Has(const std::vector<size_t>& columns, size_t column) {
  return std::find(columns.begin(), columns.end(), column) != columns.end();
}

// Functions whose result is NULL if one of their arguments is.
bool IsStrict(const Function& function) {
  static constexpr std::string_view kStrict[] = {"$add",
                                                 "$subtract",
                                                 "$multiply",
                                                 "$divide",
                                                 "$unary_minus",
                                                 "$bitwise_not",
                                                 "$bitwise_and",
                                                 "$bitwise_or",
                                                 "$bitwise_xor",
                                                 "$shift_left",
                                                 "$shift_right",
                                                 "$concat",
                                                 "$equal",
                                                 "$not_equal",
                                                 "$less",
                                                 "$less_or_equal",
                                                 "$greater",
                                                 "$greater_or_equal",
                                                 "$like",
                                                 "$not",
                                                 "$extract",
                                                 "TO_INT64",
                                                 "TO_FLOAT64",
                                                 "TO_FLOAT32",
                                                 "LENGTH",
                                                 "BYTE_LENGTH",
                                                 "CHAR_LENGTH",
                                                 "SUBSTR",
                                                 "LOWER",
                                                 "UPPER",
                                                 "STARTS_WITH",
                                                 "ENDS_WITH",
                                                 "REGEXP_CONTAINS",
                                                 "ABS",
                                                 "SAFE_CONVERT_BYTES_TO_STRING",
                                                 "TIMESTAMP_TRUNC",
                                                 "TIMESTAMP_ADD",
                                                 "TIMESTAMP_SUB",
                                                 "TIMESTAMP_DIFF",
                                                 "DIV",
                                                 "MOD",
                                                 "ROUND",
                                                 "FLOOR",
                                                 "CEIL",
                                                 "TRUNC",
                                                 "JSON_VALUE"};
  return std::find(std::begin(kStrict), std::end(kStrict), function.name) != std::end(kStrict);
}

// Whether an expression is NULL where these columns are.
bool IsNullWith(const Expression& expression, const std::vector<size_t>& columns) {
  const auto any = [&](const std::vector<ExpressionPtr>& arguments) {
    return std::any_of(arguments.begin(), arguments.end(), [&](const ExpressionPtr& argument) {
      return argument->kind != Expression::Kind::kLambda && IsNullWith(*argument, columns);
    });
  };
  switch (expression.kind) {
    case Expression::Kind::kColumn:
      return Has(columns, expression.index);
    case Expression::Kind::kLiteral:
      return expression.value.is_null();
    case Expression::Kind::kCast:
    case Expression::Kind::kField:
      return IsNullWith(*expression.arguments[0], columns);
    case Expression::Kind::kCoalesce:
      return std::ranges::all_of(expression.arguments, [&columns](const ExpressionPtr& argument) {
        return IsNullWith(*argument, columns);
      });
    case Expression::Kind::kCall: {
      if (expression.function == nullptr) return false;
      if (IsStrict(*expression.function)) return any(expression.arguments);
      const std::string_view name = expression.function->name;
      // x IN (...) and x BETWEEN a AND b are not TRUE, and their NOT is not, where x is NULL.
      const bool by_first = name == "$in" || name == "$between";
      return by_first && IsNullWith(*expression.arguments[0], columns);
    }
    default:
      return false;
  }
}

bool IsFalseOrNullWith(const Expression& condition, const std::vector<size_t>& columns);

// Whether a condition is not FALSE where these columns are NULL.
bool IsTrueOrNullWith(const Expression& condition, const std::vector<size_t>& columns) {
  if (IsCallOf(condition, "$is_null")) return IsNullWith(*condition.arguments[0], columns);
  if (IsCallOf(condition, "$not")) return IsFalseOrNullWith(*condition.arguments[0], columns);
  return IsNullWith(condition, columns);
}

bool IsFalseOrNullWith(const Expression& condition, const std::vector<size_t>& columns) {
  const auto rejects = [&columns](const ExpressionPtr& argument) {
    return IsFalseOrNullWith(*argument, columns);
  };
  switch (condition.kind) {
    case Expression::Kind::kAnd:
      return std::any_of(condition.arguments.begin(), condition.arguments.end(), rejects);
    case Expression::Kind::kOr:
      return std::all_of(condition.arguments.begin(), condition.arguments.end(), rejects);
    default:
      break;
  }
  if (IsCallOf(condition, "$not")) return IsTrueOrNullWith(*condition.arguments[0], columns);
  if (IsCallOf(condition, "$is_true") || IsCallOf(condition, "$is_false") ||
      IsCallOf(condition, "$in_array")) {
    return IsNullWith(*condition.arguments[0], columns);
  }
  return IsNullWith(condition, columns);
}

// The columns of a scan that are NULL in a row without values.
std::vector<size_t> CellsOf(const Plan::Scan& scan) {
  std::vector<size_t> cells;
  for (size_t i = 0; i < scan.columns.size(); ++i) {
    const ScanColumn::Kind kind = scan.columns[i].kind;
    if (kind == ScanColumn::Kind::kCell || kind == ScanColumn::Kind::kWriteTimestamp ||
        kind == ScanColumn::Kind::kNumber || kind == ScanColumn::Kind::kNumberBytes) {
      cells.push_back(i);
    }
  }
  return cells;
}

// The columns of a series' scan that are NULL in a point without values.
std::vector<size_t> FieldsOf(const Plan::SeriesScan& scan) {
  std::vector<size_t> fields;
  for (size_t i = 0; i < scan.columns.size(); ++i) {
    if (scan.columns[i].kind == SeriesColumn::Kind::kField) fields.push_back(i);
  }
  return fields;
}

bool IsPlain(const Expression& condition) {
  return !HasVolatile(condition) && !HasOuter(condition) && !HasSubquery(condition);
}

void CollectKeyConditions(const Expression& condition, Plan::Scan* scan) {
  if (condition.kind == Expression::Kind::kAnd) {
    for (const ExpressionPtr& argument : condition.arguments) CollectKeyConditions(*argument, scan);
    return;
  }
  const std::vector<size_t> columns = ReferencesOf(condition);
  const bool is_of_key =
      !columns.empty() && std::all_of(columns.begin(), columns.end(), [scan](size_t column) {
        const ScanColumn::Kind kind = scan->columns[column].kind;
        return kind == ScanColumn::Kind::kKey || kind == ScanColumn::Kind::kKeyField;
      });
  if (is_of_key && IsPlain(condition)) scan->key_conditions.push_back(CloneDeep(condition));
}

// Conditions on the time and on values do not go before the newest points.
void CollectSeriesConditions(const Expression& condition, Plan::SeriesScan* scan) {
  if (condition.kind == Expression::Kind::kAnd) {
    for (const ExpressionPtr& argument : condition.arguments) CollectSeriesConditions(*argument, scan);
    return;
  }
  const std::vector<size_t> columns = ReferencesOf(condition);
  const bool is_narrowing = !columns.empty() && std::ranges::all_of(columns, [scan](size_t column) {
    const SeriesColumn::Kind kind = scan->columns[column].kind;
    return kind == SeriesColumn::Kind::kTag || (kind == SeriesColumn::Kind::kTime && !scan->IsOfNewest());
  });
  if (is_narrowing && IsPlain(condition)) scan->conditions.push_back(CloneDeep(condition));
}

void OfSeriesFilter(const Expression& condition, Plan::SeriesScan* scan) {
  CollectSeriesConditions(condition, scan);
  if (!scan->IsOfNewest() && IsNullRejecting(condition, FieldsOf(*scan))) scan->needs_all_points = false;
}

// Whether no expression looks into a history, so that fewer cells change nothing but the histories themselves.
bool KeepsHistories(const Plan& plan) {
  const auto looks = [&plan](const Expression& expression) {
    if (expression.kind == Expression::Kind::kColumn) return false;
    for (const size_t column : ReferencesOf(expression)) {
      const Type& type = plan.inputs[0]->types[column];
      if (type.Is(TypeKind::kArray) || type.Is(TypeKind::kMap)) return true;
    }
    return false;
  };
  return std::none_of(plan.expressions.begin(), plan.expressions.end(),
                      [&looks](const ExpressionPtr& expression) { return looks(*expression); });
}

// The scan whose rows an UNPACK unpacks; null: it is not as simple as that.
Plan::Scan* ScanBelow(Plan* unpack) {
  Plan* at = unpack->inputs[0].get();
  while (at->kind == Plan::Kind::kProject || at->kind == Plan::Kind::kFilter) {
    if (!KeepsHistories(*at)) return nullptr;
    at = at->inputs[0].get();
  }
  return at->kind == Plan::Kind::kScan ? at->scan.get() : nullptr;
}

bool IsComparison(const Expression& condition) {
  static constexpr std::string_view kComparisons[] = {
      "$equal", "$less", "$less_or_equal", "$greater", "$greater_or_equal", "$between"};
  return condition.kind == Expression::Kind::kCall && condition.function != nullptr &&
         std::find(std::begin(kComparisons), std::end(kComparisons), condition.function->name) !=
             std::end(kComparisons);
}

void CollectTimeConditions(const Expression& condition, size_t time, Plan::Scan* scan) {
  if (condition.kind == Expression::Kind::kAnd) {
    for (const ExpressionPtr& argument : condition.arguments) CollectTimeConditions(*argument, time, scan);
    return;
  }
  if (ReferencesOf(condition) != std::vector<size_t>{time} || !IsComparison(condition) || !IsPlain(condition))
    return;
  ExpressionPtr of_time = CloneDeep(condition);
  MapReferences(&of_time, [](size_t) { return size_t{0}; });
  scan->time_conditions.push_back(std::move(of_time));
}

void OfFilter(Plan* filter) {
  Plan& input = *filter->inputs[0];
  const Expression& condition = *filter->expressions[0];
  if (input.kind == Plan::Kind::kScan) {
    CollectKeyConditions(condition, input.scan.get());
    if (IsNullRejecting(condition, CellsOf(*input.scan))) input.scan->needs_all_rows = false;
  }
  if (input.kind == Plan::Kind::kSeries) OfSeriesFilter(condition, input.series.get());
  if (input.kind != Plan::Kind::kUnpack) return;
  Plan::Scan* const scan = ScanBelow(&input);
  if (scan == nullptr) return;
  for (const ScanColumn& column : scan->columns) {
    if (column.kind == ScanColumn::Kind::kWriteTimestamp) return;
  }
  CollectTimeConditions(condition, input.types.size() - 1, scan);
}

// A row without values has no times, and vanishes.
void OfUnpack(Plan* unpack) {
  Plan* at = unpack->inputs[0].get();
  while (at->kind == Plan::Kind::kProject || at->kind == Plan::Kind::kFilter) at = at->inputs[0].get();
  if (at->kind == Plan::Kind::kScan) at->scan->needs_all_rows = false;
}

// Rows without values do not matter to a total that leaves NULL out.
void OfAggregate(Plan* aggregate) {
  const Plan& input = *aggregate->inputs[0];
  const bool is_series = input.kind == Plan::Kind::kSeries && !input.series->IsOfNewest();
  if (input.kind != Plan::Kind::kScan && !is_series) return;
  if (!aggregate->expressions.empty() || aggregate->aggregates.empty()) return;
  const std::vector<size_t> cells = is_series ? FieldsOf(*input.series) : CellsOf(*input.scan);
  const bool leaves_out = std::ranges::all_of(aggregate->aggregates, [&cells](const AggregateItem& item) {
    return item.function != nullptr && !item.function->takes_nulls && item.having == nullptr &&
           !item.arguments.empty() && IsNullWith(*item.arguments[0], cells);
  });
  if (!leaves_out) return;
  if (is_series) {
    input.series->needs_all_points = false;
  } else {
    input.scan->needs_all_rows = false;
  }
}

// The scan whose row key a column is, if its rows come in the order of the scan; null: there is none.
Plan::Scan* ScanInOrder(Plan* plan, size_t column, bool* repeats) {
  switch (plan->kind) {
    case Plan::Kind::kScan:
      return plan->scan->columns[column].kind == ScanColumn::Kind::kKey ? plan->scan.get() : nullptr;
    case Plan::Kind::kFilter:
      return ScanInOrder(plan->inputs[0].get(), column, repeats);
    case Plan::Kind::kUnnest:
    case Plan::Kind::kUnpack:
      *repeats = true;
      if (column >= plan->inputs[0]->types.size()) return nullptr;
      return ScanInOrder(plan->inputs[0].get(), column, repeats);
    case Plan::Kind::kProject: {
      const Expression& expression = *plan->expressions[column];
      if (expression.kind != Expression::Kind::kColumn) return nullptr;
      return ScanInOrder(plan->inputs[0].get(), expression.index, repeats);
    }
    default:
      return nullptr;
  }
}

void OfSort(PlanPtr* plan) {
  const SortKey& first = (*plan)->sort[0];
  if (first.expr->kind != Expression::Kind::kColumn) return;
  bool repeats = false;
  Plan::Scan* const scan = ScanInOrder((*plan)->inputs[0].get(), first.expr->index, &repeats);
  if (scan == nullptr || (repeats && (*plan)->sort.size() > 1)) return;
  scan->reversed = first.descending;
  PlanPtr input = std::move((*plan)->inputs[0]);
  *plan = std::move(input);
}

}  // namespace

bool IsNullRejecting(const Expression& condition, const std::vector<size_t>& columns) {
  return !columns.empty() && IsFalseOrNullWith(condition, columns);
}

void CollectScanFacts(PlanPtr* plan) {
  if ((*plan)->kind == Plan::Kind::kSort) OfSort(plan);
  if ((*plan)->kind == Plan::Kind::kFilter) OfFilter(plan->get());
  if ((*plan)->kind == Plan::Kind::kUnpack) OfUnpack(plan->get());
  if ((*plan)->kind == Plan::Kind::kAggregate) OfAggregate(plan->get());
  for (PlanPtr& input : (*plan)->inputs) CollectScanFacts(&input);
  ForEachSubquery(plan->get(),
                  [](Expression::Kind /*kind*/, PlanPtr* subquery) { CollectScanFacts(subquery); });
}

}  // namespace sonde::sql
