// Counts what a program takes by operator new, libraries included, if it links counted_memory.cc
// (and no sanitizer: then it counts nothing).
#pragma once

#include <cstdint>

namespace sonde {

int64_t HeldBytes();
// The most that was held since the last call of ForgetPeak.
int64_t PeakBytes();
void ForgetPeak();

}  // namespace sonde
