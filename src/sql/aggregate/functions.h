// The functions of aggregates and windows, which the library lists.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> AggregateFunctions();
std::vector<Function> StatisticalFunctions();
std::vector<Function> SketchFunctions();  // HLL_COUNT.*, APPROX_*
std::vector<Function> PointFunctions();   // FIRST, DELTA, RATE...
std::vector<Function> WindowFunctions();

}  // namespace sonde::sql
