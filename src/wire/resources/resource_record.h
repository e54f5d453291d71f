// Resources of the administration as records: JSON, so that a person can read them (docs/formats/data-directory.md).
#pragma once

#include <google/protobuf/message.h>

#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace sonde {

// Returns the record of a resource.  `before`: the record that it replaces, or empty; members of it that this version does not
// know stay, as a newer version wrote them.
std::string EncodeResource(const google::protobuf::Message& resource, std::string_view before);
// DATA_LOSS: the bytes are no record of such a resource.
absl::Status DecodeResource(std::string_view bytes, google::protobuf::Message* resource);

// A hash of a record, which changes with it: 8 bytes in base64.
std::string EtagOfRecord(std::string_view bytes);

}  // namespace sonde
