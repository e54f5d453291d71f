#include <fmt/format.h>

#include <algorithm>
#include <bitset>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/datum.h"
#include "sql/function/bounds.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/function/utf8.h"
#include "sql/text/format_text.h"
#include "sql/text/string_families.h"
#include "sql/text/text_search.h"
#include "sql/value/type.h"

namespace sonde::sql {
namespace {

// GoogleSQL's bound on what REPLACE and TRANSLATE give.
constexpr size_t kRewrittenBytesMax = 1 << 20;

bool BeginsWith(Call&, std::string_view text, std::string_view part) { return text.starts_with(part); }
bool EndsIn(Call&, std::string_view text, std::string_view part) { return text.ends_with(part); }

// Places of bytes and of what is counted, and steps from one to the next.
struct PlacesOfCharacters {
  static int64_t Position(std::string_view text, size_t place) {
    return static_cast<int64_t>(CountCharacters(text.substr(0, place))) + 1;
  }
  static size_t Place(std::string_view text, size_t count) { return BytesOfFirst(text, count); }
  static size_t Count(std::string_view text) { return CountCharacters(text); }
  static size_t Next(std::string_view text, size_t place) {
    return place + CharacterBytes(text.substr(place));
  }
};
struct PlacesOfBytes {
  static int64_t Position(std::string_view, size_t place) { return static_cast<int64_t>(place) + 1; }
  static size_t Place(std::string_view bytes, size_t count) { return std::min(bytes.size(), count); }
  static size_t Count(std::string_view bytes) { return bytes.size(); }
  static size_t Next(std::string_view, size_t place) { return place + 1; }
};

template <typename Unit>
int64_t FirstPosition(Call&, std::string_view text, std::string_view part) {
  const size_t place = FindText(text, part, 0);
  return place == std::string_view::npos ? 0 : Unit::Position(text, place);
}

// Of the occurrences that begin at `place` or behind it.  Occurrences may overlap.
template <typename Unit>
absl::StatusOr<int64_t> PositionAfter(Call& call, std::string_view text, std::string_view part, size_t place,
                                      int64_t occurrence) {
  WorkMeter meter;
  while (true) {
    const size_t found = FindText(text, part, place);
    if (found == std::string_view::npos) return 0;
    if (--occurrence == 0) return Unit::Position(text, found);
    if (found == text.size()) return 0;
    if (absl::Status status = meter.Add(call, found - place + part.size()); !status.ok()) return status;
    place = Unit::Next(text, found);
  }
}

// Of the occurrences that begin at `place` or before it, the last first.
template <typename Unit>
absl::StatusOr<int64_t> PositionBefore(Call& call, std::string_view text, std::string_view part, size_t place,
                                       int64_t occurrence) {
  WorkMeter meter;
  for (size_t at = place + 1; at-- > 0;) {
    if (absl::Status status = meter.Add(call, 1 + part.size() / 8); !status.ok()) return status;
    // Within a character no part that is valid UTF-8 begins; an empty one must not be found there.
    const bool is_boundary = at == text.size() || Unit::Count(text.substr(at, 1)) == 1;
    if (is_boundary && text.substr(at).starts_with(part) && --occurrence == 0)
      return Unit::Position(text, at);
  }
  return 0;
}

template <typename Unit>
absl::StatusOr<int64_t> InstrNth(Call& call, std::string_view text, std::string_view part, int64_t position,
                                 int64_t occurrence) {
  if (occurrence < 1) return absl::OutOfRangeError("Occurrence must be positive");
  if (position == 0) return absl::OutOfRangeError("Position must be non-zero");
  const size_t count = Unit::Count(text);
  if (position > 0) {
    const auto skipped = static_cast<uint64_t>(position) - 1;
    if (skipped > count) return 0;
    return PositionAfter<Unit>(call, text, part, Unit::Place(text, skipped), occurrence);
  }
  // -1 is the last character, or the end for an empty part.
  const uint64_t from_end = (uint64_t{0} - static_cast<uint64_t>(position)) - (part.empty() ? 1 : 0);
  if (from_end > count) return 0;
  return PositionBefore<Unit>(call, text, part, Unit::Place(text, count - from_end), occurrence);
}

template <typename Unit>
absl::StatusOr<int64_t> InstrFrom(Call& call, std::string_view text, std::string_view part,
                                  int64_t position) {
  return InstrNth<Unit>(call, text, part, position, 1);
}

template <typename Unit>
constexpr Kernel kInstr =
    KernelByCount<2, RowKernel<FirstPosition<Unit>>, RowKernel<InstrFrom<Unit>>, RowKernel<InstrNth<Unit>>>;

absl::StatusOr<std::string_view> ReplaceAll(Call& call, std::string_view text, std::string_view from,
                                            std::string_view to) {
  const auto too_large = [] {
    return absl::OutOfRangeError("Output of REPLACE exceeds max allowed output size of 1MB");
  };
  size_t found = from.empty() ? std::string_view::npos : FindText(text, from, 0);
  if (found == std::string_view::npos) {
    if (text.size() > kRewrittenBytesMax) return too_large();
    return text;
  }
  std::string replaced;
  size_t place = 0;
  for (; found != std::string_view::npos; found = FindText(text, from, place)) {
    replaced.append(text.substr(place, found - place)).append(to);
    if (replaced.size() > kRewrittenBytesMax) return too_large();
    place = found + from.size();
  }
  replaced.append(text.substr(place));
  if (replaced.size() > kRewrittenBytesMax) return too_large();
  return call.arena()->Copy(replaced);
}

absl::Status TranslatedTooLarge() {
  return absl::OutOfRangeError("Output of TRANSLATE exceeds max allowed output size of 1MB");
}

absl::StatusOr<std::string_view> TranslateBytes(Call& call, std::string_view bytes, std::string_view from,
                                                std::string_view to) {
  std::bitset<256> is_named;
  std::bitset<256> is_dropped;
  char other[256];
  for (size_t i = 0; i < from.size(); ++i) {
    const auto byte = static_cast<unsigned char>(from[i]);
    if (is_named[byte]) {
      return absl::OutOfRangeError(fmt::format("Duplicate byte 0x{:02x} in TRANSLATE source bytes", byte));
    }
    is_named.set(byte);
    is_dropped[byte] = i >= to.size();
    other[byte] = i < to.size() ? to[i] : '\0';
  }
  char* const translated = call.arena()->New<char>(std::min(bytes.size(), kRewrittenBytesMax));
  size_t length = 0;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (is_dropped[byte]) continue;
    if (length == kRewrittenBytesMax) return TranslatedTooLarge();
    translated[length++] = is_named[byte] ? other[byte] : c;
  }
  return std::string_view(translated, length);
}

// What stands for each character of `from`: the character at the same place of `to`, or nothing.
absl::StatusOr<absl::flat_hash_map<CodePoint, std::string_view>> Translations(std::string_view from,
                                                                              std::string_view to) {
  absl::flat_hash_map<CodePoint, std::string_view> translations;
  while (!from.empty()) {
    const std::string_view written = from.substr(0, CharacterBytes(from));
    const std::string_view other = to.empty() ? std::string_view() : to.substr(0, CharacterBytes(to));
    to.remove_prefix(other.size());
    if (!translations.emplace(TakeCharacter(&from), other).second) {
      return absl::OutOfRangeError(fmt::format("Duplicate character {} in TRANSLATE source characters",
                                               LiteralText(TypeKind::kString, Datum::Bytes(written))));
    }
  }
  return translations;
}

absl::StatusOr<std::string_view> TranslateString(Call& call, std::string_view text, std::string_view from,
                                                 std::string_view to) {
  const auto translations = Translations(from, to);
  if (!translations.ok()) return translations.status();
  std::string translated;
  while (!text.empty()) {
    const std::string_view written = text.substr(0, CharacterBytes(text));
    const auto translation = translations->find(TakeCharacter(&text));
    translated.append(translation == translations->end() ? written : translation->second);
    if (translated.size() > kRewrittenBytesMax) return TranslatedTooLarge();
  }
  return call.arena()->Copy(translated);
}

std::vector<Function> FindingFunctions() {
  return {
      {.name = "STARTS_WITH",
       .overloads = {Scalar("(STRING, STRING) -> BOOL", RowKernel<BeginsWith>),
                     Scalar("(BYTES, BYTES) -> BOOL", RowKernel<BeginsWith>)},
       .meaning = "Whether a value begins with another one.",
       .examples = {"STARTS_WITH('bar', 'b')"}},
      {.name = "ENDS_WITH",
       .overloads = {Scalar("(STRING, STRING) -> BOOL", RowKernel<EndsIn>),
                     Scalar("(BYTES, BYTES) -> BOOL", RowKernel<EndsIn>)},
       .meaning = "Whether a value ends with another one.",
       .examples = {"ENDS_WITH('apple', 'e')"}},
      {.name = "STRPOS",
       .overloads = {Scalar("(STRING, STRING) -> INT64", RowKernel<FirstPosition<PlacesOfCharacters>>),
                     Scalar("(BYTES, BYTES) -> INT64", RowKernel<FirstPosition<PlacesOfBytes>>)},
       .meaning =
           "The position, from 1, at which the second value first stands in the first one; 0 if it does not.",
       .examples = {"STRPOS('foo@example.com', '@')"}},
      {.name = "INSTR",
       .overloads = {Scalar("(STRING, STRING, [INT64], [INT64]) -> INT64", kInstr<PlacesOfCharacters>),
                     Scalar("(BYTES, BYTES, [INT64], [INT64]) -> INT64", kInstr<PlacesOfBytes>)},
       .meaning = "The position, from 1, at which the second value stands in the first one; 0 if it does "
                  "not.  The third argument says "
                  "where the search begins (negative: from the end, backwards), the fourth which occurrence "
                  "is meant.",
       .examples = {"INSTR('banana', 'an', 1, 2)", "INSTR('banana', 'an', -1)"}},
  };
}

}  // namespace

std::vector<Function> StringSearchFunctions() {
  std::vector<Function> functions = FindingFunctions();
  functions.push_back(
      {.name = "REPLACE",
       .overloads = {Scalar("(STRING, STRING, STRING) -> STRING", RowKernel<ReplaceAll>),
                     Scalar("(BYTES, BYTES, BYTES) -> BYTES", RowKernel<ReplaceAll>)},
       .meaning = "A value with the third argument wherever the second one stands in it; at most 1 MiB.",
       .examples = {"REPLACE('apple pie', 'pie', 'cobbler')"}});
  functions.push_back({.name = "TRANSLATE",
                       .overloads = {Scalar("(STRING, STRING, STRING) -> STRING", RowKernel<TranslateString>),
                                     Scalar("(BYTES, BYTES, BYTES) -> BYTES", RowKernel<TranslateBytes>)},
                       .meaning = "A value with each character or byte of the second argument replaced by "
                                  "the one at the same place of the "
                                  "third, or left out where the third is shorter.",
                       .examples = {"TRANSLATE('This is a cookie', 'sco', 'zku')"}});
  return functions;
}

}  // namespace sonde::sql
