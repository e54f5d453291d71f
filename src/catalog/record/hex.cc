#include "catalog/record/hex.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "absl/strings/escaping.h"

namespace sonde {

std::string ToHex(std::string_view bytes) { return absl::BytesToHexString({bytes.data(), bytes.size()}); }

std::string FromHex(std::string_view hex) {
  // Abseil's of Debian 12 takes anything.
  const auto is_digit = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (hex.size() % 2 != 0) throw std::invalid_argument("odd number of hexadecimal digits");
  if (!std::ranges::all_of(hex, is_digit)) throw std::invalid_argument("not hexadecimal");
  return absl::HexStringToBytes({hex.data(), hex.size()});
}

std::string EtagOfBytes(std::string_view bytes) {
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return fmt::format("{:016x}", hash);
}

}  // namespace sonde
