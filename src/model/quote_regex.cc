#include "model/quote_regex.h"

#include <fmt/format.h>

#include <iterator>

namespace sonde {

std::string QuoteRegex(std::string_view bytes) {
  std::string pattern;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (byte < 0x20 || byte >= 0x7F) {
      pattern += fmt::format("\\x{:02x}", byte);
    } else {
      if (!plain) pattern.push_back('\\');
      pattern.push_back(c);
    }
  }
  return pattern;
}

}  // namespace sonde
