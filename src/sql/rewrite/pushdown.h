// Moves conditions towards the scans: a row that does not count is found out early.
#pragma once

#include "sql/plan/plan.h"

namespace sonde::sql {

// Subqueries included.
void PushFilters(PlanPtr* plan);

}  // namespace sonde::sql
