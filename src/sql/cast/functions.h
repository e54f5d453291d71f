// The functions of conversions and hashes, which the library lists.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> ConversionFunctions();  // TO_INT64, TO_BASE64, TO_JSON_STRING...

}  // namespace sonde::sql
