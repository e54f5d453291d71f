// Types and values of SQL as messages of the API, and back.
#pragma once

#include <google/bigtable/v2/data.pb.h>
#include <google/bigtable/v2/types.pb.h>

#include <vector>

#include "absl/status/statusor.h"
#include "rows/batch.h"
#include "sql/value/type.h"
#include "sql/value/value.h"

namespace sonde::sql {

// Types carry no encodings.
void ToProto(const Type& type, google::bigtable::v2::Type* out);
// Without its type.  `value` is a scalar, or an array of scalars.
void ToProto(const Value& value, google::bigtable::v2::Value* out);

// INTERNAL: no type that Sonde knows.
absl::StatusOr<Type> FromProto(const google::bigtable::v2::Type& type);
// Appends whole rows to `out`, whose columns are of `types`.  INTERNAL: a value is not of its column's type, or the last
// row is not whole.
absl::Status AppendRows(const std::vector<Type>& types, const google::bigtable::v2::ProtoRows& rows,
                        rows::HeldBatch* out);

}  // namespace sonde::sql
