// The nodes that an evaluator makes of an expression, one for each part of it.
//
// A node gives a column for the rows of a batch.  It knows which columns of the batch it reads, so that what not
// all rows need is evaluated for a batch of these columns and of those rows that need it (EvaluateFor).
//
// Ownership: a node owns its parts, and views the expression, the context and the arena of what is evaluated once.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "model/column.h"
#include "model/datum.h"
#include "rows/batch.h"
#include "sql/expression/evaluation_context.h"
#include "sql/expression/expression.h"

namespace sonde::sql {

// What a node evaluates for.
struct Frame {
  const rows::Batch& batch;
  Arena* arena;
  absl::Span<const rows::Batch> outer;  // the rows of the queries around it, the nearest first

  size_t rows() const { return batch.rows; }
};

class EvaluatorNode;
using NodePtr = std::unique_ptr<EvaluatorNode>;

// What a node is made of.
struct NodeMaking {
  const Expression* expression = nullptr;
  const EvaluationContext* context = nullptr;
  Arena* kept = nullptr;       // for what is evaluated once
  std::vector<NodePtr> parts;  // one an argument of the expression
};

class EvaluatorNode {
 public:
  explicit EvaluatorNode(NodeMaking making);
  virtual ~EvaluatorNode();
  EvaluatorNode(const EvaluatorNode&) = delete;
  EvaluatorNode& operator=(const EvaluatorNode&) = delete;

  const Expression& expression() const { return expression_; }
  const Type& type() const { return expression_.type; }
  // The columns of the batch that it reads, ascending.
  const std::vector<size_t>& reads() const { return reads_; }
  // It may read any column (a correlated subquery that sees the whole row).
  bool reads_all() const { return reads_all_; }
  bool is_volatile() const { return is_volatile_; }
  // It gives the same value for all rows of all batches, and is evaluated once.
  bool is_fixed() const { return reads_.empty() && !reads_all_ && !is_volatile_ && !looks_outside_; }

  // A column of frame.rows() values.
  absl::StatusOr<ColumnView> Evaluate(const Frame& frame);

 protected:
  // As Evaluate, of at least one row.
  virtual absl::StatusOr<ColumnView> Compute(const Frame& frame) = 0;

  const EvaluationContext& context() const { return *context_; }
  Arena* kept() const { return kept_; }
  const std::vector<NodePtr>& parts() const { return parts_; }
  EvaluatorNode& part(size_t index) const { return *parts_[index]; }

 private:
  void FindWhatItReads();

  const Expression& expression_;
  const EvaluationContext* const context_;
  Arena* const kept_;
  std::vector<NodePtr> parts_;
  std::vector<size_t> reads_;
  bool reads_all_ = false;
  bool is_volatile_ = false;
  bool looks_outside_ = false;  // a subquery, or a row of a query around this one
  std::optional<ColumnView> fixed_;
};

// The values of a node for these rows of the frame's batch, ascending and each once: a column of as many values.
absl::StatusOr<ColumnView> EvaluateFor(absl::Span<const size_t> rows, const Frame& frame,
                                       EvaluatorNode* node);
// The batch of `count` rows from `first` on, with no more columns than the node reads.
rows::Batch RangeFor(const EvaluatorNode& node, const rows::Batch& batch, size_t first, size_t count);
// Whether an error is one of the values of a row, which IFERROR and SAFE take for an answer.
bool IsOfValues(const absl::Status& status);
// `rows` times NULL: there is a value in its place, for kernels that look at it all the same.
ColumnView NullColumn(const Type& type, size_t rows);
// The data as a column of `type` in the arena.
ColumnView ColumnOfData(const Type& type, absl::Span<const Datum> data, Arena* arena);

}  // namespace sonde::sql
