// Reads the parameters of queries from messages, and checks them.
#pragma once

#include <google/bigtable/v2/bigtable.pb.h>
#include <google/bigtable/v2/data.pb.h>
#include <google/bigtable/v2/types.pb.h>

#include <string>

#include "absl/status/statusor.h"
#include "sql/function/call.h"
#include "sql/value/type.h"
#include "sql/value/value.h"

namespace sonde {

// The declared type of parameter `name`.  INVALID_ARGUMENT: a parameter cannot be of this type: only scalar types and arrays
// of them can be sent.
absl::StatusOr<sql::Type> ParseParameterType(const std::string& name, const google::bigtable::v2::Type& type);

// The value of parameter `name`, whose declared type is `type`.  INVALID_ARGUMENT: the value has another type, or is no value
// of the type (a date or time out of range, NaN).
absl::StatusOr<sql::Value> ParseParameter(const std::string& name, const sql::Type& type,
                                          const google::bigtable::v2::Value& value);

// The view parameters of a request; their names have a case.  INVALID_ARGUMENT: there are too many, a name is empty or too long, or
// a value is no STRING.
absl::StatusOr<sql::ViewParameters> ParseViewParameters(
    const google::bigtable::v2::ExecuteQueryRequest& request);

}  // namespace sonde
