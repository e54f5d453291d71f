// ORDER BY.
//
// Order: that of Plan::sort; rows whose keys are equal keep their order.
// Errors: RESOURCE_EXHAUSTED: the rows do not fit into the memory of the query.
#pragma once

#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `plan` (kSort) and `scope` must outlive the operator.  Of a limit above (Operator::LimitRows) it holds about twice as many
// rows as the limit lets through.
OperatorPtr MakeSort(const QueryScope* scope, const Plan& plan, OperatorPtr input);

}  // namespace sonde::sql
