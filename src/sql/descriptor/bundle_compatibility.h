// Whether a schema bundle may take another one's place.
#pragma once

#include "absl/status/status.h"
#include "sql/value/message_type.h"

namespace sonde::sql {

// INVALID_ARGUMENT: values that were written, or queries, of `before` do not fit `after`.  Each message, enum, field and
// member of an enum must still be there, with its number, name and type; a field stays repeated, or stays not.
absl::Status CheckCompatible(const BundleTypes& before, const BundleTypes& after);

}  // namespace sonde::sql
