// GENERATE_ARRAY of numbers; the arrays of dates and timestamps are with the functions of times.
#pragma once

#include <cstddef>
#include <cstdint>

#include "sql/function/function.h"

namespace sonde::sql {

// The evaluator of GoogleSQL stops at 16,000, which is 11 days of minutes.  Here larger arrays are asked for first
// (StatementFacts::hold), and this bounds the time that one takes.
constexpr size_t kGeneratedElementsMax = 1 << 20;
constexpr size_t kGeneratedElementsFree = 16'000;

Function GenerateArrayFunction();

}  // namespace sonde::sql
