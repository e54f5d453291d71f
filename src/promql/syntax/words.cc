#include "promql/syntax/words.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <limits>

#include "absl/strings/ascii.h"

namespace sonde::promql {
namespace {

constexpr char32_t kReplacement = 0xFFFD;

struct DurationUnit {
  std::string_view name;
  int64_t millis;
  bool is_exact;  // written only where nothing is left
};

constexpr std::array<DurationUnit, 7> kUnits = {{{"y", int64_t{365} * 86'400'000, true},
                                                 {"w", int64_t{7} * 86'400'000, true},
                                                 {"d", 86'400'000, false},
                                                 {"h", 3'600'000, false},
                                                 {"m", 60'000, false},
                                                 {"s", 1'000, false},
                                                 {"ms", 1, false}}};

bool IsContinuation(unsigned char byte) { return (byte & 0xC0) == 0x80; }

// Signs that Go writes as they are.
bool IsPrintable(char32_t sign) {
  if (sign < 0x20 || sign == 0x7F) return false;
  if (sign >= 0x80 && sign <= 0xA0) return false;
  if (sign == 0xAD || (sign >= 0x2000 && sign <= 0x200F) || (sign >= 0x2028 && sign <= 0x202F)) return false;
  if ((sign >= 0x205F && sign <= 0x206F) || sign == 0x3000 || sign == 0xFEFF) return false;
  if ((sign >= 0xE000 && sign <= 0xF8FF) || sign >= 0xE0000) return false;
  return sign != 0xFFFE && sign != 0xFFFF;
}

void AppendUtf8(char32_t sign, std::string* out) {
  const auto tail = [&](int shift) { out->push_back(static_cast<char>(0x80 | ((sign >> shift) & 0x3F))); };
  if (sign < 0x80) {
    out->push_back(static_cast<char>(sign));
  } else if (sign < 0x800) {
    out->push_back(static_cast<char>(0xC0 | (sign >> 6)));
    tail(0);
  } else if (sign < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | (sign >> 12)));
    tail(6);
    tail(0);
  } else {
    out->push_back(static_cast<char>(0xF0 | (sign >> 18)));
    tail(12);
    tail(6);
    tail(0);
  }
}

void AppendEscaped(char32_t sign, char32_t quote, std::string* out) {
  if (sign == quote || sign == '\\') {
    out->push_back('\\');
    out->push_back(static_cast<char>(sign));
    return;
  }
  constexpr std::string_view kControls = "\a\b\f\n\r\t\v";
  constexpr std::string_view kLetters = "abfnrtv";
  const size_t control = sign < 0x80 ? kControls.find(static_cast<char>(sign)) : std::string_view::npos;
  if (IsPrintable(sign)) {
    AppendUtf8(sign, out);
  } else if (control != std::string_view::npos) {
    out->push_back('\\');
    out->push_back(kLetters[control]);
  } else if (sign < 0x20 || sign == 0x7F) {
    *out += fmt::format("\\x{:02x}", static_cast<uint32_t>(sign));
  } else if (sign < 0x10000) {
    *out += fmt::format("\\u{:04x}", static_cast<uint32_t>(sign));
  } else {
    *out += fmt::format("\\U{:08x}", static_cast<uint32_t>(sign));
  }
}

absl::Status NoDuration(std::string_view text) {
  return absl::InvalidArgumentError(fmt::format("not a valid duration string: {}", Quoted(text)));
}

std::optional<std::string> TextOfSpecial(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "+Inf" : "-Inf";
  return std::nullopt;
}

// Takes the underscores out of a number in small letters.  False: one does not stand between digits, or behind the prefix.
bool TakeUnderscores(bool is_hexadecimal, std::string* number) {
  std::string result;
  bool is_digit = false;  // the sign before
  bool is_underscore = false;
  for (size_t i = 0; i < number->size(); ++i) {
    const char sign = (*number)[i];
    if (sign == '_') {
      if (!is_digit) return false;
      is_digit = false;
      is_underscore = true;
      continue;
    }
    const bool is_prefix = is_hexadecimal && i < 2;
    is_digit = is_prefix || (is_hexadecimal ? absl::ascii_isxdigit(sign) : absl::ascii_isdigit(sign));
    if (is_underscore && !is_digit) return false;
    is_underscore = false;
    result.push_back(sign);
  }
  *number = std::move(result);
  return !is_underscore;
}

}  // namespace

Sign SignAt(std::string_view text, size_t position) {
  const auto byte = [&](size_t i) { return static_cast<unsigned char>(text[position + i]); };
  const size_t left = text.size() - position;
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1};
  const size_t length = first >= 0xF0 ? 4 : first >= 0xE0 ? 3 : 2;
  if (first < 0xC2 || first > 0xF4 || left < length) return {kReplacement, 1};
  char32_t sign = first & (0xFF >> (length + 1));
  for (size_t i = 1; i < length; ++i) {
    if (!IsContinuation(byte(i))) return {kReplacement, 1};
    sign = (sign << 6) | (byte(i) & 0x3F);
  }
  constexpr std::array<char32_t, 5> kLeast = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_surrogate = sign >= 0xD800 && sign < 0xE000;
  if (sign < kLeast[length] || sign > 0x10FFFF || is_surrogate) return {kReplacement, 1};
  return {sign, length};
}

bool IsUtf8(std::string_view text) {
  for (size_t i = 0; i < text.size();) {
    const Sign sign = SignAt(text, i);
    if (sign.code == kReplacement && sign.bytes == 1) return false;
    i += sign.bytes;
  }
  return true;
}

std::string Quoted(std::string_view text) {
  std::string result = "\"";
  for (size_t i = 0; i < text.size();) {
    const Sign sign = SignAt(text, i);
    if (sign.code == kReplacement && sign.bytes == 1) {
      result += fmt::format("\\x{:02x}", static_cast<unsigned char>(text[i]));
    } else {
      AppendEscaped(sign.code, '"', &result);
    }
    i += sign.bytes;
  }
  return result + "\"";
}

std::string QuotedSign(char32_t sign) {
  std::string result = "'";
  AppendEscaped(sign, '\'', &result);
  return result + "'";
}

std::string NamedSign(char32_t sign) {
  std::string result = fmt::format("U+{:04X}", static_cast<uint32_t>(sign));
  if (IsPrintable(sign)) {
    result += " '";
    AppendUtf8(sign, &result);
    result += "'";
  }
  return result;
}

std::string PlainNumber(double value) {
  if (const auto special = TextOfSpecial(value)) return *special;
  // The shortest digits are those of the scientific form; beyond 2^64 the fixed one has all.
  std::array<char, 64> buffer;
  const auto end = std::to_chars(buffer.data(), buffer.data() + buffer.size(), std::fabs(value),
                                 std::chars_format::scientific);
  const std::string_view text(buffer.data(), static_cast<size_t>(end.ptr - buffer.data()));
  const size_t mark = text.find('e');
  std::string digits(1, text[0]);
  if (mark > 2) digits += text.substr(2, mark - 2);
  int exponent = 0;
  const std::string_view power = text.substr(mark + (text[mark + 1] == '+' ? 2 : 1));
  std::from_chars(power.data(), power.data() + power.size(), exponent);
  std::string result = std::signbit(value) ? "-" : "";
  if (exponent < 0) return result + "0." + std::string(static_cast<size_t>(-exponent - 1), '0') + digits;
  const auto whole = static_cast<size_t>(exponent) + 1;
  if (digits.size() <= whole) return result + digits + std::string(whole - digits.size(), '0');
  return result + digits.substr(0, whole) + "." + digits.substr(whole);
}

std::string GeneralNumber(double value) {
  if (const auto special = TextOfSpecial(value)) return *special;
  const double size = std::fabs(value);
  if (size == 0 || (size >= 1e-4 && size < 1e6)) return PlainNumber(value);
  std::array<char, 64> digits;
  const auto end =
      std::to_chars(digits.data(), digits.data() + digits.size(), value, std::chars_format::scientific);
  return {digits.data(), end.ptr};
}

std::optional<double> ReadFloat(std::string_view text) {
  std::string_view rest = text;
  const bool is_negative = rest.starts_with('-');
  if (is_negative || rest.starts_with('+')) rest.remove_prefix(1);
  std::string word(rest);
  absl::AsciiStrToLower(&word);
  const double sign = is_negative ? -1 : 1;
  if (word == "inf" || word == "infinity") return sign * std::numeric_limits<double>::infinity();
  if (word == "nan") return is_negative || text != rest ? std::nullopt : std::optional<double>(std::nan(""));
  const bool is_hexadecimal = word.starts_with("0x");
  if (is_hexadecimal && word.find('p') == std::string::npos) return std::nullopt;
  if (!TakeUnderscores(is_hexadecimal, &word)) return std::nullopt;
  const std::string_view digits = std::string_view(word).substr(is_hexadecimal ? 2 : 0);
  if (digits.empty() || !(absl::ascii_isxdigit(digits[0]) || digits[0] == '.')) return std::nullopt;
  double value = 0;
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value,
                                   is_hexadecimal ? std::chars_format::hex : std::chars_format::general);
  if (end.ptr != digits.data() + digits.size()) return std::nullopt;
  if (end.ec == std::errc::result_out_of_range) {
    // Too small is nothing, too large is infinite; the exponent tells.
    value = digits.find("e-") != std::string_view::npos ? 0 : std::numeric_limits<double>::infinity();
  } else if (end.ec != std::errc()) {
    return std::nullopt;
  }
  return sign * value;
}

std::string DurationText(int64_t nanos) {
  int64_t millis = nanos / kNanosPerMilli;
  if (millis == 0) return "0s";
  std::string result;
  for (const DurationUnit& unit : kUnits) {
    if (unit.is_exact && millis % unit.millis != 0) continue;
    const int64_t count = millis / unit.millis;
    if (count <= 0) continue;
    result += fmt::format("{}{}", count, unit.name);
    millis -= count * unit.millis;
  }
  return result;
}

absl::StatusOr<int64_t> ParseDurationNanos(std::string_view text) {
  if (text == "0") return 0;
  if (text.empty()) return absl::InvalidArgumentError("empty duration string");
  constexpr uint64_t kNanosMax = std::numeric_limits<int64_t>::max();
  uint64_t nanos = 0;
  size_t least_unit = 0;
  for (std::string_view rest = text; !rest.empty();) {
    uint64_t count = 0;
    const auto number = std::from_chars(rest.data(), rest.data() + rest.size(), count);
    if (number.ec != std::errc() || number.ptr == rest.data()) return NoDuration(text);
    rest.remove_prefix(static_cast<size_t>(number.ptr - rest.data()));
    size_t length = 0;
    while (length < rest.size() && !absl::ascii_isdigit(rest[length])) ++length;
    if (length == 0) return NoDuration(text);
    const std::string_view name = rest.substr(0, length);
    rest.remove_prefix(length);
    size_t unit = 0;
    while (unit < kUnits.size() && kUnits[unit].name != name) ++unit;
    if (unit == kUnits.size()) {
      return absl::InvalidArgumentError(
          fmt::format("unknown unit {} in duration {}", Quoted(name), Quoted(text)));
    }
    if (unit < least_unit) return NoDuration(text);
    least_unit = unit + 1;
    const auto unit_nanos = static_cast<uint64_t>(kUnits[unit].millis * kNanosPerMilli);
    if (count > (uint64_t{1} << 63) / unit_nanos || nanos + count * unit_nanos > kNanosMax) {
      return absl::InvalidArgumentError("duration out of range");
    }
    nanos += count * unit_nanos;
  }
  return static_cast<int64_t>(nanos);
}

bool IsPlainLabelName(std::string_view name) {
  for (size_t i = 0; i < name.size(); ++i) {
    const bool is_letter = absl::ascii_isalpha(name[i]) || name[i] == '_';
    if (!is_letter && !(i > 0 && absl::ascii_isdigit(name[i]))) return false;
  }
  return !name.empty();
}

std::string_view TextOfError(const absl::Status& status) {
  return {status.message().data(), status.message().size()};
}

std::string PlaceText(std::string_view query, size_t position) {
  if (query.empty()) return "unknown position";
  if (position > query.size()) return "invalid position";
  size_t line = 1;
  size_t line_start = 0;
  for (size_t i = 0; i < position; ++i) {
    if (query[i] != '\n') continue;
    ++line;
    line_start = i + 1;
  }
  return fmt::format("{}:{}", line, position - line_start + 1);
}

}  // namespace sonde::promql
