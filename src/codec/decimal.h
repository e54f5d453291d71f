// Decimal numbers as text: to an integer and a style, and back to the same text.
//
// A column is written in one style when all its numbers are: at most `decimals` digits after the point, zeros
// at the end taken off down to `decimals_min` digits, and at least `digits_min` digits before the point,
// filled up with zeros.  So {2, 2, 1} writes 3.20 and 0.07, {5, 0, 1} writes 9.5 and 94558, {1, 1, 1}
// Python's 9.0, {0, 0, 4} 0007.  Whatever text a style would not write again byte by byte is not of that
// style: 1e3, +1, -0, .5, 1. and blanks are of none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "absl/types/span.h"

namespace sonde::codec {

constexpr int kDecimalDigitsMax = 18;
constexpr std::array<uint64_t, 20> kPowersOfTen = [] {
  std::array<uint64_t, 20> powers{1};
  for (size_t i = 1; i < powers.size(); ++i) powers[i] = powers[i - 1] * 10;
  return powers;
}();

struct DecimalStyle {
  uint8_t decimals = 0;      // <= kDecimalDigitsMax
  uint8_t decimals_min = 0;  // <= decimals
  uint8_t digits_min = 1;    // 1 to kDecimalDigitsMax
};

// A sign, a point and the digits of a number and of what fills it up.
constexpr size_t kDecimalTextBytesMax = 2 + 2 * kDecimalDigitsMax + 1;

// A number as it is written: -?digits(.digits)?, not all zeros after a '-', kDecimalDigitsMax digits at most.
struct WrittenDecimal {
  int64_t digits = 0;  // all of them, as one number
  uint8_t decimals = 0;
  uint8_t digits_before_point = 0;
  bool leading_zero = false;   // more than one digit before the point, and the first is 0
  bool trailing_zero = false;  // the last digit after the point is 0
};
[[nodiscard]] bool ReadDecimal(std::string_view text, WrittenDecimal* decimal);

// What the numbers of a column have in common: found by adding each, then asking for the style of most.
class DecimalSurvey {
 public:
  void Add(const WrittenDecimal& decimal);
  // The style that the most of them are of, or nearly so when it says less with each.
  DecimalStyle Style() const;

 private:
  // By decimals, and whether the last is 0.
  std::array<std::array<uint32_t, 2>, kDecimalDigitsMax + 1> decimals_{};
  // Of those that begin with a zero that could be left out, by digits before the point.
  std::array<uint32_t, kDecimalDigitsMax + 1> padded_{};
  uint32_t total_ = 0;
};

// The number times 10^style.decimals; false: not of this style, or more than kDecimalDigitsMax digits.
[[nodiscard]] bool ToInteger(const WrittenDecimal& decimal, DecimalStyle style, int64_t* integer);

// Writes at most kDecimalTextBytesMax bytes; returns the end.  Any integer is written, also one that
// ToInteger never gives.
char* WriteDecimal(int64_t integer, DecimalStyle style, char* to);

}  // namespace sonde::codec
