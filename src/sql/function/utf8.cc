#include "sql/function/utf8.h"

#include <bit>
#include <cstring>

namespace sonde::sql {
namespace {

constexpr uint64_t kHighBits = 0x8080808080808080;
constexpr uint64_t kLowBits = 0x0101010101010101;

uint64_t EightBytesAt(const char* bytes) {
  uint64_t word;
  std::memcpy(&word, bytes, sizeof(word));
  return word;
}

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

}  // namespace

bool IsAscii(std::string_view text) {
  const char* at = text.data();
  size_t left = text.size();
  uint64_t seen = 0;
  for (; left >= 8; left -= 8, at += 8) seen |= EightBytesAt(at);
  for (; left > 0; --left, ++at) seen |= static_cast<unsigned char>(*at);
  return (seen & kHighBits) == 0;
}

size_t CountCharacters(std::string_view text) {
  const char* at = text.data();
  size_t left = text.size();
  size_t continuations = 0;
  for (; left >= 8; left -= 8, at += 8) {
    const uint64_t word = EightBytesAt(at);
    if ((word & kHighBits) == 0) continue;
    continuations += std::popcount((word >> 7) & ~(word >> 6) & kLowBits);
  }
  for (; left > 0; --left, ++at) continuations += IsContinuation(*at) ? 1 : 0;
  return text.size() - continuations;
}

size_t BytesOfFirst(std::string_view text, size_t count) {
  if (count >= text.size()) return text.size();
  size_t place = 0;
  while (count > 0 && place < text.size()) {
    if (count >= 8 && text.size() - place >= 8 && (EightBytesAt(text.data() + place) & kHighBits) == 0) {
      place += 8;
      count -= 8;
      continue;
    }
    place += CharacterBytes(text.substr(place));
    --count;
  }
  return place;
}

size_t BytesOfLast(std::string_view text, size_t count) {
  if (count >= text.size()) return text.size();
  size_t place = text.size();
  while (count > 0 && place > 0) {
    if (count >= 8 && place >= 8 && (EightBytesAt(text.data() + place - 8) & kHighBits) == 0) {
      place -= 8;
      count -= 8;
      continue;
    }
    --place;
    while (place > 0 && IsContinuation(text[place])) --place;
    --count;
  }
  return text.size() - place;
}

CodePoint TakeCharacter(std::string_view* text) {
  const size_t bytes = CharacterBytes(*text);
  const auto byte = [text](size_t place) {
    return static_cast<CodePoint>(static_cast<unsigned char>((*text)[place]));
  };
  CodePoint character = byte(0);
  if (bytes > 1) {
    character &= 0xffU >> (bytes + 1);
    for (size_t i = 1; i < bytes; ++i) character = character << 6 | (byte(i) & 0x3f);
  }
  text->remove_prefix(bytes);
  return character;
}

CodePoint TakeLastCharacter(std::string_view* text) {
  const size_t bytes = BytesOfLast(*text, 1);
  std::string_view last = text->substr(text->size() - bytes);
  text->remove_suffix(bytes);
  return TakeCharacter(&last);
}

void AppendCharacter(CodePoint character, std::string* text) {
  const auto continuation = [&](int shift) {
    *text += static_cast<char>(0x80 | (character >> shift & 0x3f));
  };
  if (character < 0x80) {
    *text += static_cast<char>(character);
  } else if (character < 0x800) {
    *text += static_cast<char>(0xc0 | character >> 6);
    continuation(0);
  } else if (character < 0x10000) {
    *text += static_cast<char>(0xe0 | character >> 12);
    continuation(6);
    continuation(0);
  } else {
    *text += static_cast<char>(0xf0 | character >> 18);
    continuation(12);
    continuation(6);
    continuation(0);
  }
}

}  // namespace sonde::sql
