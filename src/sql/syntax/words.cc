#include "sql/syntax/words.h"

#include <algorithm>
#include <string>

#include "absl/strings/ascii.h"

namespace sonde::sql {
namespace {

static_assert(std::is_sorted(kReservedWords.begin(), kReservedWords.end()));
static_assert(std::is_sorted(kOtherKeywords.begin(), kOtherKeywords.end()));

constexpr size_t kKeywordBytesMax = 24;

template <size_t count>
std::optional<uint16_t> IndexIn(const std::array<std::string_view, count>& words, std::string_view text) {
  const auto* at = std::lower_bound(words.begin(), words.end(), text);
  if (at == words.end() || *at != text) return std::nullopt;
  return static_cast<uint16_t>(at - words.begin());
}

}  // namespace

std::optional<Word> Word::Keyword(std::string_view text) {
  if (text.size() > kKeywordBytesMax) return std::nullopt;
  const std::string upper = UpperCase(text);
  if (const auto index = IndexIn(kReservedWords, upper)) return Word(ByIndex{*index});
  if (const auto index = IndexIn(kOtherKeywords, upper)) {
    return Word(ByIndex{static_cast<uint16_t>(kReservedWords.size() + *index)});
  }
  return std::nullopt;
}

std::optional<Word> Word::Symbol(std::string_view text) {
  for (size_t i = 0; i < kTextSymbolsCount; ++i) {
    if (text.starts_with(kSymbols[i])) return Word(ByIndex{static_cast<uint16_t>(kSymbolsBegin + i)});
  }
  return std::nullopt;
}

std::string_view Word::text() const {
  if (index_ < kReservedWords.size()) return kReservedWords[index_];
  if (index_ < kSymbolsBegin) return kOtherKeywords[index_ - kReservedWords.size()];
  return index_ < kNone ? kSymbols[index_ - kSymbolsBegin] : std::string_view();
}

std::string UpperCase(std::string_view text) {
  std::string upper(text);
  for (char& c : upper) c = absl::ascii_toupper(c);
  return upper;
}

bool IsSameWord(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return absl::ascii_toupper(x) == absl::ascii_toupper(y); });
}

bool IsReservedWord(std::string_view text) {
  const std::optional<Word> word = Word::Keyword(text);
  return word.has_value() && word->is_reserved();
}

bool IsCurrentTime(std::string_view text) {
  for (const std::string_view name :
       {"CURRENT_DATE", "CURRENT_DATETIME", "CURRENT_TIME", "CURRENT_TIMESTAMP"}) {
    if (IsSameWord(text, name)) return true;
  }
  return false;
}

bool IsFunctionWord(std::string_view text) {
  for (const std::string_view name : {"IF", "LEFT", "RIGHT", "GROUPING", "COLLATE", "RANGE"}) {
    if (text == name) return true;
  }
  return false;
}

}  // namespace sonde::sql
