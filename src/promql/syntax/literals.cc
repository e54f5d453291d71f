// Numbers, texts and lists of labels.
#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string>

#include "absl/strings/ascii.h"
#include "promql/syntax/grammar.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

// Go's ParseInt with the base of the prefix; nothing where it is no such number or too large.
std::optional<double> ReadInteger(std::string_view text) {
  int base = 10;
  std::string digits;
  std::string_view rest = text;
  if (rest.size() > 1 && rest[0] == '0') {
    const char letter = absl::ascii_tolower(rest[1]);
    base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
    rest.remove_prefix(letter == 'x' || letter == 'b' || letter == 'o' ? 2 : 1);
  }
  for (const char sign : rest) {
    if (sign != '_') digits.push_back(sign);
  }
  int64_t value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value, base);
  if (end.ec != std::errc() || end.ptr != digits.data() + digits.size()) return std::nullopt;
  return static_cast<double>(value);
}

void AppendCode(uint32_t code, bool is_byte, std::string* out) {
  const auto push = [&](uint32_t byte) { out->push_back(static_cast<char>(byte)); };
  if (is_byte || code < 0x80) return push(code);
  if (code < 0x800) {
    push(0xC0 | (code >> 6));
  } else if (code < 0x10000) {
    push(0xE0 | (code >> 12));
    push(0x80 | ((code >> 6) & 0x3F));
  } else {
    push(0xF0 | (code >> 18));
    push(0x80 | ((code >> 12) & 0x3F));
    push(0x80 | ((code >> 6) & 0x3F));
  }
  push(0x80 | (code & 0x3F));
}

}  // namespace

ExpressionPtr Grammar::NewNumber(double value, Range place) {
  ExpressionPtr result = New(ExpressionKind::kNumber, place);
  result->number = value;
  return result;
}

ExpressionPtr Grammar::ReadNumber() {
  const Token literal = Take();
  if (literal.kind == TokenKind::kNumber) return NewNumber(NumberOf(literal), literal.range);
  const absl::StatusOr<int64_t> nanos = ParseDurationNanos(literal.text);
  if (!nanos.ok()) Note(literal.range, TextOfError(nanos.status()));
  const int64_t length = nanos.value_or(0);
  ExpressionPtr result =
      NewNumber(static_cast<double>(length / kNanosPerSecond) +
                    static_cast<double>(length % kNanosPerSecond) / static_cast<double>(kNanosPerSecond),
                literal.range);
  result->is_duration = true;
  return result;
}

double Grammar::NumberOf(const Token& token) {
  if (const std::optional<double> integer = ReadInteger(token.text)) return *integer;
  const std::optional<double> number = ReadFloat(token.text);
  const bool is_too_large = number && std::isinf(*number) && absl::ascii_isdigit(token.text.back());
  if (!number || is_too_large) {
    Note(token.range, fmt::format("error parsing number: strconv.ParseFloat: parsing {}: {}",
                                  Quoted(token.text), number ? "value out of range" : "invalid syntax"));
  }
  return number.value_or(0);
}

// The lexer has checked the escapes.
std::string Grammar::Unquote(const Token& token) {
  const std::string_view inner = std::string_view(token.text).substr(1, token.text.size() - 2);
  if (token.text[0] == '`') return std::string(inner);
  constexpr std::string_view kLetters = "abfnrtv";
  constexpr std::string_view kControls = "\a\b\f\n\r\t\v";
  std::string result;
  for (size_t i = 0; i < inner.size(); ++i) {
    if (inner[i] != '\\') {
      result.push_back(inner[i]);
      continue;
    }
    const char letter = inner[++i];
    if (const size_t control = kLetters.find(letter); control != std::string_view::npos) {
      result.push_back(kControls[control]);
      continue;
    }
    const bool is_octal = letter >= '0' && letter <= '7';
    if (!is_octal && letter != 'x' && letter != 'u' && letter != 'U') {
      result.push_back(letter);
      continue;
    }
    const size_t length = is_octal ? 3 : letter == 'x' ? 2 : letter == 'u' ? 4 : 8;
    const size_t begin = is_octal ? i : i + 1;
    uint32_t code = 0;
    std::from_chars(inner.data() + begin, inner.data() + begin + length, code, is_octal ? 8 : 16);
    AppendCode(code, is_octal || letter == 'x', &result);
    i = begin + length - 1;
  }
  return result;
}

std::vector<std::string> Grammar::ReadGrouping() {
  if (!Is(TokenKind::kLeftParen)) Unexpected("grouping opts", "\"(\"");
  Take();
  std::vector<std::string> labels;
  if (TakeIf(TokenKind::kRightParen)) return labels;
  labels.push_back(ReadGroupingLabel());
  while (!TakeIf(TokenKind::kRightParen)) {
    if (!TakeIf(TokenKind::kComma)) Unexpected("grouping opts", "\",\" or \")\"");
    if (TakeIf(TokenKind::kRightParen)) return labels;
    labels.push_back(ReadGroupingLabel());
  }
  return labels;
}

std::string Grammar::ReadGroupingLabel() {
  if (!Is(TokenKind::kString) && !MayNameLabel(token().kind)) Unexpected("grouping opts", "label");
  const Token label = Take();
  std::string name = label.kind == TokenKind::kString ? Unquote(label) : label.text;
  if (name.empty() || !IsUtf8(name)) {
    Note(label.range, fmt::format("invalid label name for grouping: {}", Quoted(name)));
  }
  return name;
}

}  // namespace sonde::promql
