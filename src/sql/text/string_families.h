// The parts of StringFunctions (function.h), each in a file of its name.
#pragma once

#include <vector>

#include "sql/function/function.h"

namespace sonde::sql {

std::vector<Function> StringSizeFunctions();      // LENGTH, ASCII, SOUNDEX...
std::vector<Function> StringPieceFunctions();     // SUBSTR, LEFT, TRIM, SPLIT...
std::vector<Function> StringAssemblyFunctions();  // CONCAT, REPEAT, LPAD, REVERSE...
std::vector<Function> StringSearchFunctions();    // INSTR, STARTS_WITH, REPLACE, TRANSLATE...
std::vector<Function> StringCaseFunctions();      // UPPER, INITCAP, NORMALIZE...
std::vector<Function> ViewParameterFunctions();   // VIEW_PARAMETERS

}  // namespace sonde::sql
