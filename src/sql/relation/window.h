// Window functions: each row with what they make of its partition.
//
// Order: by partition, and within it by the window's ORDER BY.  Without both it is that of the input.
// Errors: those of the functions; RESOURCE_EXHAUSTED: the rows do not fit into the memory of the query.
#pragma once

#include "absl/status/statusor.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `plan` (kWindow) and `scope` must outlive the operator.
absl::StatusOr<OperatorPtr> MakeWindow(const QueryScope* scope, const Plan& plan, OperatorPtr input);

}  // namespace sonde::sql
