// Fingerprint2011, the 64-bit hash that ZetaSketch counts distinct values by.  Part of what is stored and of
// what other programs store: it never changes.
#pragma once

#include <cstdint>
#include <string_view>

namespace sonde {

uint64_t Fingerprint2011(std::string_view bytes);

// The fingerprint of an integer's 8 bytes, little-endian.
uint64_t Fingerprint2011(int64_t value);

}  // namespace sonde
