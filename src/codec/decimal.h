// Decimal numbers as text: converts them to an integer and a style, and back to the same text.
//
// A column is written in one style if all its numbers have that style.  A style allows at most `decimals`
// digits after the point.  Zeros at the end are taken off down to `decimals_min` digits.  There are at least
// `digits_min` digits before the point, filled up with zeros.  So {2, 2, 1} writes 3.20 and 0.07, {5, 0, 1}
// writes 9.5 and 94558, {1, 1, 1} Python's 9.0, {0, 0, 4} 0007.  A text that a style would not write again
// byte by byte is not of that style: 1e3, +1, -0, .5, 1. and blanks are of no style.
//
// Threads: the functions are pure; a DecimalSurvey is not for several threads.
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

// Room for a sign, a point, the digits of a number, and the zeros that fill it up.
constexpr size_t kDecimalTextBytesMax = 2 + 2 * kDecimalDigitsMax + 1;

// A number as it is written: -?digits(.digits)?, at most kDecimalDigitsMax digits, and not only zeros after a
// '-'.
struct WrittenDecimal {
  int64_t digits = 0;  // all of them, as one number
  uint8_t decimals = 0;
  uint8_t digits_before_point = 0;
  bool leading_zero = false;   // more than one digit before the point, and the first is 0
  bool trailing_zero = false;  // the last digit after the point is 0
};
[[nodiscard]] bool ReadDecimal(std::string_view text, WrittenDecimal* decimal);

// Finds the style that suits the numbers of a column.  Add each number, then ask for the style.
class DecimalSurvey {
 public:
  void Add(const WrittenDecimal& decimal);
  // Returns the style that most of the numbers have.  A style that fewer have may win if each number takes
  // less in it.
  DecimalStyle Style() const;

 private:
  // Counts of numbers, by decimals, and by whether the last decimal is 0.
  std::array<std::array<uint32_t, 2>, kDecimalDigitsMax + 1> decimals_{};
  // Counts of numbers that begin with a needless zero, by digits before the point.
  std::array<uint32_t, kDecimalDigitsMax + 1> padded_{};
  uint32_t total_ = 0;
};

// Sets *integer to the number times 10^style.decimals.  Returns false if the number is not of this style, or
// has more than kDecimalDigitsMax digits.
[[nodiscard]] bool ToInteger(const WrittenDecimal& decimal, DecimalStyle style, int64_t* integer);

// Writes at most kDecimalTextBytesMax bytes and returns their end.  It writes any integer, also one that
// ToInteger never gives.
char* WriteDecimal(int64_t integer, DecimalStyle style, char* to);

}  // namespace sonde::codec
