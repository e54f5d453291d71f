// A policy as a record: JSON, with `version` (of the record) and the fields of google.iam.v1.Policy.  The etag is hexadecimal.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "access/policy.h"

namespace sonde {

std::string EncodePolicyRecord(const Policy& policy);
// DATA_LOSS: the bytes are no record of this version.
absl::StatusOr<Policy> DecodePolicyRecord(std::string_view bytes);

}  // namespace sonde
