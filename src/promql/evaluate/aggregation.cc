// Aggregations that give a value a group and step.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "promql/evaluate/evaluator.h"
#include "promql/functions/go_math.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

struct Grouping {
  std::vector<size_t> group_of_row;
  std::vector<Labels> labels;  // of the groups
};

Labels GroupLabels(const Expression& node, const Labels& labels) {
  if (!node.is_without) return KeepLabels(labels, node.grouping);
  return WithoutName(DropLabels(labels, node.grouping));
}

Grouping GroupRows(const Expression& node, const Matrix& rows) {
  Grouping result;
  absl::flat_hash_map<Labels, size_t> known;
  for (const Row& row : rows) {
    Labels labels = GroupLabels(node, row.labels);
    const auto [at, is_new] = known.try_emplace(labels, result.labels.size());
    if (is_new) result.labels.push_back(std::move(labels));
    result.group_of_row.push_back(at->second);
  }
  return result;
}

// Of one group at one step.
struct GroupState {
  double value = 0;  // the sum, extreme, or sum of squares
  double lost = 0;
  double mean = 0;
  double count = 0;
  bool is_mean_incremental = false;
};

void AddToSum(double value, GroupState* state) {
  KahanSum sum{state->value, state->lost};
  sum.Add(value);
  state->value = sum.sum;
  state->lost = sum.lost;
}

// Direct, until the sum would overflow.
void AddToMean(double value, GroupState* state) {
  if (!state->is_mean_incremental) {
    KahanSum sum{state->value, state->lost};
    sum.Add(value);
    if (!std::isinf(sum.sum)) {
      state->value = sum.sum;
      state->lost = sum.lost;
      return;
    }
    state->is_mean_incremental = true;
    state->mean = state->value / (state->count - 1);
    state->lost /= state->count - 1;
  }
  const double share = (state->count - 1) / state->count;
  KahanSum mean{share * state->mean, share * state->lost};
  mean.Add(value / state->count);
  state->mean = mean.sum;
  state->lost = mean.lost;
}

void Start(TokenKind op, double value, GroupState* state) {
  *state = {};
  state->count = 1;
  state->mean = value;
  switch (op) {
    case TokenKind::kGroup:
      state->value = 1;
      break;
    case TokenKind::kStddev:
    case TokenKind::kStdvar:
      state->value = std::isfinite(value) ? 0 : std::nan("");
      break;
    default:
      state->value = value;
  }
}

void Add(TokenKind op, double value, GroupState* state) {
  ++state->count;
  switch (op) {
    case TokenKind::kSum:
      AddToSum(value, state);
      break;
    case TokenKind::kAvg:
      AddToMean(value, state);
      break;
    case TokenKind::kMax:
      if (state->value < value || std::isnan(state->value)) state->value = value;
      break;
    case TokenKind::kMin:
      if (state->value > value || std::isnan(state->value)) state->value = value;
      break;
    case TokenKind::kStddev:
    case TokenKind::kStdvar: {
      const double difference = value - state->mean;
      state->mean += difference / state->count;
      state->value += difference * (value - state->mean);
      break;
    }
    default:
      break;
  }
}

double ResultOf(TokenKind op, const GroupState& state) {
  switch (op) {
    case TokenKind::kSum:
      return state.value + state.lost;
    case TokenKind::kAvg:
      return state.is_mean_incremental ? state.mean + state.lost
                                       : state.value / state.count + state.lost / state.count;
    case TokenKind::kCount:
      return state.count;
    case TokenKind::kStdvar:
      return state.value / state.count;
    case TokenKind::kStddev:
      return std::sqrt(state.value / state.count);
    default:
      return state.value;
  }
}

Matrix Fold(const Expression& node, const Matrix& input, Grouping grouping, size_t steps) {
  std::vector<std::vector<GroupState>> states(grouping.labels.size(), std::vector<GroupState>(steps));
  for (size_t i = 0; i < input.size(); ++i) {
    std::vector<GroupState>& of_group = states[grouping.group_of_row[i]];
    for (size_t step = 0; step < steps; ++step) {
      if (!input[i].present[step]) continue;
      const double value = input[i].values[step];
      of_group[step].count == 0 ? Start(node.op, value, &of_group[step])
                                : Add(node.op, value, &of_group[step]);
    }
  }
  Matrix result;
  for (size_t group = 0; group < states.size(); ++group) {
    Row row(std::move(grouping.labels[group]), steps);
    for (size_t step = 0; step < steps; ++step) {
      if (states[group][step].count > 0) row.Set(step, ResultOf(node.op, states[group][step]));
    }
    if (!row.IsEmpty()) result.push_back(std::move(row));
  }
  return result;
}

Matrix Quantiles(const Row& parameter, const Matrix& input, Grouping grouping, size_t steps) {
  Matrix result;
  for (Labels& labels : grouping.labels) result.emplace_back(std::move(labels), steps);
  std::vector<std::vector<double>> values(result.size());
  for (size_t step = 0; step < steps; ++step) {
    for (std::vector<double>& of_group : values) of_group.clear();
    for (size_t i = 0; i < input.size(); ++i) {
      if (input[i].present[step]) values[grouping.group_of_row[i]].push_back(input[i].values[step]);
    }
    for (size_t group = 0; group < values.size(); ++group) {
      if (!values[group].empty()) {
        result[group].Set(step, QuantileOf(parameter.values[step], &values[group]));
      }
    }
  }
  std::erase_if(result, [](const Row& row) { return row.IsEmpty(); });
  return result;
}

void WarnOfQuantiles(const Expression& node, const Row& parameter, Annotations* annotations) {
  double most = parameter.values[0];
  double least = most;
  for (const double value : parameter.values) {
    most = GoMax(most, value);
    least = GoMin(least, value);
  }
  const auto warn = [&](double value) {
    annotations->Warn(fmt::format("quantile value should be between 0 and 1, got {}", GeneralNumber(value)),
                      node.operands[0]->place);
  };
  if (std::any_of(parameter.values.begin(), parameter.values.end(),
                  [](double value) { return std::isnan(value); })) {
    warn(std::nan(""));
  }
  if (most > 1) warn(most);
  if (least < 0) warn(least);
}

// Whether the order of rows does not matter to it.  To the deviations it does, by their last digits.
bool TakesAnyOrder(TokenKind op) {
  switch (op) {
    case TokenKind::kSum:
    case TokenKind::kAvg:
    case TokenKind::kCount:
    case TokenKind::kGroup:
    case TokenKind::kMax:
    case TokenKind::kMin:
    case TokenKind::kQuantile:
      return true;
    default:
      return false;
  }
}

}  // namespace

bool HasNegativeZero(const Matrix& rows) {
  for (const Row& row : rows) {
    for (size_t step = 0; step < row.values.size(); ++step) {
      if (row.present[step] && row.values[step] == 0 && std::signbit(row.values[step])) return true;
    }
  }
  return false;
}

absl::StatusOr<Matrix> Evaluator::EvaluateAggregate(const Expression& node) {
  if (node.op == TokenKind::kCountValues) {
    const std::string& label = node.operands[0]->text;
    if (label.empty() || !IsUtf8(label)) {
      return ExecutionError(fmt::format("invalid label name {}", Quoted(label)));
    }
    const absl::StatusOr<Matrix> input = Evaluate(node.AggregateOperand());
    return input.ok() ? CountValues(node, *input) : input;
  }
  absl::StatusOr<Matrix> parameter = Matrix();
  if (node.operands.size() > 1) parameter = Evaluate(*node.operands[0]);
  if (!parameter.ok()) return parameter;
  const Expression& operand = node.AggregateOperand();
  // To sort the rows of a million series takes longer than to add them up.
  are_rows_unordered_ = TakesAnyOrder(node.op) && rankings_ == 0 &&
                        (operand.kind == ExpressionKind::kSelector || RangeOfLeaf(operand));
  const bool is_ranking = HasParameter(node.op) && node.op != TokenKind::kQuantile;
  rankings_ += is_ranking ? 1 : 0;
  absl::StatusOr<Matrix> input = Evaluate(operand);
  rankings_ -= is_ranking ? 1 : 0;
  const bool was_unordered = std::exchange(are_rows_unordered_, false);
  if (!input.ok()) return input;
  // Of 0 and -0 the first one is the least and the greatest.
  if (was_unordered && (node.op == TokenKind::kMin || node.op == TokenKind::kMax) &&
      HasNegativeZero(*input)) {
    SortByLabels(&*input);
  }
  Grouping grouping = GroupRows(node, *input);
  Matrix result;
  if (node.op == TokenKind::kQuantile) {
    WarnOfQuantiles(node, (*parameter)[0], &context_->annotations());
    result = Quantiles((*parameter)[0], *input, std::move(grouping), steps_);
  } else if (HasParameter(node.op)) {
    return Rank(node, (*parameter)[0], *std::move(input), grouping.group_of_row, grouping.labels.size());
  } else {
    result = Fold(node, *input, std::move(grouping), steps_);
  }
  if (was_unordered) SortByLabels(&result);
  return result;
}

absl::StatusOr<Matrix> Evaluator::CountValues(const Expression& node, const Matrix& input) {
  const std::string& label = node.operands[0]->text;
  absl::flat_hash_map<Labels, size_t> known;
  Matrix result;
  for (const Row& row : input) {
    for (size_t step = 0; step < steps_; ++step) {
      if (!row.present[step]) continue;
      const std::string text = PlainNumber(row.values[step]);
      Labels labels = row.labels;
      SetLabel(label, text, &labels);
      labels = GroupLabels(node, labels);
      if (!node.is_without) SetLabel(label, text, &labels);
      const auto [at, is_new] = known.try_emplace(labels, result.size());
      if (is_new) {
        if (absl::Status status = context_->Hold(static_cast<int64_t>(steps_)); !status.ok()) return status;
        result.emplace_back(std::move(labels), steps_);
      }
      Row& counts = result[at->second];
      counts.Set(step, counts.present[step] ? counts.values[step] + 1 : 1);
    }
  }
  return result;
}

}  // namespace sonde::promql
