// Joins: inner, left, right, full, and ASOF.
//
// Shape: the columns of the left input, then those of the right one.  A row without a match comes with NULL on the other side, if the
//   join keeps it.
// Order: that of the left input, batch by batch the matches before the rows that have none; right rows without a match come last.
// Errors: RESOURCE_EXHAUSTED: the right rows do not fit into the memory of the query.
// Cost: the right rows are held, by the values that the condition asks to be equal; without such parts of it every pair of rows is
//   looked at.
#pragma once

#include "absl/status/statusor.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `plan` (kJoin) and `scope` must outlive the operator.  UNIMPLEMENTED: an ASOF join without an inequality.
absl::StatusOr<OperatorPtr> MakeJoin(const QueryScope* scope, const Plan& plan, OperatorPtr left,
                                     OperatorPtr right);

}  // namespace sonde::sql
