// The messages and enums of a schema bundle, of the FileDescriptorSet that a client has sent.
//
// Protobuf's own descriptors are large, so they are made only here, and are gone when the description is made.
// Threads: all functions may be called at once.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "sql/value/message_type.h"

namespace sonde::sql {

using BundleTypesRef = std::shared_ptr<const BundleTypes>;

// `descriptors`: a serialized google.protobuf.FileDescriptorSet with all files that its files import.
// INVALID_ARGUMENT: it is none, or its files do not link.
absl::StatusOr<BundleTypesRef> ParseBundle(std::string id, std::string_view descriptors);

}  // namespace sonde::sql
