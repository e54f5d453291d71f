#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "model/datum.h"
#include "sql/function/bounds.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/function/function_list.h"
#include "sql/function/row_kernel.h"
#include "sql/function/unicode.h"
#include "sql/function/utf8.h"
#include "sql/text/string_families.h"
#include "sql/text/text_search.h"

namespace sonde::sql {
namespace {

constexpr int64_t kNoLengthLimit = INT64_MAX;

// What a piece is counted in.
struct InCharacters {
  static size_t First(std::string_view text, size_t count) { return BytesOfFirst(text, count); }
  static size_t Last(std::string_view text, size_t count) { return BytesOfLast(text, count); }
  static size_t Count(std::string_view text) { return CountCharacters(text); }
};
struct InBytes {
  static size_t First(std::string_view bytes, size_t count) { return std::min(bytes.size(), count); }
  static size_t Last(std::string_view bytes, size_t count) { return std::min(bytes.size(), count); }
  static size_t Count(std::string_view bytes) { return bytes.size(); }
};

// `position` counts from 1, and 0 is 1, too; a negative one counts from the end, and one before the first is the first.
template <typename Unit>
std::string_view Piece(std::string_view text, int64_t position, int64_t length) {
  if (position > 0) {
    text.remove_prefix(Unit::First(text, static_cast<size_t>(position - 1)));
  } else if (position < 0) {
    const uint64_t from_end = uint64_t{0} - static_cast<uint64_t>(position);
    text.remove_prefix(text.size() - Unit::Last(text, from_end));
  }
  return text.substr(0, Unit::First(text, static_cast<size_t>(length)));
}

template <typename Unit>
std::string_view SubstringFrom(Call&, std::string_view text, int64_t position) {
  return Piece<Unit>(text, position, kNoLengthLimit);
}

template <typename Unit>
absl::StatusOr<std::string_view> Substring(Call&, std::string_view text, int64_t position, int64_t length) {
  if (length < 0) return absl::OutOfRangeError("Third argument in SUBSTR() cannot be negative");
  return Piece<Unit>(text, position, length);
}

template <typename Unit>
absl::StatusOr<std::string_view> LeftPart(Call&, std::string_view text, int64_t length) {
  if (length < 0) return absl::OutOfRangeError("Second argument in LEFT() cannot be negative");
  return text.substr(0, Unit::First(text, static_cast<size_t>(length)));
}

template <typename Unit>
absl::StatusOr<std::string_view> RightPart(Call&, std::string_view text, int64_t length) {
  if (length < 0) return absl::OutOfRangeError("Second argument in RIGHT() cannot be negative");
  return text.substr(text.size() - Unit::Last(text, static_cast<size_t>(length)));
}

enum Side : uint8_t { kLeftSide = 1, kRightSide = 2, kBothSides = 3 };

template <Side kSide, typename IsTrimmed>
std::string_view TrimCharacters(std::string_view text, const IsTrimmed& is_trimmed) {
  if (kSide & kLeftSide) {
    for (std::string_view rest = text; !text.empty() && is_trimmed(TakeCharacter(&rest));) text = rest;
  }
  if (kSide & kRightSide) {
    for (std::string_view rest = text; !text.empty() && is_trimmed(TakeLastCharacter(&rest));) text = rest;
  }
  return text;
}

template <Side kSide>
std::string_view TrimSpace(Call&, std::string_view text) {
  return TrimCharacters<kSide>(text, IsWhiteSpace);
}

template <Side kSide>
std::string_view TrimString(Call&, std::string_view text, std::string_view characters) {
  bool ascii[128] = {};
  absl::flat_hash_set<CodePoint> others;
  while (!characters.empty()) {
    const CodePoint character = TakeCharacter(&characters);
    if (character < 128) {
      ascii[character] = true;
    } else {
      others.insert(character);
    }
  }
  return TrimCharacters<kSide>(text, [&](CodePoint character) {
    return character < 128 ? ascii[character] : !others.empty() && others.contains(character);
  });
}

template <Side kSide>
std::string_view TrimBytes(Call&, std::string_view bytes, std::string_view trimmed) {
  bool is_trimmed[256] = {};
  for (const char byte : trimmed) is_trimmed[static_cast<unsigned char>(byte)] = true;
  const auto is_trimmed_byte = [&](char byte) { return is_trimmed[static_cast<unsigned char>(byte)]; };
  if (kSide & kLeftSide) {
    while (!bytes.empty() && is_trimmed_byte(bytes.front())) bytes.remove_prefix(1);
  }
  if (kSide & kRightSide) {
    while (!bytes.empty() && is_trimmed_byte(bytes.back())) bytes.remove_suffix(1);
  }
  return bytes;
}

using Pieces = absl::StatusOr<absl::Span<const Datum>>;

// `count` pieces, of which `next` takes each off the front of the text.
template <typename TakeNext>
Pieces ListOf(Call& call, size_t count, const TakeNext& take_next) {
  if (absl::Status status = AskForRoom(call, count * sizeof(Datum)); !status.ok()) return status;
  Datum* const pieces = call.arena()->New<Datum>(count);
  for (size_t i = 0; i < count; ++i) pieces[i] = Datum::Bytes(take_next());
  return absl::MakeConstSpan(pieces, count);
}

// An empty delimiter splits between all characters or bytes; an empty value has one piece, which is empty.
template <typename Unit>
Pieces SplitBy(Call& call, std::string_view text, std::string_view delimiter) {
  if (text.empty()) return ListOf(call, 1, [&] { return text; });
  if (delimiter.empty()) {
    return ListOf(call, Unit::Count(text), [&] {
      const std::string_view piece = text.substr(0, Unit::First(text, 1));
      text.remove_prefix(piece.size());
      return piece;
    });
  }
  size_t count = 1;
  for (size_t at = FindText(text, delimiter, 0); at != std::string_view::npos;
       at = FindText(text, delimiter, at + delimiter.size())) {
    ++count;
  }
  return ListOf(call, count, [&] {
    const size_t end = FindText(text, delimiter, 0);
    const std::string_view piece = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + delimiter.size());
    return piece;
  });
}

Pieces SplitByComma(Call& call, std::string_view text) { return SplitBy<InCharacters>(call, text, ","); }

template <Side kSide>
std::vector<Overload> TrimOverloads() {
  return {Scalar("(STRING, [STRING]) -> STRING",
                 KernelByCount<1, RowKernel<TrimSpace<kSide>>, RowKernel<TrimString<kSide>>>),
          Scalar("(BYTES, BYTES) -> BYTES", RowKernel<TrimBytes<kSide>>)};
}

std::vector<Function> TrimFunctions() {
  return {
      {.name = "TRIM",
       .overloads = TrimOverloads<kBothSides>(),
       .meaning = "A value without the characters or bytes at its ends that stand in the second argument; "
                  "white space where there "
                  "is none.",
       .examples = {"TRIM('  apple ')", "TRIM('***apple**', '*')"}},
      {.name = "LTRIM",
       .overloads = TrimOverloads<kLeftSide>(),
       .meaning = "As TRIM, at the beginning only.",
       .examples = {"LTRIM('***apple**', '*')"}},
      {.name = "RTRIM",
       .overloads = TrimOverloads<kRightSide>(),
       .meaning = "As TRIM, at the end only.",
       .examples = {"RTRIM('***apple**', '*')"}},
  };
}

}  // namespace

std::vector<Function> StringPieceFunctions() {
  const Function substr{
      .name = "SUBSTR",
      .overloads =
          {Scalar(
               "(STRING, INT64, [INT64]) -> STRING",
               KernelByCount<2, RowKernel<SubstringFrom<InCharacters>>, RowKernel<Substring<InCharacters>>>),
           Scalar("(BYTES, INT64, [INT64]) -> BYTES",
                  KernelByCount<2, RowKernel<SubstringFrom<InBytes>>, RowKernel<Substring<InBytes>>>)},
      .meaning =
          "The part of a value from a position on, of at most the length that is given.  Positions count "
          "from 1; negative "
          "ones from the end, -1 being the last.",
      .examples = {"SUBSTR('apple', 2)", "SUBSTR('apple', 2, 2)", "SUBSTR('apple', -2)"}};
  std::vector<Function> functions = TrimFunctions();
  functions.insert(
      functions.end(),
      {substr,
       {.name = "SUBSTRING", .alias_of = "SUBSTR"},
       {.name = "LEFT",
        .overloads = {Scalar("(STRING, INT64) -> STRING", RowKernel<LeftPart<InCharacters>>),
                      Scalar("(BYTES, INT64) -> BYTES", RowKernel<LeftPart<InBytes>>)},
        .meaning = "The first characters or bytes of a value, as many as the second argument says.",
        .examples = {"LEFT('banana', 3)"}},
       {.name = "RIGHT",
        .overloads = {Scalar("(STRING, INT64) -> STRING", RowKernel<RightPart<InCharacters>>),
                      Scalar("(BYTES, INT64) -> BYTES", RowKernel<RightPart<InBytes>>)},
        .meaning = "The last characters or bytes of a value, as many as the second argument says.",
        .examples = {"RIGHT('apple', 3)"}},
       {.name = "SPLIT",
        .overloads = {Scalar("(STRING, [STRING]) -> ARRAY<STRING>",
                             KernelByCount<1, RowKernel<SplitByComma>, RowKernel<SplitBy<InCharacters>>>),
                      Scalar("(BYTES, BYTES) -> ARRAY<BYTES>", RowKernel<SplitBy<InBytes>>)},
        .meaning = "The parts of a value between delimiters; a string's delimiter is a comma where none is "
                   "given.  An empty "
                   "delimiter splits between all characters or bytes.",
        .examples = {"SPLIT('a#b#c', '#')", "SPLIT('b,c')"}}});
  return functions;
}

}  // namespace sonde::sql
