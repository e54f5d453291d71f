// The list of the families of functions (function.h), of which AllFunctions makes its list.
//
// A function with an alias_of and without overloads gets the overloads, meaning and examples of the function that it names.
#pragma once

#include <vector>

#include "absl/types/span.h"
#include "sql/function/function.h"

namespace sonde::sql {

using Family = std::vector<Function> (*)();
absl::Span<const Family> Families();

}  // namespace sonde::sql
