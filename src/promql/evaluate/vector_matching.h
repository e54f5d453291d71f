// Operators between two vectors: which series belong together, step by step.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "promql/samples/matrix.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

// Comparisons are 1 or 0.
double OperatorResult(TokenKind op, double left, double right);

class VectorMatching {
 public:
  // `node`: a binary operator between vectors; it must outlive this.
  VectorMatching(const Expression& node, Matrix left, Matrix right, size_t steps);

  // Steps in their order.  FAILED_PRECONDITION: series do not match one to one, or as the operator says.
  absl::Status MatchStep(size_t step);
  Matrix TakeRows() { return std::move(output_); }

 private:
  absl::Status MatchSets(size_t step);
  absl::Status MatchNumbers(size_t step);
  // The row of the "one" side of each signature.
  absl::Status IndexOneSide(size_t step);
  // A series on the "many" side and one on the other; kFilled: the other side's fill stands for it.
  static constexpr size_t kFilled = SIZE_MAX;
  absl::Status AddPair(size_t many, size_t one, size_t step);
  absl::Status AddOutput(size_t row, double value, size_t step);
  // `output`: the place of the row's copy in output_, once it has one.
  absl::Status CopyRow(const Row& row, size_t step, std::optional<size_t>* output);
  size_t OutputRow(const Labels& labels);
  size_t PairRow(size_t many, size_t one);
  Labels PairLabels(const Labels& many, const Labels& one) const;
  std::vector<size_t> Signatures(const Matrix& rows);

  const Expression& node_;
  const Matching& matching_;
  const size_t steps_;
  const bool is_swapped_;  // the left side is the "one" side
  Matrix many_;
  Matrix one_;
  absl::flat_hash_map<Labels, size_t> signature_of_;
  std::vector<size_t> many_signatures_;
  std::vector<size_t> one_signatures_;
  std::vector<std::optional<size_t>> many_outputs_;  // of rows that are copied, as CopyRow has it
  std::vector<std::optional<size_t>> one_outputs_;
  // Of the step at hand, by signature.
  std::vector<size_t> one_row_;  // one past its index; 0: none
  std::vector<uint8_t> is_matched_;
  std::set<std::pair<size_t, size_t>> outputs_;  // signature and row
  absl::flat_hash_map<std::pair<size_t, size_t>, size_t> pair_rows_;
  absl::flat_hash_map<Labels, size_t> output_of_;
  Matrix output_;
};

}  // namespace sonde::promql
