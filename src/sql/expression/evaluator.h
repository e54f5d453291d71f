// Evaluates an expression, batch after batch.
//
//   Evaluator evaluator(*expression, &context);
//   absl::StatusOr<ColumnView> column = evaluator.Evaluate(batch, &arena);
//
// What a row does not need is not evaluated for it: IF, CASE, COALESCE, AND, OR, IFERROR evaluate their parts for the rows that come so far,
// which are gathered for that and put back.  An expression of constants only is evaluated once, for one row.
//
// Ownership: a result views the batch, the arena, the expression and the parameters, and holds as long as all of them.
// Threads: not for several threads; each has its own evaluator.
// Errors: those of functions (OUT_OF_RANGE, INVALID_ARGUMENT), of StatementFacts, and of subqueries.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "absl/status/statusor.h"
#include "base/arena.h"
#include "rows/batch.h"
#include "sql/expression/evaluation_context.h"
#include "sql/expression/expression.h"
#include "sql/expression/scatter.h"
#include "sql/function/call.h"
#include "sql/value/value.h"

namespace sonde::sql {

class EvaluatorNode;

class Evaluator {
 public:
  // Both must outlive this.
  Evaluator(const Expression& expression, const EvaluationContext* context);
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;

  const Type& type() const;
  // A column of batch.rows values.  Constant results are constant columns.
  // `outer`: the rows of the queries around this one, the nearest first.
  absl::StatusOr<ColumnView> Evaluate(const rows::Batch& batch, Arena* arena,
                                      absl::Span<const rows::Batch> outer = {});

 private:
  std::unique_ptr<Arena> kept_;  // what is evaluated once
  std::unique_ptr<EvaluatorNode> root_;
};

// The value of an expression without columns.
absl::StatusOr<Value> EvaluateConstant(const Expression& expression, const EvaluationContext& context);

}  // namespace sonde::sql
