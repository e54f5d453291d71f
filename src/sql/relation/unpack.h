// UNPACK: of each row with histories one row for each time that one of them has.
//
// Shape: a history becomes its value at that time, or NULL; a map of histories the map of those that have one then; other columns
//   stay; the time is the last column.
// Order: that of the input; of one row the newest time first.
// Source: sql.md 2.3.
#pragma once

#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `plan` (kUnpack) and `scope` must outlive the operator.
OperatorPtr MakeUnpack(const QueryScope* scope, const Plan& plan, OperatorPtr input);

}  // namespace sonde::sql
