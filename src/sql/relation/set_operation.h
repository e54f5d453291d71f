// INTERSECT and EXCEPT.
//
// Rows are equal as GROUP BY takes them.
// Order: that of the first input.
// Errors: RESOURCE_EXHAUSTED: the rows of the second input do not fit into the memory of the query.
#pragma once

#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `plan` (kSetOperation) and `scope` must outlive the operator.
OperatorPtr MakeSetOperation(const QueryScope* scope, const Plan& plan, OperatorPtr first,
                             OperatorPtr second);

}  // namespace sonde::sql
