// The library of functions: all functions of SQL, by name.
//
// Threads: all functions may be called at once.
#pragma once

#include <string_view>

#include "absl/types/span.h"
#include "sql/function/function.h"

namespace sonde::sql {

// Null: there is no such function.  `name` in upper case.
const Function* FindFunction(std::string_view name);
// All of them, by name.
absl::Span<const Function> AllFunctions();

}  // namespace sonde::sql
