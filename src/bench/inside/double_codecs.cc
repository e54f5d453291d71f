#include "bench/inside/double_codecs.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>

namespace sonde::bench {
namespace {

constexpr int kExponentMax = 18;
constexpr size_t kVectorValues = 1024;
constexpr uint64_t kExceptionBits = 64 + 16;
// Exponent, factor, width, least value, number of exceptions.
constexpr uint64_t kVectorHeaderBits = 8 + 8 + 8 + 64 + 16;
constexpr double kIntegerMax = 0x1p51;

double PowerOfTen(int exponent) {
  static const auto kPowers = [] {
    std::array<double, 2 * kExponentMax + 1> powers{};
    for (int i = -kExponentMax; i <= kExponentMax; ++i)
      powers[i + kExponentMax] = i < 0 ? 1 / std::pow(10.0, -i) : std::pow(10.0, i);
    return powers;
  }();
  return kPowers[exponent + kExponentMax];
}

uint64_t AlpVectorBits(absl::Span<const double> values, int exponent, int factor) {
  int64_t least = std::numeric_limits<int64_t>::max(), most = std::numeric_limits<int64_t>::min();
  uint64_t exceptions = 0;
  for (const double value : values) {
    const double scaled = value * PowerOfTen(exponent) * PowerOfTen(-factor);
    const double whole = std::abs(scaled) < kIntegerMax ? std::nearbyint(scaled) : 0;
    if (std::bit_cast<uint64_t>(whole * PowerOfTen(factor) * PowerOfTen(-exponent)) !=
        std::bit_cast<uint64_t>(value)) {
      ++exceptions;
      continue;
    }
    least = std::min(least, static_cast<int64_t>(whole));
    most = std::max(most, static_cast<int64_t>(whole));
  }
  const uint64_t width = most <= least ? 0 : std::bit_width(static_cast<uint64_t>(most - least));
  return kVectorHeaderBits + values.size() * width + exceptions * kExceptionBits;
}

}  // namespace

uint64_t GorillaBits(absl::Span<const double> values) {
  uint64_t bits = 0, before = 0;
  int leading_before = 65, trailing_before = 0;  // no window yet
  for (size_t i = 0; i < values.size(); ++i) {
    const auto now = std::bit_cast<uint64_t>(values[i]);
    const uint64_t difference = now ^ before;
    before = now;
    if (i == 0) {
      bits += 64;
    } else if (difference == 0) {
      bits += 1;
    } else {
      const int leading = std::min(std::countl_zero(difference), 31);
      const int trailing = std::countr_zero(difference);
      if (leading_before <= 64 && leading >= leading_before && trailing >= trailing_before) {
        bits += 2 + 64 - leading_before - trailing_before;
      } else {
        bits += 2 + 5 + 6 + 64 - leading - trailing;
        leading_before = leading;
        trailing_before = trailing;
      }
    }
  }
  return bits;
}

uint64_t AlpBits(absl::Span<const double> values) {
  uint64_t bits = 0;
  for (; !values.empty(); values.remove_prefix(std::min(values.size(), kVectorValues))) {
    const absl::Span<const double> vector = values.first(std::min(values.size(), kVectorValues));
    uint64_t least = kVectorHeaderBits + vector.size() * 64;
    for (int exponent = 0; exponent <= kExponentMax; ++exponent) {
      for (int factor = 0; factor <= exponent; ++factor)
        least = std::min(least, AlpVectorBits(vector, exponent, factor));
    }
    bits += least;
  }
  return bits;
}

}  // namespace sonde::bench
