#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/function/utf8.h"
#include "sql/text/string_families.h"

namespace sonde::sql {
namespace {

int64_t CharacterCount(Call&, std::string_view text) { return static_cast<int64_t>(CountCharacters(text)); }
int64_t ByteCount(Call&, std::string_view bytes) { return static_cast<int64_t>(bytes.size()); }

absl::StatusOr<int64_t> AsciiOfString(Call&, std::string_view text) {
  if (text.empty()) return 0;
  const auto first = static_cast<unsigned char>(text.front());
  if (first >= 0x80) {
    return absl::OutOfRangeError(
        fmt::format("Argument to ASCII is not a structurally valid ASCII string: '{}'", text));
  }
  return first;
}

int64_t FirstByte(Call&, std::string_view bytes) {
  return bytes.empty() ? 0 : static_cast<unsigned char>(bytes.front());
}

int64_t FirstCodePoint(Call&, std::string_view text) { return text.empty() ? 0 : TakeCharacter(&text); }

// The group of consonants that a letter sounds like; '0' of vowels and the like; 0 of what is no letter.
char SoundOf(char c) {
  constexpr std::string_view kSounds = "01230120022455012623010202";  // of A to Z
  const char upper = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return upper >= 'A' && upper <= 'Z' ? kSounds[upper - 'A'] : '\0';
}

// The first letter as it is, then the groups of the consonants that follow it.  Consonants of one group count once until one
// of another group comes, whatever vowels stand between.
std::string_view SoundexOf(Call& call, std::string_view text) {
  constexpr size_t kLength = 4;
  char* const code = call.arena()->New<char>(kLength);
  size_t length = 0;
  char previous = '\0';
  for (const char c : text) {
    const char sound = SoundOf(c);
    if (sound == '\0') continue;
    if (length == 0) {
      code[length++] = c;
    } else if (sound == '0' || sound == previous) {
      continue;
    } else {
      code[length++] = sound;
    }
    previous = sound;
    if (length == kLength) break;
  }
  if (length == 0) return "";
  while (length < kLength) code[length++] = '0';
  return {code, kLength};
}

}  // namespace

std::vector<Function> StringSizeFunctions() {
  const Function byte_length{.name = "BYTE_LENGTH",
                             .overloads = {Scalar("(STRING) -> INT64", RowKernel<ByteCount>),
                                           Scalar("(BYTES) -> INT64", RowKernel<ByteCount>)},
                             .meaning = "The number of bytes of a value.",
                             .examples = {"BYTE_LENGTH('naïve')"}};
  const Function char_length{.name = "CHAR_LENGTH",
                             .overloads = {Scalar("(STRING) -> INT64", RowKernel<CharacterCount>)},
                             .meaning = "The number of characters of a string.",
                             .examples = {"CHAR_LENGTH('naïve')"}};
  return {
      byte_length,
      {.name = "OCTET_LENGTH", .alias_of = "BYTE_LENGTH"},
      char_length,
      {.name = "CHARACTER_LENGTH", .alias_of = "CHAR_LENGTH"},
      {.name = "LENGTH",
       .overloads = {Scalar("(STRING) -> INT64", RowKernel<CharacterCount>),
                     Scalar("(BYTES) -> INT64", RowKernel<ByteCount>)},
       .meaning = "The number of characters of a string, or of bytes of BYTES.",
       .examples = {"LENGTH('naïve')", "LENGTH(b'naïve')"}},
      {.name = "ASCII",
       .overloads = {Scalar("(STRING) -> INT64", RowKernel<AsciiOfString>),
                     Scalar("(BYTES) -> INT64", RowKernel<FirstByte>)},
       .meaning = "The code of the first character or byte; 0 of an empty value.  An error where that "
                  "character is not ASCII.",
       .examples = {"ASCII('abc')"}},
      {.name = "UNICODE",
       .overloads = {Scalar("(STRING) -> INT64", RowKernel<FirstCodePoint>)},
       .meaning = "The code point of the first character; 0 of an empty string.",
       .examples = {"UNICODE('âbcd')"}},
      {.name = "SOUNDEX",
       .overloads = {Scalar("(STRING) -> STRING", RowKernel<SoundexOf>)},
       .meaning = "The Soundex code of a string: its first letter and three digits, the same for words that "
                  "sound alike in "
                  "English.  Only ASCII letters count.",
       .examples = {"SOUNDEX('Ashcraft')"}},
  };
}

}  // namespace sonde::sql
