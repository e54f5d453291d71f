// Values of expressions that read no rows.
#pragma once

#include <optional>

#include "absl/status/statusor.h"
#include "sql/expression/evaluator.h"
#include "sql/expression/expression.h"
#include "sql/value/type.h"
#include "sql/value/value.h"

namespace sonde::sql {

// `value` as one of `to`, by CAST.  INVALID_ARGUMENT: there is no such cast.  Other errors: those of the cast.
absl::StatusOr<Value> CastValue(const Value& value, const Type& to);
// Evaluates ahead what is constant, and puts literals in its place.  What fails stays as it is.
void FoldConstants(ExpressionPtr* expression);

}  // namespace sonde::sql
