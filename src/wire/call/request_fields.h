// Reads the fields of a request that name its resources from its bytes, before anybody parses it.
//
// A field is found as protocol buffers find it: of several occurrences the last counts, and the occurrences of a message are one
// message.  Bytes that are no message are refused, so that there is no request which the door reads otherwise than its handler.
#pragma once

#include <google/protobuf/descriptor.h>

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sonde {

// A field of type string, by the numbers of the fields from the outside in.
using FieldPath = std::vector<int>;

// `field`: "table.name".  INTERNAL: the type has no such field of type string, or a part is repeated, or shares a oneof
// with other fields.
absl::StatusOr<FieldPath> FindFieldPath(const google::protobuf::Descriptor& type, std::string_view field);

// At most so many fields of a request are looked at, without those in other messages than `paths` pass through.
constexpr size_t kScannedFieldsMax = 1'000'000;

// Sets values[i] to the field of paths[i], which views `bytes`; empty: it is not set.  INVALID_ARGUMENT: the bytes are no message,
// or have more than kScannedFieldsMax fields.
absl::Status ReadFields(std::string_view bytes, std::span<const FieldPath> paths,
                        std::span<std::string_view> values);

}  // namespace sonde
