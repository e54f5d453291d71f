// Byte strings for people, and as ends of ranges.
#pragma once

#include <string>
#include <string_view>

namespace sonde {

// `bytes` with everything outside printable ASCII as \xNN, cut after `shown_bytes_max` bytes: for messages.
std::string Printable(std::string_view bytes, size_t shown_bytes_max = 120);

// The smallest string greater than every string with this prefix; empty (no such string, so infinity) for a
// prefix that is empty or all 0xFF.
std::string PrefixEnd(std::string_view prefix);

// The smallest string greater than `bytes`.
inline std::string Successor(std::string_view bytes) {
  std::string result(bytes);
  result.push_back('\0');
  return result;
}

}  // namespace sonde
