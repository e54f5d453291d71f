// Bytes that come piece by piece: of a file, a pipe, a connection, or what unpacks them.
#pragma once

#include <cstddef>
#include <functional>

#include "absl/status/statusor.h"

namespace sonde {

// Fills `buffer` with up to `bytes_max` bytes (more than 0) and says how many; 0 at the end, and only there.
// After an error it is not called again.
using ByteSource = std::function<absl::StatusOr<size_t>(char* buffer, size_t bytes_max)>;

}  // namespace sonde
