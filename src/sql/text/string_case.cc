#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "sql/function/bounds.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/function/unicode.h"
#include "sql/function/utf8.h"
#include "sql/text/string_families.h"

namespace sonde::sql {
namespace {

using Recased = absl::StatusOr<std::string_view>;

// How many times as large as a text another case or normal form of it may be.
constexpr size_t kGrowthMax = 3;

template <char kFirst, char kLast, int kShift>
std::string_view MapBytes(Call& call, std::string_view bytes) {
  char* const mapped = call.arena()->New<char>(bytes.size());
  for (size_t i = 0; i < bytes.size(); ++i) {
    const char byte = bytes[i];
    mapped[i] = static_cast<char>(byte + (byte >= kFirst && byte <= kLast ? kShift : 0));
  }
  return {mapped, bytes.size()};
}

Recased UpperBytes(Call& call, std::string_view bytes) {
  if (absl::Status status = AskForRoom(call, bytes.size()); !status.ok()) return status;
  return MapBytes<'a', 'z', 'A' - 'a'>(call, bytes);
}
Recased LowerBytes(Call& call, std::string_view bytes) {
  if (absl::Status status = AskForRoom(call, bytes.size()); !status.ok()) return status;
  return MapBytes<'A', 'Z', 'a' - 'A'>(call, bytes);
}
Recased UpperString(Call& call, std::string_view text) {
  if (IsAscii(text)) return UpperBytes(call, text);
  if (absl::Status status = AskForRoom(call, text.size() * kGrowthMax); !status.ok()) return status;
  return call.arena()->Copy(ToUpper(text));
}
Recased LowerString(Call& call, std::string_view text) {
  if (IsAscii(text)) return LowerBytes(call, text);
  if (absl::Status status = AskForRoom(call, text.size() * kGrowthMax); !status.ok()) return status;
  return call.arena()->Copy(ToLower(text));
}

// Writes a letter behind a delimiter in upper case, others in lower case.
template <typename IsDelimiter>
Recased Capitalize(Call& call, std::string_view text, const IsDelimiter& is_delimiter) {
  if (absl::Status status = AskForRoom(call, text.size() * kGrowthMax); !status.ok()) return status;
  std::string capitalized;
  capitalized.reserve(text.size());
  bool is_first = true;
  while (!text.empty()) {
    const CodePoint character = TakeCharacter(&text);
    if (is_delimiter(character)) {
      AppendCharacter(character, &capitalized);
      is_first = true;
    } else {
      AppendCharacter(is_first ? SimpleUpper(character) : SimpleLower(character), &capitalized);
      is_first = false;
    }
  }
  return call.arena()->Copy(capitalized);
}

Recased CapitalizeWords(Call& call, std::string_view text) {
  return Capitalize(call, text, [](CodePoint character) {
    constexpr std::string_view kDelimiters = "[](){}/|\\<>!?@\"#$&~_,.:;*%+-^";
    return IsWhiteSpace(character) ||
           (character < 128 && kDelimiters.find(static_cast<char>(character)) != std::string_view::npos);
  });
}

Recased CapitalizeBehind(Call& call, std::string_view text, std::string_view delimiters) {
  absl::flat_hash_set<CodePoint> set;
  while (!delimiters.empty()) set.insert(TakeCharacter(&delimiters));
  return Capitalize(call, text, [&set](CodePoint character) { return set.contains(character); });
}

std::optional<NormalForm> NormalFormOf(std::string_view name) {
  if (name == "NFC") return NormalForm::kNfc;
  if (name == "NFKC") return NormalForm::kNfkc;
  if (name == "NFD") return NormalForm::kNfd;
  if (name == "NFKD") return NormalForm::kNfkd;
  return std::nullopt;
}

// One character of three bytes may become 18 of the Arabic block.
constexpr size_t kNormalizedGrowthMax = 12;

template <bool kFolds>
Recased NormalizeTo(Call& call, std::string_view text, std::string_view form_name) {
  const std::optional<NormalForm> form = NormalFormOf(form_name);
  if (!form.has_value()) return absl::InvalidArgumentError("A valid normalize mode is required.");
  if (!kFolds && IsAscii(text)) return text;
  if (absl::Status status = AskForRoom(call, text.size() * kNormalizedGrowthMax); !status.ok()) return status;
  const std::string normalized = Normalized(text, *form);
  return call.arena()->Copy(kFolds ? FoldCase(normalized) : normalized);
}

template <bool kFolds>
Recased NormalizeToNfc(Call& call, std::string_view text) {
  return NormalizeTo<kFolds>(call, text, "NFC");
}

template <bool kFolds>
std::vector<Overload> NormalizeOverloads() {
  return {Scalar("(STRING, [PART]) -> STRING",
                 KernelByCount<1, RowKernel<NormalizeToNfc<kFolds>>, RowKernel<NormalizeTo<kFolds>>>)};
}

}  // namespace

std::vector<Function> StringCaseFunctions() {
  const Function lower{.name = "LOWER",
                       .overloads = {Scalar("(STRING) -> STRING", RowKernel<LowerString>),
                                     Scalar("(BYTES) -> BYTES", RowKernel<LowerBytes>)},
                       .meaning = "A value in lower case; of BYTES the ASCII letters only.",
                       .examples = {"LOWER('FOO Bar')"}};
  const Function upper{.name = "UPPER",
                       .overloads = {Scalar("(STRING) -> STRING", RowKernel<UpperString>),
                                     Scalar("(BYTES) -> BYTES", RowKernel<UpperBytes>)},
                       .meaning = "A value in upper case; of BYTES the ASCII letters only.",
                       .examples = {"UPPER('foo Straße')"}};
  return {
      lower,
      {.name = "LCASE", .alias_of = "LOWER"},
      upper,
      {.name = "UCASE", .alias_of = "UPPER"},
      {.name = "INITCAP",
       .overloads = {Scalar("(STRING, [STRING]) -> STRING",
                            KernelByCount<1, RowKernel<CapitalizeWords>, RowKernel<CapitalizeBehind>>)},
       .meaning = "A string with the first letter of each word in upper case and the others in lower case.  "
                  "Words end at the characters of "
                  "the second argument; at white space and most punctuation where there is none.",
       .examples = {"INITCAP('hello WORLD-everyone!')", "INITCAP('a1b1c', '1')"}},
      {.name = "NORMALIZE",
       .overloads = NormalizeOverloads<false>(),
       .meaning = "A string in a normal form of Unicode: NFC (if none is given), NFKC, NFD or NFKD.",
       .examples = {"NORMALIZE('\\u00ea') = NORMALIZE('\\u0065\\u0302')"}},
      {.name = "NORMALIZE_AND_CASEFOLD",
       .overloads = NormalizeOverloads<true>(),
       .meaning = "As NORMALIZE, and then folded, so that strings that differ only in case become equal.",
       .examples = {"NORMALIZE_AND_CASEFOLD('The red barn') = NORMALIZE_AND_CASEFOLD('The Red Barn')"}},
  };
}

}  // namespace sonde::sql
