#include "base/bytes.h"

namespace sonde {

std::string Printable(std::string_view bytes, size_t shown_bytes_max) {
  static constexpr char kHex[] = "0123456789abcdef";
  std::string result;
  for (const char c : bytes.substr(0, shown_bytes_max)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x20 && byte < 0x7F && byte != '\\' && byte != '\'') {
      result.push_back(c);
    } else {
      result += {'\\', 'x', kHex[byte >> 4], kHex[byte & 15]};
    }
  }
  if (bytes.size() > shown_bytes_max) result += "... (" + std::to_string(bytes.size()) + " bytes)";
  return result;
}

std::string PrefixEnd(std::string_view prefix) {
  while (!prefix.empty() && static_cast<unsigned char>(prefix.back()) == 0xFF) prefix.remove_suffix(1);
  std::string result(prefix);
  if (!result.empty()) result.back() = static_cast<char>(static_cast<unsigned char>(result.back()) + 1);
  return result;
}

}  // namespace sonde
