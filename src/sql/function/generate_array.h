// GENERATE_ARRAY of numbers; the arrays of dates and timestamps are with the functions of times.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sql/function/function.h"

namespace sonde::sql {

// GoogleSQL's limit.  So no array is large (StatementFacts::hold), and none takes long.
constexpr size_t kGeneratedElementsMax = 16'000;

Function GenerateArrayFunction();

}  // namespace sonde::sql
