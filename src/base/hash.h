// A hash of bytes for tables and comparisons in memory: XXH3, inlined.  Another build may have another one,
// so that it is nothing to keep in a file.
#pragma once

#define XXH_INLINE_ALL
#include <xxhash.h>

#include <cstdint>
#include <string_view>

namespace sonde {

inline uint64_t HashBytes(std::string_view bytes, uint64_t seed = 0) {
  return XXH3_64bits_withSeed(bytes.data(), bytes.size(), seed);
}

}  // namespace sonde
