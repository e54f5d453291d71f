#include "sql/exec/query_name.h"

namespace sonde::sql {

std::string NameOfQuery(std::string_view text) {
  constexpr size_t kNameBytesMax = 200;
  constexpr auto kIsInsideOfCharacter = [](char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; };
  std::string line;
  for (const char c : text) {
    const bool is_blank = static_cast<unsigned char>(c) <= ' ' || c == '\x7F';
    if (is_blank && (line.empty() || line.back() == ' ')) continue;
    if (line.size() >= kNameBytesMax && !kIsInsideOfCharacter(c)) return line + "...";
    // What is no UTF-8 has no end of a character.
    if (line.size() >= kNameBytesMax + 4) return line;
    line += is_blank ? ' ' : c;
  }
  if (line.ends_with(' ')) line.pop_back();
  return line;
}

}  // namespace sonde::sql
