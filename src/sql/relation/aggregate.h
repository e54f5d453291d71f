// GROUP BY and aggregates: a row for each group.
//
// Order: groups in the order in which their first rows came.
// Errors: RESOURCE_EXHAUSTED: the groups do not fit into the memory of the query.
#pragma once

#include "absl/status/statusor.h"
#include "sql/operator/divided_rows.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `plan` (kAggregate) and `scope` must outlive the operator.  `build`: makes the input once more, for helpers
// that aggregate parts of it; null: one thread does all.
absl::StatusOr<OperatorPtr> MakeAggregate(const QueryScope* scope, const Plan& plan, OperatorPtr input,
                                          BuildPart build = nullptr);

}  // namespace sonde::sql
