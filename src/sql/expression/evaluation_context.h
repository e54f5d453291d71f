// What the expressions of one execution share.
#pragma once

#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "rows/batch.h"
#include "sql/expression/expression.h"
#include "sql/function/call.h"
#include "sql/value/value.h"

namespace sonde::sql {

// Nothing is owned.
struct EvaluationContext {
  StatementFacts facts;
  std::vector<Value> parameters;
  // Runs the plan of a subquery: its columns, all rows together.  `outer`: the rows of the queries around it, the
  // nearest first, for kOuter; each is a batch of one row.  Unset: there are no subqueries.
  using RunQuery = std::function<absl::StatusOr<rows::Batch>(
      const Plan& plan, absl::Span<const rows::Batch> outer, Arena* arena)>;
  RunQuery run_query;
};

}  // namespace sonde::sql
