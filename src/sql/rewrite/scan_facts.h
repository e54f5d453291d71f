// What the operators above a scan tell about it: which keys and times count, in which order, and which rows.
#pragma once

#include <vector>

#include "sql/plan/plan.h"

namespace sonde::sql {

// Fills in key_conditions, time_conditions, reversed and needs_all_rows of the scans of a plan whose columns are narrow.
// Sorts by the row key go away.  Subqueries included.
void CollectScanFacts(PlanPtr* plan);

// Whether a condition is not TRUE for a row in which all of these columns are NULL.  False: it may be.
bool IsNullRejecting(const Expression& condition, const std::vector<size_t>& columns);

}  // namespace sonde::sql
