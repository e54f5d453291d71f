#include "sql/cast/number_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/match.h"

namespace sonde::sql {
namespace {

constexpr size_t kModelBytesMax = 512;
constexpr size_t kHexDigitsMax = 16;
constexpr size_t kExponentWidth = 4;  // E+00

absl::Status ModelError(std::string_view what) {
  return absl::OutOfRangeError(fmt::format("Error in format string: {}", what));
}

// The whole number without leading zeros: empty for 0.
std::string WithoutZeros(std::string digits) {
  digits.erase(0, std::min(digits.find_first_not_of('0'), digits.size()));
  return digits;
}

std::string Hashes(std::string places) {
  for (char& place : places) place = place == ',' ? ',' : '#';
  return places;
}

}  // namespace

// --- Models.

absl::StatusOr<NumberModel> NumberModel::Parse(std::string_view text) {
  if (text.size() > kModelBytesMax) {
    return ModelError(fmt::format("Format string too long; limit {}", kModelBytesMax));
  }
  NumberModel model;
  while (!text.empty()) {
    if (absl::Status status = model.TakeElement(&text); !status.ok()) return status;
  }
  if (!model.HasDigits()) return ModelError("Format string must contain at least one of 'X', '0' or '9'");
  return model;
}

bool NumberModel::TakeWord(std::string_view word, std::string_view* text) const {
  if (!absl::StartsWithIgnoreCase({text->data(), text->size()}, {word.data(), word.size()})) return false;
  text->remove_prefix(word.size());
  return true;
}

size_t NumberModel::WholeDigits() const {
  return whole_.size() - static_cast<size_t>(std::count(whole_.begin(), whole_.end(), ','));
}

absl::Status NumberModel::TakeSign(Sign sign, std::string_view name) {
  if (has_sign_) return ModelError("There can be at most one of 'S', 'MI', or 'PR'");
  if (sign != Sign::kPlusBefore && !HasDigits()) {
    return ModelError(fmt::format("'{}' can only appear after all digits and 'EEEE'", name));
  }
  has_sign_ = true;
  sign_ = sign;
  return absl::OkStatus();
}

absl::Status NumberModel::CheckBehindSign() const {
  if (!has_sign_ || sign_ == Sign::kPlusBefore) return absl::OkStatus();
  if (sign_ == Sign::kPlusBehind) {
    return ModelError("'S' can only appear before or after all digits and 'EEEE'");
  }
  return ModelError(fmt::format("'{}' can only appear after all digits and 'EEEE'",
                                sign_ == Sign::kMinusBehind ? "MI" : "PR"));
}

absl::Status NumberModel::TakeExponent(char first) {
  if (has_exponent()) return ModelError("'EEEE' cannot appear after 'EEEE'");
  if (is_hex_) return ModelError("'X' cannot appear together with 'EEEE'");
  if (whole_.find(',') != std::string::npos)
    return ModelError("',' or 'G' cannot appear together with 'EEEE'");
  if (!HasDigits()) return ModelError("'EEEE' cannot appear before digits");
  exponent_ = first;
  return CheckBehindSign();
}

absl::Status NumberModel::TakeDigit(char digit) {
  const bool is_hex = digit == 'X' || digit == 'x';
  if (has_exponent()) return ModelError(fmt::format("'{}' cannot appear after 'EEEE'", digit));
  if (absl::Status status = CheckBehindSign(); !status.ok()) return status;
  if (is_hex && blank_when_zero_) return ModelError("'X' cannot appear together with 'B'");
  if (is_hex && (has_point_ || is_scaled_))
    return ModelError(fmt::format("'X' cannot appear together with '.'"));
  const auto has = [this](char c) { return whole_.find(c) != std::string::npos; };
  if ((is_hex && has('9')) || (digit == '9' && is_hex_))
    return ModelError("'X' cannot appear together with '9'");
  if (is_hex && has(',')) return ModelError("'X' cannot appear together with ','");
  is_hex_ |= is_hex;
  if (is_hex_ && whole_.size() == kHexDigitsMax) return ModelError("Max number of 'X' is 16");
  (has_point_ || is_scaled_ ? fraction_ : whole_).push_back(digit);
  return absl::OkStatus();
}

absl::Status NumberModel::TakeElement(std::string_view* text) {
  if (const char first = text->front(); TakeWord("EEEE", text)) return TakeExponent(first);
  if (TakeWord("FM", text)) {
    if (is_tight_) return ModelError("'FM' cannot be repeated");
    is_tight_ = true;
    return absl::OkStatus();
  }
  if (TakeWord("MI", text)) return TakeSign(Sign::kMinusBehind, "MI");
  if (TakeWord("PR", text)) return TakeSign(Sign::kBrackets, "PR");
  if (TakeWord("RN", text)) return absl::InvalidArgumentError("Roman numeral is not supported yet");
  if (TakeWord("TM", text)) return absl::InvalidArgumentError("Text minimal output is not supported yet");
  const char element = text->front();
  text->remove_prefix(1);
  switch (element) {
    case '9':
    case '0':
    case 'X':
    case 'x':
      return TakeDigit(element);
    case '.':
    case 'D':
    case 'd':
    case 'V':
    case 'v':
      if (has_exponent()) return ModelError(fmt::format("'{}' cannot appear after 'EEEE'", element));
      if (has_point_ || is_scaled_) return ModelError("There can be at most one of '.', 'D', or 'V'");
      if (is_hex_) return ModelError(fmt::format("'X' cannot appear together with '{}'", element));
      (element == 'V' || element == 'v' ? is_scaled_ : has_point_) = true;
      return absl::OkStatus();
    case ',':
    case 'G':
    case 'g':
      if (has_point_ || is_scaled_) return ModelError("',' or 'G' cannot appear after '.', 'D' or 'V'");
      if (has_exponent()) return ModelError("',' or 'G' cannot appear together with 'EEEE'");
      if (whole_.empty()) return ModelError(fmt::format("Unexpected '{}'", element));
      if (is_hex_) return ModelError(fmt::format("'X' cannot appear together with '{}'", element));
      whole_.push_back(',');
      return absl::OkStatus();
    case 'S':
    case 's':
      return TakeSign(HasDigits() ? Sign::kPlusBehind : Sign::kPlusBefore, "S");
    case '$':
    case 'L':
    case 'l':
    case 'C':
    case 'c':
      if (!currency_.empty()) return ModelError("There can be at most one of '$', 'C' or 'L'");
      currency_ = element == 'C' ? "USD" : element == 'c' ? "usd" : "$";
      return absl::OkStatus();
    case 'B':
    case 'b':
      if (blank_when_zero_) return ModelError("There can be at most one 'B'");
      if (is_hex_) return ModelError("'X' cannot appear together with 'B'");
      blank_when_zero_ = true;
      return absl::OkStatus();
    default:
      return ModelError(fmt::format("Invalid format element '{}'", element));
  }
}

// --- Numbers.

std::string NumberModel::Format(int64_t number) const {
  const bool is_negative = number < 0;
  const uint64_t size = is_negative ? 0 - static_cast<uint64_t>(number) : static_cast<uint64_t>(number);
  if (is_hex_) return FormatHex(is_negative, fmt::format("{:x}", size));
  if (has_exponent()) return FormatScientific(static_cast<double>(number));
  return FormatDigits(DigitsOf(fmt::format("{}.{}", size, std::string(fraction_.size(), '0')), is_negative));
}

std::string NumberModel::Format(double number) const {
  const bool is_negative = number < 0;
  if (!std::isfinite(number)) {
    return FormatWord(std::isnan(number) ? "NAN" : "INF", is_negative, !std::isnan(number));
  }
  const double size = std::fabs(number);
  if (is_hex_) {
    constexpr double kHexEnd = 18446744073709551616.0;  // 2^64
    const double rounded = std::round(size);
    if (rounded >= kHexEnd) return FormatOverflow(is_negative);
    return FormatHex(is_negative, fmt::format("{:x}", static_cast<uint64_t>(rounded)));
  }
  if (has_exponent()) return FormatScientific(number);
  return FormatDigits(DigitsOf(fmt::format("{:.{}f}", size, fraction_.size()), is_negative));
}

NumberModel::Digits NumberModel::DigitsOf(std::string decimal, bool is_negative) const {
  const size_t point = std::min(decimal.find('.'), decimal.size());
  Digits digits{.is_negative = is_negative, .whole = decimal.substr(0, point), .fraction = {}};
  if (point < decimal.size()) digits.fraction = decimal.substr(point + 1);
  if (is_scaled_) digits.whole += std::exchange(digits.fraction, "");
  digits.whole = WithoutZeros(std::move(digits.whole));
  return digits;
}

std::string NumberModel::FillWhole(const std::string& digits) const {
  const std::string places = is_scaled_ ? whole_ + fraction_ : whole_;
  const size_t count = WholeDigits() + (is_scaled_ ? fraction_.size() : 0);
  size_t unfilled = count - digits.size();
  std::string body;
  size_t next = 0;
  bool has_zero = false;
  for (const char place : places) {
    if (place == ',') {
      if (!body.empty()) body.push_back(',');
      continue;
    }
    has_zero |= place == '0';
    if (unfilled == 0) {
      body.push_back(digits[next++]);
    } else {
      --unfilled;
      if (has_zero) body.push_back('0');
    }
  }
  return body;
}

std::string NumberModel::FormatDigits(const Digits& digits) const {
  const size_t places = WholeDigits() + (is_scaled_ ? fraction_.size() : 0);
  if (digits.whole.size() > places) return FormatOverflow(digits.is_negative);
  const size_t width = whole_.size() + fraction_.size() + (has_point_ ? 1 : 0);
  // B looks at what the number is before the point, whatever stands behind it.
  if (blank_when_zero_ && digits.whole.empty()) {
    const size_t around = Finish("", 0, false).size();
    return is_tight_ ? "" : std::string(width + around, ' ');
  }
  const bool has_fraction = has_point_ && !fraction_.empty();
  std::string body = FillWhole(digits.whole.empty() && !has_fraction && places > 0 ? "0" : digits.whole);
  if (has_point_) {
    std::string fraction = digits.fraction;
    if (is_tight_) fraction.erase(fraction.find_last_not_of('0') + 1);
    if (body.empty() && fraction.empty()) body = "0";
    body += "." + fraction;
  }
  return Finish(std::move(body), width, digits.is_negative);
}

std::string NumberModel::FormatHex(bool is_negative, const std::string& hex) const {
  if (hex.size() > whole_.size()) return FormatOverflow(is_negative);
  std::string body = FillWhole(hex == "0" ? "0" : hex);
  // A 0 has the case of the next X.
  bool is_upper = true;
  for (size_t i = 0; i < body.size(); ++i) {
    const char place = whole_[whole_.size() - 1 - i];
    if (place != '0') is_upper = place == 'X';
    char& digit = body[body.size() - 1 - i];
    if (is_upper && digit >= 'a' && digit <= 'f') digit = static_cast<char>(digit - 'a' + 'A');
  }
  return Finish(std::move(body), whole_.size(), is_negative);
}

std::string NumberModel::FormatScientific(double number) const {
  const std::string text = fmt::format("{:.{}E}", std::fabs(number), fraction_.size());
  const size_t end = text.find('E');
  std::string mantissa = text.substr(0, end);
  if (is_tight_ && has_point_) mantissa.erase(mantissa.find_last_not_of('0') + 1);
  if (has_point_ && fraction_.empty()) mantissa += ".";
  std::string body = mantissa + exponent_ + text.substr(end + 1);
  const size_t width = body.size();
  if (blank_when_zero_ && number == 0)
    return is_tight_ ? "" : std::string(width + Finish("", 0, false).size(), ' ');
  return Finish(std::move(body), width, number < 0);
}

std::string NumberModel::FormatWord(std::string_view word, bool is_negative, bool has_sign) const {
  const size_t behind = has_point_ && !has_exponent() ? fraction_.size() + 1 : 0;
  const size_t width =
      has_exponent() ? 1 + fraction_.size() + (has_point_ ? 1 : 0) + kExponentWidth : whole_.size();
  const bool fits = !is_hex_ && (has_exponent() ? width : WholeDigits()) >= word.size();
  if (!fits) return FormatOverflow(is_negative);
  std::string body(word);
  if (!is_tight_) body.append(behind, ' ');
  return Finish(std::move(body), width + behind, is_negative, has_sign);
}

std::string NumberModel::FormatOverflow(bool is_negative) const {
  std::string body = Hashes(is_scaled_ ? whole_ + fraction_ : whole_);
  if (has_point_) body += "." + Hashes(fraction_);
  const size_t width = body.size();
  return Finish(std::move(body), width, is_negative);
}

std::string NumberModel::Finish(std::string body, size_t body_width, bool is_negative, bool has_sign) const {
  std::string before;
  std::string behind;
  const std::string none = is_tight_ ? "" : " ";
  const std::string plus = has_sign ? "+" : none;
  switch (sign_) {
    case Sign::kBefore:
      before = is_negative ? "-" : none;
      break;
    case Sign::kPlusBefore:
      before = is_negative ? "-" : plus;
      break;
    case Sign::kPlusBehind:
      behind = is_negative ? "-" : plus;
      break;
    case Sign::kMinusBehind:
      behind = is_negative ? "-" : none;
      break;
    case Sign::kBrackets:
      before = is_negative ? "<" : none;
      behind = is_negative ? ">" : none;
      break;
  }
  const size_t pad = is_tight_ || body.size() >= body_width ? 0 : body_width - body.size();
  return std::string(pad, ' ') + before + currency_ + body + behind;
}

}  // namespace sonde::sql
