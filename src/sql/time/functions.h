// The functions of dates and times, which the library lists.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> DateFunctions();
std::vector<Function> TimestampFunctions();

}  // namespace sonde::sql
