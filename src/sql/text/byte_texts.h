// Bytes as texts of digits: base 2, 8, 16, 32 and 64.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace sonde::sql {

// RFC 4648.  OUT_OF_RANGE: `text` is none ("Failed to decode invalid base32 string").
std::string ToBase32(std::string_view bytes);
absl::StatusOr<std::string> FromBase32(std::string_view text);
std::string ToBase64(std::string_view bytes);
// Spaces count for nothing, and the end may lack its =.
absl::StatusOr<std::string> FromBase64(std::string_view text);

// Two digits a byte, in lower case.
std::string ToHex(std::string_view bytes);
// Of an odd number of digits the first is a byte by itself.
absl::StatusOr<std::string> FromHex(std::string_view text);

}  // namespace sonde::sql
