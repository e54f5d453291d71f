// Whether an expression gives something else each time.
#pragma once

#include <algorithm>

#include "sql/expression/expression.h"
#include "sql/function/function.h"

namespace sonde::sql {

// Whether some part of it is volatile (RAND, ERROR).
inline bool HasVolatile(const Expression& expression) {
  if (expression.is_volatile || (expression.function != nullptr && expression.function->is_volatile)) {
    return true;
  }
  return std::ranges::any_of(expression.arguments,
                             [](const ExpressionPtr& argument) { return HasVolatile(*argument); });
}

}  // namespace sonde::sql
