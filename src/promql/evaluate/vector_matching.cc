#include "promql/evaluate/vector_matching.h"

#include <fmt/format.h>

#include <algorithm>

#include "promql/evaluate/evaluator.h"

namespace sonde::promql {
namespace {

Labels SignatureLabels(const Labels& labels, const Matching& matching) {
  if (matching.is_on) return KeepLabels(labels, matching.labels);
  return WithoutName(DropLabels(labels, matching.labels));
}

bool IsAnyPresent(const Matrix& rows, size_t step) {
  return std::any_of(rows.begin(), rows.end(), [&](const Row& row) { return row.present[step] != 0; });
}

}  // namespace

VectorMatching::VectorMatching(const Expression& node, Matrix left, Matrix right, size_t steps)
    : node_(node),
      matching_(*node.matching),
      steps_(steps),
      is_swapped_(matching_.card == MatchingCard::kOneToMany),
      many_(is_swapped_ ? std::move(right) : std::move(left)),
      one_(is_swapped_ ? std::move(left) : std::move(right)) {
  many_outputs_.resize(many_.size());
  one_outputs_.resize(one_.size());
  many_signatures_ = Signatures(many_);
  one_signatures_ = Signatures(one_);
}

std::vector<size_t> VectorMatching::Signatures(const Matrix& rows) {
  std::vector<size_t> result;
  for (const Row& row : rows) {
    result.push_back(signature_of_.try_emplace(SignatureLabels(row.labels, matching_), signature_of_.size())
                         .first->second);
  }
  return result;
}

absl::Status VectorMatching::MatchStep(size_t step) {
  one_row_.assign(signature_of_.size(), 0);
  return IsSetOperator(node_.op) ? MatchSets(step) : MatchNumbers(step);
}

absl::Status VectorMatching::MatchSets(size_t step) {
  std::vector<uint8_t> is_left(signature_of_.size());
  for (size_t i = 0; i < one_.size(); ++i) {
    if (one_[i].present[step]) one_row_[one_signatures_[i]] = i + 1;
  }
  for (size_t i = 0; i < many_.size(); ++i) {
    if (!many_[i].present[step]) continue;
    const size_t signature = many_signatures_[i];
    is_left[signature] = 1;
    const bool is_right = one_row_[signature] != 0;
    const bool is_kept = node_.op == TokenKind::kOr || is_right == (node_.op == TokenKind::kAnd);
    if (!is_kept) continue;
    if (absl::Status status = CopyRow(many_[i], step, &many_outputs_[i]); !status.ok()) return status;
  }
  if (node_.op != TokenKind::kOr) return absl::OkStatus();
  for (size_t i = 0; i < one_.size(); ++i) {
    if (!one_[i].present[step] || is_left[one_signatures_[i]]) continue;
    if (absl::Status status = CopyRow(one_[i], step, &one_outputs_[i]); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status VectorMatching::IndexOneSide(size_t step) {
  for (size_t i = 0; i < one_.size(); ++i) {
    if (!one_[i].present[step]) continue;
    size_t& known = one_row_[one_signatures_[i]];
    if (known == 0) {
      known = i + 1;
      continue;
    }
    const Labels group = matching_.is_on ? KeepLabels(one_[i].labels, matching_.labels)
                                         : SignatureLabels(one_[i].labels, matching_);
    return ExecutionError(
        fmt::format("found duplicate series for the match group {} on the {} hand-side of the operation: "
                    "[{}, {}];many-to-many "
                    "matching not allowed: matching labels must be unique on one side",
                    LabelsText(group), is_swapped_ ? "left" : "right", LabelsText(one_[i].labels),
                    LabelsText(one_[known - 1].labels)));
  }
  return absl::OkStatus();
}

absl::Status VectorMatching::MatchNumbers(size_t step) {
  const bool has_many = IsAnyPresent(many_, step);
  const bool has_one = IsAnyPresent(one_, step);
  const bool fills = matching_.fill_left || matching_.fill_right;
  if (fills ? !has_many && !has_one : !has_many || !has_one) return absl::OkStatus();
  if (absl::Status status = IndexOneSide(step); !status.ok()) return status;
  is_matched_.assign(signature_of_.size(), 0);
  outputs_.clear();
  for (size_t i = 0; i < many_.size(); ++i) {
    if (!many_[i].present[step]) continue;
    const size_t one = one_row_[many_signatures_[i]];
    // Prometheus' fill_right is that of the "one" side, and fill_left that of the other.
    if (one == 0 && !matching_.fill_right) continue;
    if (absl::Status status = AddPair(i, one == 0 ? kFilled : one - 1, step); !status.ok()) return status;
  }
  for (size_t i = 0; matching_.fill_left && i < one_.size(); ++i) {
    if (!one_[i].present[step] || is_matched_[one_signatures_[i]]) continue;
    if (absl::Status status = AddPair(kFilled, i, step); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status VectorMatching::AddPair(size_t many, size_t one, size_t step) {
  const double of_many = many == kFilled ? *matching_.fill_left : many_[many].values[step];
  const double of_one = one == kFilled ? *matching_.fill_right : one_[one].values[step];
  const double left = is_swapped_ ? of_one : of_many;
  const double right = is_swapped_ ? of_many : of_one;
  const size_t signature = many == kFilled ? one_signatures_[one] : many_signatures_[many];
  const size_t row = PairRow(many, one);
  if (matching_.card == MatchingCard::kOneToOne) {
    if (is_matched_[signature]) {
      return ExecutionError(
          "multiple matches for labels: many-to-one matching must be explicit (group_left/group_right)");
    }
  } else if (!outputs_.emplace(signature, row).second) {
    return ExecutionError("multiple matches for labels: grouping labels must ensure unique matches");
  }
  is_matched_[signature] = 1;
  const double result = OperatorResult(node_.op, left, right);
  if (!IsComparison(node_.op) || node_.returns_bool) return AddOutput(row, result, step);
  return result != 0 ? AddOutput(row, left, step) : absl::OkStatus();
}

absl::Status VectorMatching::AddOutput(size_t row, double value, size_t step) {
  if (output_[row].present[step]) return SameLabelsError();
  output_[row].Set(step, value);
  return absl::OkStatus();
}

absl::Status VectorMatching::CopyRow(const Row& row, size_t step, std::optional<size_t>* output) {
  if (!output->has_value()) *output = OutputRow(row.labels);
  return AddOutput(**output, row.values[step], step);
}

size_t VectorMatching::OutputRow(const Labels& labels) {
  const auto [at, is_new] = output_of_.try_emplace(labels, output_.size());
  if (is_new) output_.emplace_back(labels, steps_);
  return at->second;
}

size_t VectorMatching::PairRow(size_t many, size_t one) {
  const auto found = pair_rows_.find(std::pair(many, one));
  if (found != pair_rows_.end()) return found->second;
  const Labels many_labels =
      many == kFilled ? SignatureLabels(one_[one].labels, matching_) : many_[many].labels;
  const Labels one_labels =
      one == kFilled ? SignatureLabels(many_[many].labels, matching_) : one_[one].labels;
  const size_t row = OutputRow(PairLabels(many_labels, one_labels));
  pair_rows_.emplace(std::pair(many, one), row);
  return row;
}

Labels VectorMatching::PairLabels(const Labels& many, const Labels& one) const {
  Labels result = many;
  if (node_.returns_bool || !IsComparison(node_.op)) result = WithoutName(std::move(result));
  if (matching_.card == MatchingCard::kOneToOne) {
    result = matching_.is_on ? KeepLabels(result, matching_.labels) : DropLabels(result, matching_.labels);
  }
  for (const std::string& name : matching_.include) SetLabel(name, LabelOf(one, name), &result);
  return result;
}

}  // namespace sonde::promql
