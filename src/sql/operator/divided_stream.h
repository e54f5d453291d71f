// Rows of a divided scan, in their order: helpers read, filter and project parts ahead of the thread that takes them.
//
// For operators that take all rows of their input before they give any: nothing of it is left when these give the first.
// Errors: those of the plan, as one thread would meet them.
#pragma once

#include "sql/operator/divided_rows.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `input`: the operators of `plan`.  Returns it as it is where the plan is none that can be divided, or where no row would be
// dropped: to hand rows over costs what reading them does.
OperatorPtr DivideRows(const QueryScope* scope, const Plan& plan, OperatorPtr input, BuildPart build);

}  // namespace sonde::sql
