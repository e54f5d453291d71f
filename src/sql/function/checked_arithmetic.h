// Arithmetic that fails where GoogleSQL's does, as operations of BinaryKernel (binary_kernel.h).
#pragma once

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstdint>

#include "absl/status/status.h"

namespace sonde::sql {

struct CheckedIntOp {
  using In = int64_t;
  using Out = int64_t;
  static constexpr bool kMayFail = true;

  static absl::Status Overflow(int64_t a, char sign, int64_t b) {
    return absl::OutOfRangeError(fmt::format("int64 overflow: {} {} {}", a, sign, b));
  }
  static int64_t Wrapped(uint64_t value) { return static_cast<int64_t>(value); }
  // The sign bit.
  static uint64_t Sign(int64_t value) { return static_cast<uint64_t>(value) >> 63; }
};

struct AddInts : CheckedIntOp {
  static int64_t Value(int64_t a, int64_t b) {
    return Wrapped(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
  }
  static uint64_t Suspect(int64_t a, int64_t b, int64_t result) { return Sign((a ^ result) & (b ^ result)); }
  static absl::Status Check(int64_t a, int64_t b) {
    int64_t result = 0;
    return __builtin_add_overflow(a, b, &result) ? Overflow(a, '+', b) : absl::OkStatus();
  }
};

struct SubtractInts : CheckedIntOp {
  static int64_t Value(int64_t a, int64_t b) {
    return Wrapped(static_cast<uint64_t>(a) - static_cast<uint64_t>(b));
  }
  static uint64_t Suspect(int64_t a, int64_t b, int64_t result) { return Sign((a ^ b) & (a ^ result)); }
  static absl::Status Check(int64_t a, int64_t b) {
    int64_t result = 0;
    return __builtin_sub_overflow(a, b, &result) ? Overflow(a, '-', b) : absl::OkStatus();
  }
};

struct MultiplyInts : CheckedIntOp {
  static int64_t Value(int64_t a, int64_t b) {
    return Wrapped(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
  }
  static uint64_t Suspect(int64_t a, int64_t b, int64_t) {
    int64_t result = 0;
    return __builtin_mul_overflow(a, b, &result) ? 1 : 0;
  }
  static absl::Status Check(int64_t a, int64_t b) {
    return Suspect(a, b, 0) != 0 ? Overflow(a, '*', b) : absl::OkStatus();
  }
};

struct CheckedDoubleOp {
  using In = double;
  using Out = double;
  static constexpr bool kMayFail = true;

  // Infinite and NaN are, which finite operands do not give.  Their exponents are all ones, and overflow.
  static uint64_t Suspect(double, double, double result) {
    constexpr uint64_t kExponent = 0x7ff0000000000000;
    return ((std::bit_cast<uint64_t>(result) & kExponent) + (uint64_t{1} << 52)) >> 63;
  }
  static absl::Status CheckFinite(double a, char sign, double b, double result) {
    if (std::isfinite(result) || !std::isfinite(a) || !std::isfinite(b)) return absl::OkStatus();
    return absl::OutOfRangeError(fmt::format("double overflow: {:g} {} {:g}", a, sign, b));
  }
};

struct AddDoubles : CheckedDoubleOp {
  static double Value(double a, double b) { return a + b; }
  static absl::Status Check(double a, double b) { return CheckFinite(a, '+', b, a + b); }
};

struct SubtractDoubles : CheckedDoubleOp {
  static double Value(double a, double b) { return a - b; }
  static absl::Status Check(double a, double b) { return CheckFinite(a, '-', b, a - b); }
};

struct MultiplyDoubles : CheckedDoubleOp {
  static double Value(double a, double b) { return a * b; }
  static absl::Status Check(double a, double b) { return CheckFinite(a, '*', b, a * b); }
};

struct DivideDoubles : CheckedDoubleOp {
  static double Value(double a, double b) { return a / b; }
  // Anything divided by zero is infinite or NaN.
  static absl::Status Check(double a, double b) {
    if (b == 0) return absl::OutOfRangeError(fmt::format("division by zero: {:g} / {:g}", a, b));
    return CheckFinite(a, '/', b, a / b);
  }
};

}  // namespace sonde::sql
