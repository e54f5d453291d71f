// The functions of operators and mathematics, which the library lists.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> OperatorFunctions();  // arithmetic, comparison, logic
std::vector<Function> MathFunctions();

}  // namespace sonde::sql
