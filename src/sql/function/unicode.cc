#include "sql/function/unicode.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <vector>

#include "base/check.h"
#include "sql/function/special_upper.h"

namespace sonde::sql {
namespace {

constexpr CodePoint kSharpS = 0xdf;
constexpr CodePoint kCapitalIWithDot = 0x130;
constexpr CodePoint kCombiningDot = 0x307;
constexpr CodePoint kCapitalSigma = 0x3a3;
constexpr CodePoint kFinalSigma = 0x3c2;
// The most characters that one is decomposed to (U+FDFA).
constexpr int kDecomposedMax = 18;

char AsciiUpper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }
char AsciiLower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

template <typename MapByte>
std::string MapAscii(std::string_view text, MapByte map) {
  std::string mapped(text.size(), '\0');
  std::transform(text.begin(), text.end(), mapped.begin(), map);
  return mapped;
}

void AppendUpper(CodePoint character, std::string* text) {
  const auto* const special =
      std::lower_bound(std::begin(kSpecialUppers), std::end(kSpecialUppers), character,
                       [](const SpecialUpper& entry, CodePoint sought) { return entry.character < sought; });
  if (special == std::end(kSpecialUppers) || special->character != character) {
    AppendCharacter(SimpleUpper(character), text);
    return;
  }
  for (const CodePoint upper : special->upper) {
    if (upper != 0) AppendCharacter(upper, text);
  }
}

// Unicode's Case_Ignorable: whether a sigma at the end of a word may have the character behind it.
bool IsCaseIgnorable(CodePoint character) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(character))) {
    case UTF8PROC_CATEGORY_MN:
    case UTF8PROC_CATEGORY_ME:
    case UTF8PROC_CATEGORY_CF:
    case UTF8PROC_CATEGORY_LM:
    case UTF8PROC_CATEGORY_SK:
      return true;
    default:
      break;
  }
  // Punctuation within words.
  constexpr CodePoint kWithin[] = {0x27,   0x2e,   0x3a,   0xb7,   0x387,  0x55f,  0x5f4,  0x2018, 0x2019,
                                   0x2024, 0x2027, 0xfe13, 0xfe52, 0xfe55, 0xff07, 0xff0e, 0xff1a};
  return std::binary_search(std::begin(kWithin), std::end(kWithin), character);
}

// Unicode's Cased.
bool IsCased(CodePoint character) {
  switch (utf8proc_category(static_cast<utf8proc_int32_t>(character))) {
    case UTF8PROC_CATEGORY_LU:
    case UTF8PROC_CATEGORY_LL:
    case UTF8PROC_CATEGORY_LT:
      return true;
    default:
      break;
  }
  const auto is_in = [character](CodePoint first, CodePoint last) {
    return character >= first && character <= last;
  };
  // The ordinal indicators, Roman numerals, and letters in circles and squares.
  return character == 0xaa || character == 0xba || is_in(0x2160, 0x217f) || is_in(0x24b6, 0x24e9) ||
         is_in(0x1f130, 0x1f149) || is_in(0x1f150, 0x1f169) || is_in(0x1f170, 0x1f189);
}

// Whether the next character that counts is one with case.
bool IsFollowedByCased(std::string_view rest) {
  while (!rest.empty()) {
    const CodePoint character = TakeCharacter(&rest);
    if (!IsCaseIgnorable(character)) return IsCased(character);
  }
  return false;
}

using Characters = std::vector<utf8proc_int32_t>;

std::string AsText(const Characters& characters, size_t count) {
  std::string text;
  text.reserve(count);
  for (size_t i = 0; i < count; ++i) AppendCharacter(static_cast<CodePoint>(characters[i]), &text);
  return text;
}

// Each character as utf8proc decomposes it with these options, in the order in which they come.
Characters Decomposed(std::string_view text, int options) {
  Characters characters;
  characters.reserve(text.size());
  int boundary = 0;
  while (!text.empty()) {
    utf8proc_int32_t some[kDecomposedMax];
    const auto count =
        utf8proc_decompose_char(static_cast<utf8proc_int32_t>(TakeCharacter(&text)), some, kDecomposedMax,
                                static_cast<utf8proc_option_t>(options), &boundary);
    DCHECK(count <= kDecomposedMax);
    if (count > 0) characters.insert(characters.end(), some, some + count);
  }
  return characters;
}

// Puts runs of combining marks in their order.  utf8proc's own sort takes quadratic time for a long run.
void OrderMarks(Characters* characters) {
  const auto class_of = [](utf8proc_int32_t character) {
    return utf8proc_get_property(character)->combining_class;
  };
  for (auto first = characters->begin(); first != characters->end();) {
    if (class_of(*first) == 0) {
      ++first;
      continue;
    }
    const auto last =
        std::find_if(first, characters->end(), [&](auto character) { return class_of(character) == 0; });
    std::stable_sort(first, last, [&](auto a, auto b) { return class_of(a) < class_of(b); });
    first = last;
  }
}

}  // namespace

bool IsWhiteSpace(CodePoint character) {
  if (character <= 0x20) return character == 0x20 || (character >= 0x09 && character <= 0x0d);
  if (character < 0x1680) return character == 0x85 || character == 0xa0;
  return character == 0x1680 || (character >= 0x2000 && character <= 0x200a) || character == 0x2028 ||
         character == 0x2029 || character == 0x202f || character == 0x205f || character == 0x3000;
}

bool IsLetter(CodePoint character) {
  if (character < 128) return (character | 0x20) >= 'a' && (character | 0x20) <= 'z';
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(character));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool IsNumber(CodePoint character) {
  if (character < 128) return character >= '0' && character <= '9';
  const utf8proc_category_t category = utf8proc_category(static_cast<utf8proc_int32_t>(character));
  return category >= UTF8PROC_CATEGORY_ND && category <= UTF8PROC_CATEGORY_NO;
}

CodePoint SimpleUpper(CodePoint character) {
  // utf8proc gives the capital sharp s, Unicode none.
  if (character == kSharpS) return character;
  return static_cast<CodePoint>(utf8proc_toupper(static_cast<utf8proc_int32_t>(character)));
}

CodePoint SimpleLower(CodePoint character) {
  return static_cast<CodePoint>(utf8proc_tolower(static_cast<utf8proc_int32_t>(character)));
}

std::string ToUpper(std::string_view text) {
  if (IsAscii(text)) return MapAscii(text, AsciiUpper);
  std::string upper;
  upper.reserve(text.size());
  while (!text.empty()) {
    if (static_cast<unsigned char>(text.front()) < 0x80) {
      upper += AsciiUpper(text.front());
      text.remove_prefix(1);
    } else {
      AppendUpper(TakeCharacter(&text), &upper);
    }
  }
  return upper;
}

std::string ToLower(std::string_view text) {
  if (IsAscii(text)) return MapAscii(text, AsciiLower);
  std::string lower;
  lower.reserve(text.size());
  bool is_within_word = false;  // whether the last character that counts is one with case
  while (!text.empty()) {
    const CodePoint character = TakeCharacter(&text);
    if (character == kCapitalSigma && is_within_word && !IsFollowedByCased(text)) {
      AppendCharacter(kFinalSigma, &lower);
    } else {
      AppendCharacter(SimpleLower(character), &lower);
    }
    if (character == kCapitalIWithDot) AppendCharacter(kCombiningDot, &lower);
    if (!IsCaseIgnorable(character)) is_within_word = IsCased(character);
  }
  return lower;
}

std::string FoldCase(std::string_view text) {
  if (IsAscii(text)) return MapAscii(text, AsciiLower);
  const Characters characters = Decomposed(text, UTF8PROC_CASEFOLD);
  return AsText(characters, characters.size());
}

std::string Normalized(std::string_view text, NormalForm form) {
  if (IsAscii(text)) return std::string(text);
  const bool is_compatible = form == NormalForm::kNfkc || form == NormalForm::kNfkd;
  const bool composes = form == NormalForm::kNfc || form == NormalForm::kNfkc;
  const int stable = UTF8PROC_STABLE | (is_compatible ? UTF8PROC_COMPAT : 0);
  Characters characters = Decomposed(text, stable | UTF8PROC_DECOMPOSE);
  OrderMarks(&characters);
  size_t count = characters.size();
  if (composes) {
    const auto composed = utf8proc_normalize_utf32(characters.data(), static_cast<utf8proc_ssize_t>(count),
                                                   static_cast<utf8proc_option_t>(stable | UTF8PROC_COMPOSE));
    DCHECK(composed >= 0);
    count = static_cast<size_t>(composed);
  }
  return AsText(characters, count);
}

}  // namespace sonde::sql
