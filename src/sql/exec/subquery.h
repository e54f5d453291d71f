// Runs subqueries for expressions.
//
// Ownership: the statement must outlive this.
// Threads: not for several threads.
// Cost: the operators of a plan are made once, and begin anew for each row around the subquery.
#pragma once

#include <map>
#include <memory>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "rows/batch.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

class Subqueries {
 public:
  explicit Subqueries(const ExecutionState* state) : state_(state) {}

  // As EvaluationContext::RunQuery.
  absl::StatusOr<rows::Batch> Run(const Plan& plan, absl::Span<const rows::Batch> outer, Arena* arena);

 private:
  struct Subquery {
    QueryScope scope;
    OperatorPtr root;
    bool has_run = false;
  };

  absl::StatusOr<Subquery*> Find(const Plan& plan);

  const ExecutionState* const state_;
  std::map<const Plan*, std::unique_ptr<Subquery>> subqueries_;
};

}  // namespace sonde::sql
