// The functions of arrays, maps and vectors, which the library lists.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> ArrayFunctions();
std::vector<Function> MapFunctions();
std::vector<Function> VectorFunctions();

}  // namespace sonde::sql
