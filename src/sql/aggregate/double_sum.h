// Sums of doubles without any rounding on the way: SUM(1e100, 1, -1e100) is 1, in whatever order and parts.
//
//   DoubleSum sum;
//   sum.AddAll(values, count);
//   absl::StatusOr<double> total = sum.Total();
//
// Shape: two doubles whose sum is the sum so far, as long as that can be said with two (of numbers of like size it can).
//   What they cannot say goes to a number with a bit for each power of two that a double has.
// Threads: not for several threads.
// Cost: about 1 ns a value in AddAll; 16 bytes a sum, and 0.3 KiB for one that two doubles do not hold.
// Source: Knuth's exact difference of two floating-point numbers (TAOCP 2, 4.2.2); GoogleSQL sums FLOAT64 exactly, too.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace sonde::sql {

// A whole multiple of the least double, of any size that sums of doubles have.
class WideSum {
 public:
  // `value` may be infinite or NaN.
  void Add(double value);
  void Add(const WideSum& other);
  // OUT_OF_RANGE: "double overflow": it is beyond the greatest double.
  absl::StatusOr<double> Total() const;
  // The sum to as many bits as a long double has, in whose range all sums are.
  long double LongTotal() const;
  // Appends doubles whose sum is the sum, exactly; of what is infinite or NaN nothing.
  void AppendParts(std::vector<double>* parts) const;

  void Save(std::string* bytes) const;
  bool Load(std::string_view* bytes);

 private:
  // Bits from 2^-1074 to 2^1023, 64 for sums of many, and a sign: two's complement, the least word first.
  static constexpr size_t kWords = 34;
  static constexpr int kLeastExponent = -1074;

  struct Magnitude;

  void AddMantissa(uint64_t mantissa, int shift, bool negative);
  Magnitude MagnitudeOf() const;

  std::array<uint64_t, kWords> words_ = {};
  bool has_nan_ = false;
  bool has_infinity_ = false;
  bool has_minus_infinity_ = false;
};

class DoubleSum {
 public:
  DoubleSum() = default;
  DoubleSum(const DoubleSum& other);
  DoubleSum& operator=(const DoubleSum& other);
  DoubleSum(DoubleSum&&) noexcept = default;
  DoubleSum& operator=(DoubleSum&&) noexcept = default;
  ~DoubleSum() = default;

  void Add(double value) {
    // high + value = sum + lost, low + lost = rest + lost_too, exactly.  Not so for infinity and NaN: lost_too is NaN.
    const double sum = high_ + value;
    const double part = sum - high_;
    const double lost = (high_ - (sum - part)) + (value - part);
    const double rest = low_ + lost;
    const double low_part = rest - low_;
    const double lost_too = (low_ - (rest - low_part)) + (lost - low_part);
    if (__builtin_expect(lost_too != 0, 0)) return AddToWide(value);
    high_ = sum;
    low_ = rest;
  }
  void AddAll(const double* values, size_t count);
  void Add(const DoubleSum& other);

  absl::StatusOr<double> Total() const;
  // The sum divided by `count`, which is more than 0: that is a double always.
  double Mean(uint64_t count) const;
  // The sum to as many bits as a long double has, in whose range all sums are.
  long double LongTotal() const;
  // Appends doubles whose sum is the sum, exactly; of what is infinite or NaN nothing.
  void AppendParts(std::vector<double>* parts) const {
    parts->push_back(high_);
    parts->push_back(low_);
    if (wide_ != nullptr) wide_->AppendParts(parts);
  }

  size_t HeldBytes() const { return wide_ == nullptr ? 0 : sizeof(WideSum); }
  void Save(std::string* bytes) const;
  bool Load(std::string_view* bytes);

 private:
  void AddToWide(double value);
  // False: two doubles a lane do not hold these values; nothing was added.
  bool AddBlock(const double* values, size_t count);

  double high_ = 0;
  double low_ = 0;
  std::unique_ptr<WideSum> wide_;
};

}  // namespace sonde::sql
