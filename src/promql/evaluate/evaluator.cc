#include "promql/evaluate/evaluator.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

size_t CountSteps(int64_t start, int64_t end, int64_t interval) {
  return end < start ? 0 : static_cast<size_t>((end - start) / interval) + 1;
}

int64_t ValuesOf(const Matrix& rows) {
  return rows.empty() ? 0 : static_cast<int64_t>(rows.size() * rows[0].values.size());
}

}  // namespace

Evaluator::Evaluator(QueryContext* context, int64_t start_millis, int64_t end_millis, int64_t interval_millis)
    : context_(context),
      start_(start_millis),
      end_(end_millis),
      interval_(interval_millis),
      steps_(CountSteps(start_millis, end_millis, interval_millis)) {}

absl::StatusOr<Matrix> Evaluator::Evaluate(const Expression& node) {
  if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
  if (steps_ == 0) return Matrix();
  const int64_t held = context_->held();
  absl::StatusOr<Matrix> rows =
      node.is_step_invariant && start_ != end_ ? EvaluateInvariant(node) : EvaluateNode(node);
  if (!rows.ok()) return rows;
  // What its operands held is given back.
  context_->SetHeld(held);
  if (absl::Status status = context_->Hold(ValuesOf(*rows)); !status.ok()) return status;
  return rows;
}

absl::StatusOr<Matrix> Evaluator::EvaluateInvariant(const Expression& node) {
  Evaluator once(context_, start_, start_, interval_);
  const int64_t before = context_->stats().samples_total;
  absl::StatusOr<Matrix> rows = once.EvaluateNode(node);
  if (!rows.ok()) return rows;
  // Prometheus counts them for each step.
  context_->stats().samples_total +=
      (context_->stats().samples_total - before) * static_cast<int64_t>(steps_ - 1);
  for (Row& row : *rows) {
    row.values.assign(steps_, row.values[0]);
    row.present.assign(steps_, row.present[0]);
  }
  return rows;
}

Matrix Evaluator::Constant(double value) const {
  Matrix result;
  Row& row = result.emplace_back(Labels(), steps_);
  row.values.assign(steps_, value);
  row.present.assign(steps_, 1);
  return result;
}

int64_t Evaluator::ReferenceTime(const TimeShift& shift, size_t step) const {
  return shift.at_millis.value_or(TimeOf(step)) - shift.offset.nanos / kNanosPerMilli;
}

absl::StatusOr<Matrix> Evaluator::EvaluateNode(const Expression& node) {
  switch (node.kind) {
    case ExpressionKind::kNumber:
      return Constant(node.number);
    case ExpressionKind::kSelector:
      return Select(node, false);
    case ExpressionKind::kCall:
      return EvaluateCall(node);
    case ExpressionKind::kAggregate:
      return EvaluateAggregate(node);
    case ExpressionKind::kBinary:
      return EvaluateBinary(node);
    case ExpressionKind::kUnary:
      return EvaluateUnary(node);
    case ExpressionKind::kParen:
      return Evaluate(*node.operands[0]);
    case ExpressionKind::kString:
    case ExpressionKind::kRange:
    case ExpressionKind::kSubquery:
    case ExpressionKind::kLength:
      break;
  }
  return absl::InternalError("an expression that has no values at steps");
}

absl::StatusOr<Matrix> JoinSameLabels(Matrix rows) {
  absl::flat_hash_map<Labels, size_t> known;
  Matrix result;
  result.reserve(rows.size());
  for (Row& row : rows) {
    const auto [at, is_new] = known.try_emplace(row.labels, result.size());
    if (is_new) {
      result.push_back(std::move(row));
      continue;
    }
    Row& first = result[at->second];
    for (size_t step = 0; step < row.values.size(); ++step) {
      if (!row.present[step]) continue;
      if (first.present[step]) return SameLabelsError();
      first.Set(step, row.values[step]);
    }
  }
  return result;
}

}  // namespace sonde::promql
