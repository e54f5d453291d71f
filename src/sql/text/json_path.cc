#include "sql/text/json_path.h"

#include <fmt/format.h>

#include <utility>

#include "absl/status/status.h"
#include "sql/function/unicode.h"
#include "sql/function/utf8.h"

namespace sonde::sql {
namespace {

bool IsPathSpace(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\f' || c == '\r'; }

void SkipPathSpace(std::string_view* text) {
  while (!text->empty() && IsPathSpace(text->front())) text->remove_prefix(1);
}

// Takes the characters that a name or number without quotes may have.
template <typename IsPart>
std::string_view TakeWhile(std::string_view* text, const IsPart& is_part) {
  std::string_view rest = *text;
  while (!rest.empty()) {
    std::string_view behind = rest;
    if (!is_part(TakeCharacter(&behind))) break;
    rest = behind;
  }
  const std::string_view taken = text->substr(0, text->size() - rest.size());
  *text = rest;
  return taken;
}

// Takes a name in quotes, and the quotes.  A backslash takes the character behind it into the name, and is itself a part of it
// unless that is the quote.
std::optional<std::string> TakeQuoted(char quote, std::string_view* text) {
  std::string_view rest = *text;
  if (rest.empty() || rest.front() != quote) return std::nullopt;
  rest.remove_prefix(1);
  std::string name;
  while (!rest.empty() && rest.front() != quote) {
    if (rest.front() == '\\') {
      if (rest.size() == 1) return std::nullopt;
      if (rest[1] != quote) name += '\\';
      rest.remove_prefix(1);
    }
    const size_t bytes = CharacterBytes(rest);
    name.append(rest.substr(0, bytes));
    rest.remove_prefix(bytes);
  }
  if (rest.empty()) return std::nullopt;
  *text = rest.substr(1);
  return name;
}

// [name], with space around the name.
std::optional<std::string> TakeBracketed(JsonPathStyle style, std::string_view* text) {
  std::string_view rest = *text;
  if (rest.empty() || rest.front() != '[') return std::nullopt;
  rest.remove_prefix(1);
  SkipPathSpace(&rest);
  std::optional<std::string> name;
  if (style == JsonPathStyle::kBrackets) name = TakeQuoted('\'', &rest);
  if (!name.has_value()) {
    const std::string_view plain = TakeWhile(&rest, [style](CodePoint character) {
      return character == '_' || character == '-' || IsNumber(character) ||
             (style == JsonPathStyle::kBrackets && IsLetter(character));
    });
    if (plain.empty()) return std::nullopt;
    name = plain;
  }
  SkipPathSpace(&rest);
  if (rest.empty() || rest.front() != ']') return std::nullopt;
  *text = rest.substr(1);
  return name;
}

// .name or ."name"
std::optional<std::string> TakeDotted(JsonPathStyle style, std::string_view* text) {
  std::string_view rest = *text;
  if (rest.empty() || rest.front() != '.') return std::nullopt;
  rest.remove_prefix(1);
  std::optional<std::string> name;
  if (style == JsonPathStyle::kDoubleQuotes) name = TakeQuoted('"', &rest);
  if (!name.has_value()) {
    const std::string_view plain = TakeWhile(&rest, [](CodePoint character) {
      return character == '_' || character == '-' || character == ':' || IsNumber(character) ||
             IsLetter(character) || (character < 128 && IsPathSpace(static_cast<char>(character)));
    });
    if (plain.empty()) return std::nullopt;
    name = plain;
  }
  *text = rest;
  return name;
}

// As C reads an unsigned number: digits behind space and a sign; what follows them does not count.
std::optional<uint32_t> IndexOf(std::string_view name) {
  SkipPathSpace(&name);
  const bool is_negative = !name.empty() && name.front() == '-';
  if (is_negative) name.remove_prefix(1);
  if (name.empty() || name.front() < '0' || name.front() > '9') return std::nullopt;
  uint64_t number = 0;
  for (const char c : name) {
    if (c < '0' || c > '9') break;
    if (number > (UINT64_MAX - 9) / 10) return UINT32_MAX;
    number = number * 10 + static_cast<uint64_t>(c - '0');
  }
  return static_cast<uint32_t>(is_negative ? uint64_t{0} - number : number);
}

absl::Status FaultAt(std::string_view rest) {
  for (std::string_view at = rest; !at.empty(); at.remove_prefix(1)) {
    for (const std::string_view sign : {"*", "..", "@"}) {
      if (at.starts_with(sign)) {
        return absl::OutOfRangeError(fmt::format("Unsupported operator in JSONPath: {}", sign));
      }
    }
  }
  return absl::OutOfRangeError(fmt::format("Invalid token in JSONPath at: {}", rest));
}

}  // namespace

absl::StatusOr<JsonPath> ParseJsonPath(std::string_view text, JsonPathStyle style) {
  if (text.empty() || text.front() != '$') return absl::OutOfRangeError("JSONPath must start with '$'");
  text.remove_prefix(1);
  JsonPath path;
  while (!text.empty()) {
    if (style == JsonPathStyle::kBrackets && text == ".") break;
    std::optional<std::string> name = TakeBracketed(style, &text);
    if (!name.has_value()) name = TakeDotted(style, &text);
    if (!name.has_value()) return FaultAt(text);
    const std::optional<uint32_t> index = IndexOf(*name);
    path.steps.push_back({*std::move(name), index});
  }
  return path;
}

}  // namespace sonde::sql
