// The functions of texts, bytes, JSON and formats, which the library lists.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> StringFunctions();
std::vector<Function> RegexpFunctions();
std::vector<Function> FormatFunctions();  // FORMAT, FORMAT_DATE...
std::vector<Function> JsonFunctions();

}  // namespace sonde::sql
