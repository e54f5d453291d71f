// Operators that hold no rows but those of one batch: one row, filter, projection, limit, union.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// All plans are of the kind that the name says, and must outlive the operator, as must the scope.

OperatorPtr MakeSingleRow(const QueryScope* scope);
OperatorPtr MakeFilter(const QueryScope* scope, const Plan& plan, OperatorPtr input);
OperatorPtr MakeProject(const QueryScope* scope, const Plan& plan, OperatorPtr input);
// OUT_OF_RANGE: a count is NULL or negative.
absl::StatusOr<OperatorPtr> MakeLimit(const QueryScope* scope, const Plan& plan, OperatorPtr input);
OperatorPtr MakeUnion(const QueryScope* scope, std::vector<OperatorPtr> inputs);

}  // namespace sonde::sql
