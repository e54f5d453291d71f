// The reference of functions, for docs/sql.md.
#pragma once

#include <functional>
#include <string>

#include "sql/function/function.h"

namespace sonde::sql {

// The result of an example of a function, on one line; an empty text: the example stands without a result.
using ExampleResult = std::function<std::string(const Function& function, const std::string& example)>;

// All functions as Markdown, by name: operators, scalar functions, aggregates, window functions, and the names of what is not
// built.  Of each: name and other names, signatures, meaning, examples.
// `result_of` is asked for each example; unset: examples stand without results.
std::string Reference(const ExampleResult& result_of = {});

}  // namespace sonde::sql
