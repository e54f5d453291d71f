// Base64 of which each sequence of bytes has exactly one spelling.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace sonde {

// base64url without padding (RFC 7515).  Nothing: another alphabet, padding, white space, or bits behind the last byte that
// are not zero.
std::optional<std::string> BytesOfBase64Url(std::string_view text);
std::string Base64UrlOf(std::string_view bytes);

// base64 with padding (RFC 4648), as the header `Authorization: Basic` has it.
std::optional<std::string> BytesOfBase64(std::string_view text);

}  // namespace sonde
