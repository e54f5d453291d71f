// Functions of numbers where Go's and C's differ.
#pragma once

#include <cmath>
#include <limits>

namespace sonde::promql {

// An infinity of the wanted sign wins over NaN, which wins over numbers; 0 is more than -0.
inline double GoMax(double a, double b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a == kInfinity || b == kInfinity) return kInfinity;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == 0 && a == b) return std::signbit(a) ? b : a;
  return a > b ? a : b;
}

inline double GoMin(double a, double b) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  if (a == -kInfinity || b == -kInfinity) return -kInfinity;
  if (std::isnan(a) || std::isnan(b)) return std::nan("");
  if (a == 0 && a == b) return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

}  // namespace sonde::promql
