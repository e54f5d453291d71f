// The newest point of each series, asked for by ROW_NUMBER, as a scan of the newest points.
#pragma once

#include "sql/plan/plan.h"

namespace sonde::sql {

// Replaces ROW_NUMBER() OVER (PARTITION BY all tags ORDER BY time DESC) = 1 over a series by latest_n => 1, in all of the plan.
void UseNewestPoints(PlanPtr* plan);

}  // namespace sonde::sql
