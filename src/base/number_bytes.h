// How a number is written as the bytes of a value.
#pragma once

#include <cstdint>

namespace sonde {

// Integers: 8 bytes, signed, or fewer where the writer chose so.  Doubles: IEEE 754.  Text: "94558", "-9.5".
// kTimesOnly: whichever, as only the times of cells matter.
enum class NumberBytes : uint8_t { kBigEndianInteger, kBigEndianDouble, kDecimalText, kTimesOnly };

}  // namespace sonde
