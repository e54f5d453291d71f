#include "codec/decimal.h"

#include <algorithm>
#include <cstring>

namespace sonde::codec {
namespace {

// "00", "01", ... "99".
constexpr std::array<char, 200> kPairs = [] {
  std::array<char, 200> pairs{};
  for (int i = 0; i < 100; ++i) {
    pairs[2 * i] = static_cast<char>('0' + i / 10);
    pairs[2 * i + 1] = static_cast<char>('0' + i % 10);
  }
  return pairs;
}();

// Writes the digits of `value` before `end`, at least `digits_min` (>= 1) of them; returns the first.
char* WriteDigitsBefore(uint64_t value, int digits_min, char* end) {
  char* at = end;
  while (value >= 100) {
    at -= 2;
    std::memcpy(at, &kPairs[2 * (value % 100)], 2);
    value /= 100;
  }
  if (value >= 10) {
    at -= 2;
    std::memcpy(at, &kPairs[2 * value], 2);
  } else {
    *--at = static_cast<char>('0' + value);
  }
  while (end - at < digits_min) *--at = '0';
  return at;
}

}  // namespace

bool ReadDecimal(std::string_view text, WrittenDecimal* decimal) {
  const char* at = text.data();
  const char* const end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  if (end - at < 1 || end - at > kDecimalDigitsMax + 1) return false;
  const char* const first = at;
  uint64_t digits = 0;
  while (at != end) {
    const unsigned digit = static_cast<unsigned char>(*at) - unsigned{'0'};
    if (digit > 9) break;
    digits = digits * 10 + digit;
    ++at;
  }
  const auto before = at - first;
  if (before == 0) return false;
  std::ptrdiff_t after = 0;
  if (at != end) {
    if (*at != '.') return false;
    const char* const point = at++;
    while (at != end) {
      const unsigned digit = static_cast<unsigned char>(*at) - unsigned{'0'};
      if (digit > 9) return false;
      digits = digits * 10 + digit;
      ++at;
    }
    after = end - point - 1;
    if (after == 0) return false;
  }
  if (before + after > kDecimalDigitsMax || (negative && digits == 0)) return false;
  decimal->digits = negative ? -static_cast<int64_t>(digits) : static_cast<int64_t>(digits);
  decimal->decimals = static_cast<uint8_t>(after);
  decimal->digits_before_point = static_cast<uint8_t>(before);
  decimal->leading_zero = before > 1 && *first == '0';
  decimal->trailing_zero = after > 0 && end[-1] == '0';
  return true;
}

void DecimalSurvey::Add(const WrittenDecimal& decimal) {
  ++decimals_[decimal.decimals][decimal.trailing_zero ? 1 : 0];
  if (decimal.leading_zero) ++padded_[decimal.digits_before_point];
  ++total_;
}

DecimalStyle DecimalSurvey::Style() const {
  // One decimal more makes every number longer: a few numbers that need it are better left out.
  constexpr uint32_t kLeftOutShare = 64;
  DecimalStyle style;
  int decimals = kDecimalDigitsMax;
  for (uint32_t left_out = 0; decimals > 0; --decimals) {
    left_out += decimals_[decimals][0] + decimals_[decimals][1];
    if (left_out > total_ / kLeftOutShare) break;
  }
  uint32_t best = 0;
  for (int decimals_min = 0; decimals_min <= decimals; ++decimals_min) {
    uint32_t fit = decimals_[decimals_min][1];
    for (int i = decimals_min; i <= decimals; ++i) fit += decimals_[i][0];
    if (fit < best) continue;
    best = fit;
    style.decimals_min = static_cast<uint8_t>(decimals_min);
  }
  style.decimals = static_cast<uint8_t>(decimals);
  const auto most_padded = std::max_element(padded_.begin(), padded_.end());
  if (*most_padded > 0) style.digits_min = static_cast<uint8_t>(most_padded - padded_.begin());
  return style;
}

bool ToInteger(const WrittenDecimal& decimal, DecimalStyle style, int64_t* integer) {
  if (decimal.decimals > style.decimals || decimal.decimals < style.decimals_min) return false;
  if (decimal.trailing_zero && decimal.decimals > style.decimals_min) return false;
  if (decimal.leading_zero ? decimal.digits_before_point != style.digits_min
                           : decimal.digits_before_point < style.digits_min) {
    return false;
  }
  const int more = style.decimals - decimal.decimals;
  if (decimal.digits_before_point + style.decimals > kDecimalDigitsMax) return false;
  *integer = decimal.digits * static_cast<int64_t>(kPowersOfTen[more]);
  return true;
}

char* WriteDecimal(int64_t integer, DecimalStyle style, char* to) {
  uint64_t value = static_cast<uint64_t>(integer);
  if (integer < 0) {
    *to++ = '-';
    value = -value;
  }
  int decimals = style.decimals;
  while (decimals > style.decimals_min && value % 10 == 0) {
    value /= 10;
    --decimals;
  }
  char buffer[kDecimalTextBytesMax];
  char* const end = buffer + sizeof(buffer);
  const char* const first = WriteDigitsBefore(value, style.digits_min + decimals, end);
  const auto before = static_cast<size_t>(end - decimals - first);
  std::memcpy(to, first, before);
  to += before;
  if (decimals == 0) return to;
  *to++ = '.';
  std::memcpy(to, end - decimals, decimals);
  return to + decimals;
}

}  // namespace sonde::codec
