// Random tables and requests, mostly well-formed.
#pragma once

#include <cstdint>

#include "request.h"

namespace sonde {

// The same seed gives the same history.
History MakeHistory(uint64_t seed, int steps_count);

}  // namespace sonde
