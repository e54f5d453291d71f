#include "sql/plan/column_units.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/types/span.h"
#include "series/known/known_series.h"

namespace sonde::sql {
namespace {

using Units = std::vector<std::string>;

// Functions whose value is of their first argument's kind.
constexpr std::string_view kLikeFirst[] = {"ABS",   "ROUND",        "TRUNC",      "CEIL",
                                           "FLOOR", "$unary_minus", "SAFE_NEGATE"};
// Functions whose value is of the kind of all their arguments.
constexpr std::string_view kLikeAll[] = {"$add",          "$subtract", "SAFE_ADD",
                                         "SAFE_SUBTRACT", "GREATEST",  "LEAST"};
// Aggregates and window functions whose value is of their first argument's kind.
constexpr std::string_view kAggregates[] = {"MIN",
                                            "MAX",
                                            "AVG",
                                            "SUM",
                                            "ANY_VALUE",
                                            "FIRST",
                                            "LAST",
                                            "MIN_BY",
                                            "MAX_BY",
                                            "DELTA",
                                            "INCREASE",
                                            "TIME_WEIGHTED_AVG",
                                            "STDDEV",
                                            "STDDEV_POP",
                                            "STDDEV_SAMP",
                                            "FIRST_VALUE",
                                            "LAST_VALUE",
                                            "NTH_VALUE",
                                            "LAG",
                                            "LEAD",
                                            "PERCENTILE_CONT",
                                            "PERCENTILE_DISC"};
constexpr std::string_view kRates[] = {"RATE", "IRATE"};

bool Has(absl::Span<const std::string_view> names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

// The name that a function has without its aliases.
std::string_view NameOf(const Function* function) {
  if (function == nullptr) return "";
  return function->alias_of.empty() ? function->name : function->alias_of;
}

// Nothing: it goes with any unit.
std::optional<std::string> UnitOf(const Expression& expression, const Units& input);

// The unit that those arguments from `first` on, each `step`-th, have in common.
std::optional<std::string> Common(const Expression& expression, const Units& input, size_t first = 0,
                                  size_t step = 1) {
  std::optional<std::string> common;
  for (size_t i = first; i < expression.arguments.size(); i += step) {
    std::optional<std::string> unit = UnitOf(*expression.arguments[i], input);
    if (!unit.has_value()) continue;
    if (common.has_value() && *common != *unit) return "";
    common = std::move(unit);
  }
  return common;
}

// CASE: condition, value, condition, value, ..., else.
std::optional<std::string> UnitOfCase(const Expression& expression, const Units& input) {
  std::optional<std::string> unit = Common(expression, input, 1, 2);
  if (expression.arguments.size() % 2 == 0) return unit;
  std::optional<std::string> otherwise = UnitOf(*expression.arguments.back(), input);
  if (!unit.has_value()) return otherwise;
  return !otherwise.has_value() || *otherwise == *unit ? unit : "";
}

std::optional<std::string> UnitOf(const Expression& expression, const Units& input) {
  using Kind = Expression::Kind;
  switch (expression.kind) {
    case Kind::kLiteral:
    case Kind::kParameter:
      return std::nullopt;
    case Kind::kColumn:
      return expression.index < input.size() ? input[expression.index] : "";
    case Kind::kCast:
      return expression.type.IsNumeric() ? UnitOf(*expression.arguments[0], input) : "";
    case Kind::kIf:
      return Common(expression, input, 1);
    case Kind::kCase:
      return UnitOfCase(expression, input);
    case Kind::kCoalesce:
    case Kind::kIfError:
      return Common(expression, input);
    case Kind::kNullIf:
    case Kind::kNullIfError:
      return UnitOf(*expression.arguments[0], input);
    case Kind::kCall: {
      const std::string_view name = NameOf(expression.function);
      if (Has(kLikeFirst, name)) return UnitOf(*expression.arguments[0], input);
      if (Has(kLikeAll, name)) return Common(expression, input);
      return "";
    }
    default:
      return "";
  }
}

std::string UnitOfItem(const AggregateItem& item, const Units& input) {
  if (item.arguments.empty()) return "";
  const std::string_view name = NameOf(item.function);
  const bool is_rate = Has(kRates, name);
  if (!is_rate && !Has(kAggregates, name)) return "";
  const std::string unit = UnitOf(*item.arguments[0], input).value_or("");
  return is_rate && !unit.empty() ? unit + "/s" : unit;
}

void AddExpressions(const std::vector<ExpressionPtr>& expressions, const Units& input, Units* units) {
  for (const ExpressionPtr& expression : expressions)
    units->push_back(UnitOf(*expression, input).value_or(""));
}

Units UnitsOfSeries(const Plan::SeriesScan& scan) {
  const series::SeriesSchema schema = series::LabelsAsTags(*scan.series.known);
  Units units;
  for (const SeriesColumn& column : scan.columns) {
    units.push_back(column.kind == SeriesColumn::Kind::kField ? schema.fields[column.index].unit : "");
  }
  return units;
}

// All inputs give the same columns: a column has the unit that it has in each of them.
Units UnitsOfUnion(const Plan& plan) {
  Units units = UnitsOfColumns(*plan.inputs[0]);
  for (size_t i = 1; i < plan.inputs.size(); ++i) {
    const Units others = UnitsOfColumns(*plan.inputs[i]);
    for (size_t column = 0; column < units.size(); ++column) {
      if (column >= others.size() || others[column] != units[column]) units[column].clear();
    }
  }
  return units;
}

}  // namespace

std::vector<std::string> UnitsOfColumns(const Plan& plan) {
  using Kind = Plan::Kind;
  Units units;
  switch (plan.kind) {
    case Kind::kSeries:
      units = UnitsOfSeries(*plan.series);
      break;
    case Kind::kProject:
      AddExpressions(plan.expressions, UnitsOfColumns(*plan.inputs[0]), &units);
      break;
    case Kind::kAggregate: {
      const Units input = UnitsOfColumns(*plan.inputs[0]);
      AddExpressions(plan.expressions, input, &units);
      for (const AggregateItem& item : plan.aggregates) units.push_back(UnitOfItem(item, input));
      break;
    }
    case Kind::kWindow:
      units = UnitsOfColumns(*plan.inputs[0]);
      units.resize(plan.inputs[0]->types.size());
      for (const WindowItem& item : plan.windows) units.push_back(UnitOfItem(item.call, units));
      break;
    case Kind::kJoin:
      for (const PlanPtr& input : plan.inputs) {
        for (std::string& unit : UnitsOfColumns(*input)) units.push_back(std::move(unit));
      }
      break;
    case Kind::kUnion:
    case Kind::kSetOperation:
      units = UnitsOfUnion(plan);
      break;
    case Kind::kFilter:
    case Kind::kSort:
    case Kind::kLimit:
    case Kind::kGapFill:
    case Kind::kUnnest:
    case Kind::kUnpack:
      if (!plan.inputs.empty()) units = UnitsOfColumns(*plan.inputs[0]);
      break;
    case Kind::kSingleRow:
    case Kind::kScan:
      break;
  }
  units.resize(plan.types.size());
  return units;
}

}  // namespace sonde::sql
