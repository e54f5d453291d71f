// Characters of texts in UTF-8.
//
// Texts are valid UTF-8.  Of one that is not, the answers mean nothing, but no byte outside of it is read.
// Cost: eight bytes at a time where they are ASCII.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace sonde::sql {

// A code point of Unicode.
using CodePoint = uint32_t;

// Whether all bytes are less than 128.
bool IsAscii(std::string_view text);
size_t CountCharacters(std::string_view text);
// How many bytes the first `count` characters take; all bytes where there are fewer characters.
size_t BytesOfFirst(std::string_view text, size_t count);
// The same of the last `count` characters.
size_t BytesOfLast(std::string_view text, size_t count);

// The bytes of the first character of `text`, which is not empty.
inline size_t CharacterBytes(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text.front());
  const size_t bytes = lead < 0x80 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  return bytes < text.size() ? bytes : text.size();
}
// Takes the first character off `text`, which is not empty.
CodePoint TakeCharacter(std::string_view* text);
// Takes the last character off `text`, which is not empty.
CodePoint TakeLastCharacter(std::string_view* text);
void AppendCharacter(CodePoint character, std::string* text);

}  // namespace sonde::sql
