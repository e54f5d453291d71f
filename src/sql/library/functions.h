// The functions of names that are not built, which the library lists.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> NotBuiltFunctions();  // of geography

}  // namespace sonde::sql
