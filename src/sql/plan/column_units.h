// The units of a plan's columns: those that declarations say of the fields of series, as far as expressions keep them.
//
// What keeps a unit: a column, casts to numbers, rounding, ABS, a sum or a difference of values of one unit, choices between values
//   of one unit, and aggregates and window functions that give a value of their argument's kind (MIN, AVG, LAST, PERCENTILE_CONT, ...).
//   RATE has the unit with "/s" behind it.  Literals and parameters go with any unit.  All else has no unit: a product or a count may mean anything.
// Threads: pure.
#pragma once

#include <string>
#include <vector>

#include "sql/plan/plan.h"

namespace sonde::sql {

// One a column of the plan; empty: no unit is known.
std::vector<std::string> UnitsOfColumns(const Plan& plan);

}  // namespace sonde::sql
