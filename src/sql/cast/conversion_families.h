// The parts that ConversionFunctions is made of.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> HashFunctions();  // MD5, SHA1...

}  // namespace sonde::sql
