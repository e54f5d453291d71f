// UNNEST: for each row of the input one row for each element of an array.
//
// Order: that of the input, and then that of the elements.
#pragma once

#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `plan` (kUnnest) and `scope` must outlive the operator.
OperatorPtr MakeUnnest(const QueryScope* scope, const Plan& plan, OperatorPtr input);

}  // namespace sonde::sql
