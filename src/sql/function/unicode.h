// Unicode's cases and normal forms, for functions of strings.
//
// Texts are valid UTF-8.  The data are those of the utf8proc that is linked (Unicode 15 in Debian 12); letters that came to Unicode
// later have no other case.
// Cost: of ASCII texts that of a copy.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "sql/function/utf8.h"

namespace sonde::sql {

// Unicode's property White_Space.
bool IsWhiteSpace(CodePoint character);
// Its general categories L and N.
bool IsLetter(CodePoint character);
bool IsNumber(CodePoint character);

// The other case where that is one character: 'ß' and 'ŉ' have no upper case here.
CodePoint SimpleUpper(CodePoint character);
CodePoint SimpleLower(CodePoint character);

// Unicode's full mappings, which may give several characters for one: "ß" becomes "SS", "İ" becomes "i̇", a sigma at the end of a
// word becomes "ς".  Languages' own rules are not used.
std::string ToUpper(std::string_view text);
std::string ToLower(std::string_view text);
// Unicode's full case folding: texts that differ only in case become the same.
std::string FoldCase(std::string_view text);

enum class NormalForm : uint8_t { kNfc, kNfkc, kNfd, kNfkd };
std::string Normalized(std::string_view text, NormalForm form);

}  // namespace sonde::sql
