// Converts row key schemas to and from the model.
//
// The messages of the administration lack `null_escape_char` and `escape_nulls`, which those of the data API have
// at the same numbers; so the bytes of the former are read, and written, as the latter.
#pragma once

#include <google/bigtable/admin/v2/types.pb.h>

#include "absl/status/statusor.h"
#include "model/row_key_schema.h"

namespace sonde {

// INVALID_ARGUMENT: a rule of row key schemas is broken.  Whether a field has the name of a family, the catalog checks.
absl::StatusOr<RowKeySchema> ParseRowKeySchema(const google::bigtable::admin::v2::Type::Struct& type);
void ToProto(const RowKeySchema& schema, google::bigtable::admin::v2::Type::Struct* out);

}  // namespace sonde
