// Makes the operators of a plan.
#pragma once

#include "absl/status/statusor.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// Both must outlive the operators.  Errors: those of the operators' factories.
absl::StatusOr<OperatorPtr> BuildOperators(const QueryScope* scope, const Plan& plan);

}  // namespace sonde::sql
