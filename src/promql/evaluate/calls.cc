// Calls of functions, and those that take vectors.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "promql/evaluate/evaluator.h"
#include "promql/functions/dates.h"
#include "promql/functions/go_math.h"

namespace sonde::promql {
namespace {

using NumberFunction = double (*)(double);

const absl::flat_hash_map<std::string_view, NumberFunction>& NumberFunctions() {
  static const auto* const functions = new absl::flat_hash_map<std::string_view, NumberFunction>{
      {"abs", [](double v) { return std::fabs(v); }},
      {"ceil", [](double v) { return std::ceil(v); }},
      {"floor", [](double v) { return std::floor(v); }},
      {"exp", [](double v) { return std::exp(v); }},
      {"sqrt", [](double v) { return std::sqrt(v); }},
      {"ln", [](double v) { return std::log(v); }},
      {"log2", [](double v) { return std::log2(v); }},
      {"log10", [](double v) { return std::log10(v); }},
      {"sin", [](double v) { return std::sin(v); }},
      {"cos", [](double v) { return std::cos(v); }},
      {"tan", [](double v) { return std::tan(v); }},
      {"asin", [](double v) { return std::asin(v); }},
      {"acos", [](double v) { return std::acos(v); }},
      {"atan", [](double v) { return std::atan(v); }},
      {"sinh", [](double v) { return std::sinh(v); }},
      {"cosh", [](double v) { return std::cosh(v); }},
      {"tanh", [](double v) { return std::tanh(v); }},
      {"asinh", [](double v) { return std::asinh(v); }},
      {"acosh", [](double v) { return std::acosh(v); }},
      {"atanh", [](double v) { return std::atanh(v); }},
      {"rad", [](double v) { return v * std::numbers::pi / 180; }},
      {"deg", [](double v) { return v * 180 / std::numbers::pi; }},
      {"sgn", [](double v) { return v < 0   ? -1
                                    : v > 0 ? 1
                                            : v; }},
  };
  return *functions;
}

// `function` of the value and the step, for all rows, which lose their names.
template <typename Function>
absl::StatusOr<Matrix> MapRows(Matrix rows, Function function) {
  for (Row& row : rows) {
    row.labels = WithoutName(std::move(row.labels));
    for (size_t step = 0; step < row.values.size(); ++step) {
      if (row.present[step]) row.values[step] = function(row.values[step], step);
    }
  }
  return JoinSameLabels(std::move(rows));
}

absl::StatusOr<Matrix> Clamp(std::string_view name, std::vector<Matrix> arguments) {
  const bool has_least = name != "clamp_max";
  const bool has_most = name != "clamp_min";
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  const Matrix& last = arguments.back();
  const auto least = [&](size_t step) { return has_least ? arguments[1][0].values[step] : -kInfinity; };
  const auto most = [&](size_t step) { return has_most ? last[0].values[step] : kInfinity; };
  for (Row& row : arguments[0]) {
    for (size_t step = 0; step < row.values.size(); ++step) {
      if (most(step) < least(step)) row.present[step] = 0;
    }
  }
  std::erase_if(arguments[0], [](const Row& row) { return row.IsEmpty(); });
  return MapRows(std::move(arguments[0]),
                 [&](double value, size_t step) { return GoMax(least(step), GoMin(most(step), value)); });
}

absl::StatusOr<Matrix> Round(std::vector<Matrix> arguments) {
  return MapRows(std::move(arguments[0]), [&](double value, size_t step) {
    const double inverse = 1.0 / (arguments.size() > 1 ? arguments[1][0].values[step] : 1.0);
    return std::floor(value * inverse + 0.5) / inverse;
  });
}

Matrix ScalarOf(const Matrix& vector, size_t steps) {
  Matrix result;
  Row& row = result.emplace_back(Labels(), steps);
  for (size_t step = 0; step < steps; ++step) {
    double value = std::nan("");
    size_t count = 0;
    for (const Row& input : vector) {
      if (!input.present[step]) continue;
      value = ++count == 1 ? input.values[step] : std::nan("");
    }
    row.Set(step, value);
  }
  return result;
}

absl::StatusOr<Matrix> Extreme(const std::vector<Matrix>& arguments, bool is_most) {
  Matrix result = arguments[0];
  for (size_t step = 0; step < result[0].values.size(); ++step) {
    const double other = arguments[1][0].values[step];
    double& value = result[0].values[step];
    value = is_most ? GoMax(value, other) : GoMin(value, other);
  }
  return result;
}

}  // namespace

bool IsOfSampleTimes(const Expression& node) {
  return node.kind == ExpressionKind::kCall &&
         (node.function->name == "timestamp" || node.function->name == "start_timestamp") &&
         node.operands[0]->kind == ExpressionKind::kSelector;
}

Labels AbsentLabels(const Expression& argument) {
  const Expression* selector = &argument;
  if (selector->kind == ExpressionKind::kRange) selector = selector->operands[0].get();
  Labels labels;
  if (selector->kind != ExpressionKind::kSelector) return labels;
  std::set<std::string_view> seen;
  for (const Matcher& matcher : selector->matchers) {
    if (matcher.name() == kMetricLabel) continue;
    if (matcher.kind() == MatchKind::kEqual && seen.insert(matcher.name()).second) {
      SetLabel(matcher.name(), matcher.value(), &labels);
    } else {
      RemoveLabel(matcher.name(), &labels);
    }
  }
  return labels;
}

absl::StatusOr<Matrix> Evaluator::Absent(const Expression& node, const Matrix& input) {
  Row row(AbsentLabels(*node.operands[0]), steps_);
  for (size_t step = 0; step < steps_; ++step) {
    const bool is_any =
        std::any_of(input.begin(), input.end(), [&](const Row& one) { return one.present[step] != 0; });
    if (!is_any) row.Set(step, 1);
  }
  Matrix result;
  if (!row.IsEmpty()) result.push_back(std::move(row));
  return result;
}

absl::StatusOr<Matrix> Evaluator::CallOfTime(const Expression& node) {
  const std::string_view name = node.function->name;
  Matrix result = Constant(std::numbers::pi);
  if (name == "pi") return result;
  const DateFunction date = FindDateFunction(name);
  for (size_t step = 0; step < steps_; ++step) {
    const int64_t time = TimeOf(step);
    // Go rounds towards 0.
    result[0].values[step] =
        name == "time" ? static_cast<double>(time) / 1000 : date(static_cast<double>(time / 1000));
  }
  return result;
}

absl::StatusOr<Matrix> Evaluator::EvaluateCall(const Expression& node) {
  const std::string_view name = node.function->name;
  if (name == "label_replace") return ReplaceLabel(node);
  if (name == "label_join") return JoinLabels(node);
  if (name == "info") return AddInfo(node);
  if (IsOfSampleTimes(node) && !node.operands[0]->is_step_invariant) {
    absl::StatusOr<Matrix> rows = Select(*node.operands[0], true);
    if (!rows.ok()) return rows;
    if (name == "start_timestamp") return Matrix();
    return MapRows(*std::move(rows), [](double time, size_t) { return time; });
  }
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (TypeOf(*node.operands[i]) != ValueType::kMatrix) continue;
    // Prometheus has no window of a subquery that is evaluated once within a call that is not, and counts its samples for each step.
    if (node.operands[i]->is_step_invariant) {
      const int64_t before = context_->stats().samples_total;
      const auto all = ReadRange(*node.operands[i]);
      context_->stats().samples_total +=
          (context_->stats().samples_total - before) * static_cast<int64_t>(steps_ - 1);
      return all.ok() ? absl::StatusOr<Matrix>(Matrix()) : all.status();
    }
    return CallOverRange(node, i);
  }
  if (node.operands.empty()) return CallOfTime(node);
  return CallOverVectors(node);
}

absl::StatusOr<Matrix> Evaluator::CallOverVectors(const Expression& node) {
  const std::string_view name = node.function->name;
  std::vector<Matrix> arguments;
  for (const ExpressionPtr& operand : node.operands) {
    if (TypeOf(*operand) == ValueType::kString) {
      arguments.emplace_back();
      continue;
    }
    absl::StatusOr<Matrix> value = Evaluate(*operand);
    if (!value.ok()) return value;
    arguments.push_back(*std::move(value));
  }
  const auto function = NumberFunctions().find(name);
  if (function != NumberFunctions().end()) {
    return MapRows(std::move(arguments[0]), [&](double value, size_t) { return function->second(value); });
  }
  if (const DateFunction date = FindDateFunction(name)) {
    return MapRows(std::move(arguments[0]), [&](double value, size_t) { return date(value); });
  }
  // As Prometheus without its feature "use-start-timestamps": no sample has one.
  if (name == "start_timestamp") return Matrix();
  if (name == "timestamp") {
    return MapRows(std::move(arguments[0]),
                   [&](double, size_t step) { return static_cast<double>(TimeOf(step)) / 1000; });
  }
  if (name.starts_with("clamp")) return Clamp(name, std::move(arguments));
  if (name.starts_with("sort")) return SortRows(node, std::move(arguments[0]));
  if (name == "round") return Round(std::move(arguments));
  if (name == "vector") return std::move(arguments[0]);
  if (name == "scalar") return ScalarOf(arguments[0], steps_);
  if (name == "absent") return Absent(node, arguments[0]);
  if (name == "max_of" || name == "min_of") return Extreme(arguments, name == "max_of");
  if (name.starts_with("histogram_")) return HistogramCall(node, arguments);
  return absl::UnimplementedError(fmt::format("the function {} is not supported", name));
}

}  // namespace sonde::promql
