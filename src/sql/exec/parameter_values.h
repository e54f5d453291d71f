// Values of parameters from what people and programs write: `sonde sql --param`, and the JSON of POST /api/v1/sql.
//
// Errors: INVALID_ARGUMENT, in the words of GoogleSQL's CAST.  They name neither the parameter nor a place.
// Threads: any number may call at once.
#pragma once

#include <functional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/value/value.h"

namespace sonde::sql {

// The text as a value of the type that its look says: INT64, FLOAT64, BOOL, else STRING.
Value ValueByLook(const std::string& text);

// CAST(value AS type), where `type` is a name such as "BYTES" or "ARRAY<INT64>".  An ARRAY is cast element by element.
// `interrupted`: as ExecutionEnvironment::interrupted.
absl::StatusOr<Value> CastToNamed(const Value& value, std::string_view type,
                                  const std::function<absl::Status()>& interrupted = {});

// The value of a SQL expression that reads no table, cast to a type of that name: "[1, 2]" and "ARRAY<INT64>".
absl::StatusOr<Value> CastExpressionToNamed(std::string_view expression, std::string_view type);

}  // namespace sonde::sql
