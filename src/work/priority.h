// The order in which requests that wait are served.
#pragma once

#include <cstddef>
#include <cstdint>

namespace sonde {

enum class Priority : uint8_t { kHigh, kMedium, kLow };

inline constexpr size_t kPriorities = 3;

// While requests of a lower priority wait, at least one of so many that are served is of theirs.
inline constexpr int kLowerTurn = 20;

}  // namespace sonde
