// One random history: everything that an engine can be asked, in random order, compared with NaiveTable.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "engine_under_test.h"

namespace sonde {

// INTERNAL tells what differed and the last steps before it.  The same seed gives the same history.
absl::Status RunHistory(const EngineUnderTest& under_test, uint64_t seed, int steps_count);

}  // namespace sonde
