#include "sql/text/format_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "sql/function/utf8.h"
#include "sql/value/value_text.h"

namespace sonde::sql {
namespace {

// A number in its parts; padding goes where the flags say.
struct NumberParts {
  std::string sign;    // "-", "+", " " or nothing
  std::string prefix;  // "0x"
  std::string digits;
  bool takes_zeros = true;  // may be padded with zeros on its left
};

void AppendParts(const FormatSpec& spec, const NumberParts& parts, std::string* text) {
  const size_t length = parts.sign.size() + parts.prefix.size() + parts.digits.size();
  const size_t width = static_cast<size_t>(spec.width);
  const size_t padding = width > length ? width - length : 0;
  const bool is_zero_padded = spec.is_zero_padded && !spec.is_left && parts.takes_zeros;
  if (!spec.is_left && !is_zero_padded) text->append(padding, ' ');
  text->append(parts.sign).append(parts.prefix);
  if (is_zero_padded) text->append(padding, '0');
  text->append(parts.digits);
  if (spec.is_left) text->append(padding, ' ');
}

std::string SignOf(const FormatSpec& spec, bool is_negative) {
  return is_negative ? "-" : spec.has_plus ? "+" : spec.has_space ? " " : "";
}

// Puts a separator before every `group` digits, from the right.
std::string Grouped(std::string_view digits, size_t group, char separator) {
  std::string grouped;
  for (size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % group == 0) grouped += separator;
    grouped += digits[i];
  }
  return grouped;
}

bool IsHex(char specifier) { return specifier == 'x' || specifier == 'X'; }

std::string DigitsOf(uint64_t magnitude, char specifier) {
  switch (specifier) {
    case 'o':
      return fmt::format("{:o}", magnitude);
    case 'x':
      return fmt::format("{:x}", magnitude);
    case 'X':
      return fmt::format("{:X}", magnitude);
    default:
      return fmt::format("{}", magnitude);
  }
}

std::string PlainNumber(double number, bool is_float) {
  if (!std::isfinite(number)) return DoubleText(number);
  if (number == 0) return std::signbit(number) ? "-0.0" : "0.0";
  std::string text = is_float ? FloatText(static_cast<float>(number)) : DoubleText(number);
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

std::string LiteralNumber(double number, bool is_float) {
  if (std::isfinite(number)) return PlainNumber(number, is_float);
  return fmt::format("CAST(\"{}\" AS {})", DoubleText(number), is_float ? "FLOAT32" : "FLOAT64");
}

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'f'); }
void AppendHex(char byte, std::string* text) {
  *text += fmt::format("\\x{:02x}", static_cast<unsigned char>(byte));
}

// Single quotes where the text has only double ones.
char QuoteFor(std::string_view text) {
  return text.find('"') != std::string_view::npos && text.find('\'') == std::string_view::npos ? '\'' : '"';
}

std::string StringExpression(std::string_view string) {
  const char quote = QuoteFor(string);
  std::string text(1, quote);
  bool is_behind_hex = false;  // a digit there would be read as part of the escape
  for (const char c : string) {
    const auto byte = static_cast<unsigned char>(c);
    const bool was_behind_hex = std::exchange(is_behind_hex, false);
    if (c == '\n' || c == '\r' || c == '\t') {
      text += c == '\n' ? "\\n" : c == '\r' ? "\\r" : "\\t";
    } else if (c == '\\' || c == quote) {
      (text += '\\') += c;
    } else if (byte < 0x20 || byte == 0x7f || (was_behind_hex && IsHexDigit(c))) {
      AppendHex(c, &text);
      is_behind_hex = true;
    } else {
      text += c;
    }
  }
  return text += quote;
}

// `quote`: the one that is escaped; NUL: both are.
std::string EscapedBytes(std::string_view bytes, char quote) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    const bool is_quote = quote == '\0' ? c == '"' || c == '\'' : c == quote;
    if (byte < 0x20 || byte >= 0x7f) {
      AppendHex(c, &text);
    } else {
      if (c == '\\' || is_quote) text += '\\';
      text += c;
    }
  }
  return text;
}

std::string BytesExpression(std::string_view bytes) {
  const char quote = QuoteFor(bytes);
  return fmt::format("b{}{}{}", quote, EscapedBytes(bytes, quote), quote);
}

enum class Writing : uint8_t { kPlain, kLiteral };

std::string ScalarText(const Type& type, const Datum& datum, Writing writing) {
  const bool is_plain = writing == Writing::kPlain;
  switch (type.kind()) {
    case TypeKind::kBool:
      return datum.integer != 0 ? "true" : "false";
    case TypeKind::kFloat32:
    case TypeKind::kFloat64: {
      const bool is_float = type.Is(TypeKind::kFloat32);
      return is_plain ? PlainNumber(datum.number, is_float) : LiteralNumber(datum.number, is_float);
    }
    case TypeKind::kString:
      return is_plain ? std::string(datum.bytes()) : StringExpression(datum.bytes());
    case TypeKind::kBytes:
    case TypeKind::kProto:
      return is_plain ? EscapedBytes(datum.bytes(), '\0') : BytesExpression(datum.bytes());
    case TypeKind::kDate:
      return is_plain ? DateText(datum.integer) : fmt::format("DATE \"{}\"", DateText(datum.integer));
    case TypeKind::kTimestamp:
      return is_plain ? TimestampText(datum.integer)
                      : fmt::format("TIMESTAMP \"{}\"", TimestampText(datum.integer));
    default:
      return fmt::format("{}", datum.integer);
  }
}

// The types of the items of a list in turn.
const Type& ItemTypeOf(const Type& type, size_t item) {
  if (type.Is(TypeKind::kStruct)) return type.fields()[item].type;
  if (type.Is(TypeKind::kArray)) return type.element();
  return item % 2 == 0 ? type.key() : type.value();
}

void AppendValue(const Type& type, const Datum& datum, Writing writing, std::string* text) {
  if (!datum.is_there) {
    *text += "NULL";
    return;
  }
  if (ColumnTypeOf(type) != ColumnType::kList) {
    *text += ScalarText(type, datum, writing);
    return;
  }
  const bool is_map = type.Is(TypeKind::kMap);
  const bool is_struct = type.Is(TypeKind::kStruct);
  if (is_struct && datum.size < 2 && writing == Writing::kLiteral) *text += "STRUCT";
  *text += is_map ? '{' : is_struct ? '(' : '[';
  for (size_t i = 0; i < datum.size; ++i) {
    // FORMAT will refuse the text.
    if (static_cast<int64_t>(text->size()) > 4 * kFormattedBytesMax) return;
    if (i > 0) *text += is_map && i % 2 == 1 ? ": " : ", ";
    AppendValue(ItemTypeOf(type, i), datum.items[i], writing, text);
  }
  *text += is_map ? '}' : is_struct ? ')' : ']';
}

// As C's printf writes a finite number that is not negative, without width.
std::string FloatDigits(const FormatSpec& spec, double magnitude) {
  constexpr int kDefaultPrecision = 6;
  const std::string pattern = fmt::format("{{:{}.{{}}{}}}", spec.is_alternative ? "#" : "", spec.specifier);
  const int precision = spec.precision.value_or(kDefaultPrecision);
  std::string digits = fmt::format(fmt::runtime(pattern), magnitude, precision);
  // Of one digit with %#g, C writes "2." or "2.e+20" where fmt writes "2.0".
  const bool is_general = spec.specifier == 'g' || spec.specifier == 'G';
  const bool ends_at_zero = digits.size() == 3 || (digits.size() > 3 && (digits[3] | 0x20) == 'e');
  if (spec.is_alternative && is_general && precision <= 1 && ends_at_zero &&
      digits.compare(1, 2, ".0") == 0) {
    digits.erase(2, 1);
  }
  return digits;
}

}  // namespace

void AppendFormattedInteger(const FormatSpec& spec, int64_t integer, std::string* text) {
  const uint64_t magnitude =
      integer < 0 ? uint64_t{0} - static_cast<uint64_t>(integer) : static_cast<uint64_t>(integer);
  const bool is_decimal = spec.specifier == 'd' || spec.specifier == 'i';
  const auto precision = static_cast<size_t>(spec.precision.value_or(0));
  NumberParts parts{
      .sign = SignOf(spec, integer < 0), .prefix = {}, .digits = DigitsOf(magnitude, spec.specifier)};
  // Plain decimal numbers follow C: a precision of 0 writes no zero, and any precision does without zeros of the width.
  const bool follows_c = is_decimal && !spec.is_grouped && spec.precision.has_value();
  if (follows_c && precision == 0 && magnitude == 0) parts.digits.clear();
  parts.takes_zeros = !follows_c;
  const bool is_lengthened = parts.digits.size() < precision;
  if (is_lengthened) parts.digits.insert(0, precision - parts.digits.size(), '0');
  if (spec.is_alternative && IsHex(spec.specifier)) parts.prefix = spec.specifier == 'x' ? "0x" : "0X";
  if (spec.is_alternative && spec.specifier == 'o' && !is_lengthened) parts.prefix = "0";
  if (spec.is_grouped)
    parts.digits = Grouped(parts.digits, is_decimal ? 3 : 4, IsHex(spec.specifier) ? ':' : ',');
  AppendParts(spec, parts, text);
}

void AppendFormattedNumber(const FormatSpec& spec, double number, std::string* text) {
  const bool is_negative = number < 0;
  NumberParts parts{.sign = SignOf(spec, is_negative), .prefix = {}, .digits = {}};
  if (!std::isfinite(number)) {
    const bool is_upper = spec.specifier >= 'A' && spec.specifier <= 'Z';
    parts.digits = std::isnan(number) ? (is_upper ? "NAN" : "nan") : is_upper ? "INF" : "inf";
    parts.takes_zeros = false;
    return AppendParts(spec, parts, text);
  }
  parts.digits = FloatDigits(spec, number == 0 ? 0 : std::fabs(number));
  if (spec.is_grouped) {
    const size_t whole = std::min(parts.digits.find_first_not_of("0123456789"), parts.digits.size());
    parts.digits = Grouped(parts.digits.substr(0, whole), 3, ',') + parts.digits.substr(whole);
  }
  AppendParts(spec, parts, text);
}

void AppendFormattedText(const FormatSpec& spec, std::string_view written, std::string* text) {
  if (spec.precision.has_value()) {
    written = written.substr(0, BytesOfFirst(written, static_cast<size_t>(*spec.precision)));
  }
  const size_t width = static_cast<size_t>(spec.width);
  const size_t characters = width > 0 ? CountCharacters(written) : 0;
  const size_t padding = width > characters ? width - characters : 0;
  if (!spec.is_left) text->append(padding, ' ');
  text->append(written);
  if (spec.is_left) text->append(padding, ' ');
}

std::string PlainText(const Type& type, const Datum& datum) {
  std::string text;
  AppendValue(type, datum, Writing::kPlain, &text);
  return text;
}

std::string LiteralText(const Type& type, const Datum& datum) {
  std::string text;
  AppendValue(type, datum, Writing::kLiteral, &text);
  return text;
}

}  // namespace sonde::sql
