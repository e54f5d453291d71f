// Queries for one row by its key: so short that whoever answers them had better not hand them to another thread.
#pragma once

#include "sql/plan/plan.h"

namespace sonde::sql {

// Whether the plan streams what one scan gives it, and a condition says that the key of its rows is one value.
bool IsPointQuery(const Plan& plan);

}  // namespace sonde::sql
