#include "sql/syntax/literal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/ascii.h"
#include "base/bytes.h"

namespace sonde::sql {
namespace {

constexpr uint32_t kCodePointMax = 0x10FFFF;
constexpr std::string_view kHexDigits = "0123456789abcdef";

bool IsSurrogate(uint32_t code_point) { return code_point >= 0xD800 && code_point <= 0xDFFF; }

void AppendUtf8(uint32_t code_point, std::string* out) {
  const auto tail = [&](int shift) {
    out->push_back(static_cast<char>(0x80 | ((code_point >> shift) & 0x3F)));
  };
  if (code_point < 0x80) {
    out->push_back(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    out->push_back(static_cast<char>(0xC0 | (code_point >> 6)));
    tail(0);
  } else if (code_point < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | (code_point >> 12)));
    tail(6);
    tail(0);
  } else {
    out->push_back(static_cast<char>(0xF0 | (code_point >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

// The parts of a literal.
struct Shape {
  bool is_raw = false;
  bool is_bytes = false;
  std::string_view body;
  size_t body_offset = 0;
};

Shape ShapeOf(std::string_view literal) {
  Shape shape;
  size_t begin = 0;
  while (begin < literal.size() && absl::ascii_isalpha(literal[begin])) {
    const char letter = absl::ascii_tolower(literal[begin++]);
    (letter == 'r' ? shape.is_raw : shape.is_bytes) = true;
  }
  const std::string_view quoted = literal.substr(begin);
  const bool is_triple = quoted.size() >= 6 && (quoted.starts_with("'''") || quoted.starts_with("\"\"\""));
  const size_t quote_bytes = is_triple ? 3 : 1;
  shape.body = quoted.substr(quote_bytes, quoted.size() - 2 * quote_bytes);
  shape.body_offset = begin + quote_bytes;
  return shape;
}

// Reads the body of a literal.
class BodyReader {
 public:
  BodyReader(const Shape& shape, std::string* value) : shape_(shape), body_(shape.body), value_(value) {}

  std::optional<LiteralError> Read() {
    if (!shape_.is_bytes) CheckUtf8();
    while (!error_ && at_ < body_.size()) ReadOne();
    return std::move(error_);
  }

 private:
  void Fail(size_t offset, std::string message) {
    error_ = LiteralError{std::move(message), shape_.body_offset + offset};
  }

  void CheckUtf8() {
    const size_t good_bytes = Utf8PrefixBytes(body_);
    if (good_bytes == body_.size()) return;
    Fail(good_bytes, fmt::format("Structurally invalid UTF8 string: {}", Printable(body_)));
  }

  void ReadOne() {
    const char c = body_[at_];
    if (c == '\r') {  // a line ends with \n, whatever the text has
      at_ += body_.substr(at_).starts_with("\r\n") ? 2 : 1;
      value_->push_back('\n');
    } else if (c != '\\') {
      ++at_;
      value_->push_back(c);
    } else if (shape_.is_raw) {
      value_->append(body_.substr(at_, 2));
      at_ += 2;
    } else {
      ReadEscape();
    }
  }

  void ReadEscape() {
    static constexpr std::string_view kLetters = "abfnrtv\\?\"'`";
    static constexpr std::string_view kMeanings = "\a\b\f\n\r\t\v\\?\"'`";
    const char letter = at_ + 1 < body_.size() ? body_[at_ + 1] : '\0';
    if (const size_t which = kLetters.find(letter); which != std::string_view::npos && letter != '\0') {
      value_->push_back(kMeanings[which]);
      at_ += 2;
    } else if (letter >= '0' && letter <= '3') {
      ReadNumber(3, 0, 8, "Octal escape must be followed by 3 octal digits");
    } else if (letter == 'x' || letter == 'X') {
      ReadNumber(2, 1, 16, "Hex escape must be followed by 2 hex digits");
    } else if (letter == 'u' || letter == 'U') {
      ReadCodePoint(letter);
    } else if (letter == '\r' || letter == '\n') {
      Fail(at_, "Illegal escaped newline");
    } else {
      Fail(at_, fmt::format("Illegal escape sequence: {}", body_.substr(at_, 2)));
    }
  }

  // Reads `digits_count` digits, which stand behind the backslash and `before` bytes: a byte of bytes, a code
  // point of strings.
  void ReadNumber(size_t digits_count, size_t before, uint32_t base, std::string_view rule) {
    const std::string_view escape = body_.substr(at_, 1 + before + digits_count);
    const std::optional<uint32_t> number = Digits(escape.substr(1 + before), digits_count, base);
    if (!number) return Fail(at_, fmt::format("Illegal escape sequence: {} but saw: {}", rule, escape));
    at_ += escape.size();
    if (shape_.is_bytes) {
      value_->push_back(static_cast<char>(*number));
    } else {
      AppendUtf8(*number, value_);
    }
  }

  void ReadCodePoint(char letter) {
    if (shape_.is_bytes) {
      return Fail(
          at_, fmt::format(
                   "Illegal escape sequence: Unicode escape sequence \\{} cannot be used in bytes literals",
                   body_.substr(at_ + 1, 1)));
    }
    const size_t digits_count = letter == 'u' ? 4 : 8;
    const std::string_view escape = body_.substr(at_, 2 + digits_count);
    const std::optional<uint32_t> number = Digits(escape.substr(2), digits_count, 16);
    if (!number) {
      return Fail(at_,
                  fmt::format("Illegal escape sequence: {} must be followed by {} hex digits but saw: {}",
                              escape.substr(0, 2), digits_count, escape));
    }
    if (*number > kCodePointMax) {
      return Fail(at_, fmt::format("Illegal escape sequence: Value of {} exceeds Unicode limit (0x0010FFFF)",
                                   escape));
    }
    if (IsSurrogate(*number)) {
      return Fail(at_, fmt::format("Illegal escape sequence: Unicode value {} is invalid", escape));
    }
    at_ += escape.size();
    AppendUtf8(*number, value_);
  }

  static std::optional<uint32_t> Digits(std::string_view text, size_t digits_count, uint32_t base) {
    if (text.size() < digits_count) return std::nullopt;
    uint32_t number = 0;
    for (const char c : text) {
      const size_t digit = kHexDigits.find(absl::ascii_tolower(c));
      if (digit >= base) return std::nullopt;
      number = number * base + static_cast<uint32_t>(digit);
    }
    return number;
  }

  const Shape& shape_;
  const std::string_view body_;
  std::string* value_;
  size_t at_ = 0;
  std::optional<LiteralError> error_;
};

// `value` with `quote`, backslashes and what is no printable ASCII escaped; of strings, other UTF-8 stays.
std::string Escape(std::string_view value, char quote, bool is_bytes) {
  std::string text(1, quote);
  for (const char c : value) {
    const auto byte = static_cast<uint8_t>(c);
    if (c == '\n') {
      text += "\\n";
    } else if (c == '\r') {
      text += "\\r";
    } else if (c == '\t') {
      text += "\\t";
    } else if (c == quote || c == '\\') {
      text += {'\\', c};
    } else if (byte < 0x20 || byte == 0x7F || (is_bytes && byte >= 0x80)) {
      text += {'\\', 'x', kHexDigits[byte >> 4], kHexDigits[byte & 0xF]};
    } else {
      text.push_back(c);
    }
  }
  text.push_back(quote);
  return text;
}

// How many bytes the character takes that `text` begins with; 0: it begins with none.
size_t CharacterBytes(std::string_view text) {
  const auto byte = [&](size_t i) { return static_cast<uint8_t>(text[i]); };
  const uint8_t first = byte(0);
  if (first < 0x80) return 1;
  const size_t bytes = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || text.size() < bytes) return 0;
  for (size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
  }
  // Encodings that are too long, surrogates, and what is beyond the last code point.
  if (first == 0xE0 && byte(1) < 0xA0) return 0;
  if (first == 0xED && byte(1) > 0x9F) return 0;
  if (first == 0xF0 && byte(1) < 0x90) return 0;
  if (first == 0xF4 && byte(1) > 0x8F) return 0;
  return bytes;
}

}  // namespace

std::optional<LiteralError> ReadLiteral(std::string_view literal, std::string* value) {
  const Shape shape = ShapeOf(literal);
  return BodyReader(shape, value).Read();
}

std::string QuotedString(std::string_view value) { return Escape(value, '\'', false); }
std::string QuotedBytes(std::string_view value) { return "b" + Escape(value, '\'', true); }
std::string QuotedName(std::string_view name) { return Escape(name, '`', false); }

size_t Utf8PrefixBytes(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    const size_t bytes = CharacterBytes(text.substr(at));
    if (bytes == 0) break;
    at += bytes;
  }
  return at;
}

}  // namespace sonde::sql
