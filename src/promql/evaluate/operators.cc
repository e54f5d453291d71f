// Unary and binary operators.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "promql/evaluate/evaluator.h"
#include "promql/evaluate/vector_matching.h"

namespace sonde::promql {
namespace {

bool DropsName(TokenKind op, bool returns_bool) { return returns_bool || !IsComparison(op); }

Matrix ScalarsWith(const Expression& node, Matrix left, const Matrix& right) {
  Row& row = left[0];
  for (size_t step = 0; step < row.values.size(); ++step) {
    row.values[step] = OperatorResult(node.op, row.values[step], right[0].values[step]);
  }
  return left;
}

}  // namespace

double OperatorResult(TokenKind op, double left, double right) {
  switch (op) {
    case TokenKind::kAdd:
      return left + right;
    case TokenKind::kSub:
      return left - right;
    case TokenKind::kMul:
      return left * right;
    case TokenKind::kDiv:
      return left / right;
    case TokenKind::kMod:
      return std::fmod(left, right);
    case TokenKind::kPow:
      return std::pow(left, right);
    case TokenKind::kAtan2:
      return std::atan2(left, right);
    case TokenKind::kEqualEqual:
      return left == right ? 1 : 0;
    case TokenKind::kNotEqual:
      return left != right ? 1 : 0;
    case TokenKind::kLess:
      return left < right ? 1 : 0;
    case TokenKind::kLessEqual:
      return left <= right ? 1 : 0;
    case TokenKind::kGreater:
      return left > right ? 1 : 0;
    case TokenKind::kGreaterEqual:
      return left >= right ? 1 : 0;
    default:
      return std::nan("");
  }
}

absl::StatusOr<Matrix> Evaluator::EvaluateUnary(const Expression& node) {
  absl::StatusOr<Matrix> rows = Evaluate(*node.operands[0]);
  if (!rows.ok() || node.op != TokenKind::kSub) return rows;
  for (Row& row : *rows) {
    row.labels = WithoutName(std::move(row.labels));
    for (double& value : row.values) value = -value;
  }
  return JoinSameLabels(*std::move(rows));
}

absl::StatusOr<Matrix> Evaluator::VectorWithScalar(const Expression& node, Matrix vector, const Row& scalar,
                                                   bool is_scalar_left) {
  const bool is_filter = IsComparison(node.op) && !node.returns_bool;
  for (Row& row : vector) {
    if (DropsName(node.op, node.returns_bool)) row.labels = WithoutName(std::move(row.labels));
    for (size_t step = 0; step < row.values.size(); ++step) {
      if (!row.present[step]) continue;
      const double left = is_scalar_left ? scalar.values[step] : row.values[step];
      const double right = is_scalar_left ? row.values[step] : scalar.values[step];
      const double result = OperatorResult(node.op, left, right);
      if (is_filter) {
        row.present[step] = result != 0 ? 1 : 0;
      } else {
        row.values[step] = result;
      }
    }
  }
  std::erase_if(vector, [](const Row& row) { return row.IsEmpty(); });
  return JoinSameLabels(std::move(vector));
}

absl::StatusOr<Matrix> Evaluator::EvaluateBinary(const Expression& node) {
  absl::StatusOr<Matrix> left = Evaluate(*node.operands[0]);
  if (!left.ok()) return left;
  absl::StatusOr<Matrix> right = Evaluate(*node.operands[1]);
  if (!right.ok()) return right;
  const bool is_left_scalar = TypeOf(*node.operands[0]) == ValueType::kScalar;
  const bool is_right_scalar = TypeOf(*node.operands[1]) == ValueType::kScalar;
  if (is_left_scalar && is_right_scalar) return ScalarsWith(node, *std::move(left), *right);
  if (is_right_scalar) return VectorWithScalar(node, *std::move(left), (*right)[0], false);
  if (is_left_scalar) return VectorWithScalar(node, *std::move(right), (*left)[0], true);
  VectorMatching matching(node, *std::move(left), *std::move(right), steps_);
  for (size_t step = 0; step < steps_; ++step) {
    if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
    if (absl::Status status = matching.MatchStep(step); !status.ok()) return status;
  }
  return matching.TakeRows();
}

}  // namespace sonde::promql
