// CAST(number AS STRING FORMAT model): 999.99, FM9,990.0, S99MI, $0,000PR, XXXX, 9.9EEEE.
//
// Errors: OUT_OF_RANGE, in GoogleSQL's words: the model is none.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sonde::sql {

class NumberModel {
 public:
  static absl::StatusOr<NumberModel> Parse(std::string_view text);

  // A number with more digits before the point than the model becomes signs #.
  std::string Format(int64_t number) const;
  std::string Format(double number) const;

 private:
  enum class Sign : uint8_t { kBefore, kPlusBefore, kPlusBehind, kMinusBehind, kBrackets };

  // What is written of a number: its digits, without the sign.
  struct Digits {
    bool is_negative = false;
    std::string whole;     // empty: 0
    std::string fraction;  // as many as the model has
  };

  absl::Status TakeElement(std::string_view* text);
  absl::Status TakeDigit(char digit);
  absl::Status TakeSign(Sign sign, std::string_view name);
  bool TakeWord(std::string_view word, std::string_view* text) const;
  absl::Status TakeExponent(char first);
  // A digit may not stand behind MI, PR or an S behind digits.
  absl::Status CheckBehindSign() const;
  bool has_exponent() const { return exponent_ != 0; }
  bool HasDigits() const { return !whole_.empty() || !fraction_.empty(); }
  size_t WholeDigits() const;

  Digits DigitsOf(std::string decimal, bool is_negative) const;
  std::string FormatDigits(const Digits& digits) const;
  std::string FormatHex(bool is_negative, const std::string& hex) const;
  std::string FormatScientific(double number) const;
  std::string FormatWord(std::string_view word, bool is_negative, bool has_sign) const;
  std::string FormatOverflow(bool is_negative) const;
  // The places before the point, filled from the right; leading ones that are not filled are left out.
  std::string FillWhole(const std::string& digits) const;
  // With sign and currency, at the right end of the model's width.
  std::string Finish(std::string body, size_t body_width, bool is_negative, bool has_sign = true) const;

  std::string whole_;     // of 9 0 , X x
  std::string fraction_;  // of 9 0
  bool has_point_ = false;
  bool is_scaled_ = false;  // V: the fraction is written behind the whole
  bool is_hex_ = false;
  char exponent_ = 0;             // E or e; 0: none
  bool is_tight_ = false;         // FM
  bool blank_when_zero_ = false;  // B
  bool has_sign_ = false;
  Sign sign_ = Sign::kBefore;
  std::string currency_;
};

}  // namespace sonde::sql
