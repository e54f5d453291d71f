// Values of a metric that no field of numbers holds, as points of the field kStaleField beside it: whole numbers, which every reader
// of a series understands as such.
//
// Threads: the functions are pure.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>

#include "promql/samples/samples.h"

namespace sonde::series {

enum class MetricMark : uint8_t { kEnded = 1, kNaN = 2, kInfinity = 3, kMinusInfinity = 4 };

// Nothing: a field holds the number.
inline std::optional<MetricMark> MarkOf(double value) {
  if (std::isfinite(value)) return std::nullopt;
  if (promql::IsStale(value)) return MetricMark::kEnded;
  if (std::isnan(value)) return MetricMark::kNaN;
  return value > 0 ? MetricMark::kInfinity : MetricMark::kMinusInfinity;
}

// What is no mark says that the metric has ended: that was the only one once.
inline double ValueOfMark(double mark) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  if (mark == static_cast<double>(MetricMark::kNaN)) return std::numeric_limits<double>::quiet_NaN();
  if (mark == static_cast<double>(MetricMark::kInfinity)) return kInfinite;
  if (mark == static_cast<double>(MetricMark::kMinusInfinity)) return -kInfinite;
  return std::bit_cast<double>(promql::kStaleBits);
}

}  // namespace sonde::series
