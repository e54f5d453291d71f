// The parts that MathFunctions is made of.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> NumberFunctions();        // ABS, DIV, SAFE_ADD...
std::vector<Function> RoundingFunctions();      // ROUND, CEIL...
std::vector<Function> TranscendentFunctions();  // EXP, SIN...
std::vector<Function> ExtremeFunctions();       // GREATEST, LEAST, RANGE_BUCKET

}  // namespace sonde::sql
