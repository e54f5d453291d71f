// Work on several things at once, by threads that last no longer than it: for work that waits for the network most of the time.
#pragma once

#include <cstddef>
#include <functional>

namespace sonde {

// Calls `work` once for each number below `count`, of at most `at_once_max` threads at once, one of which is the caller's.  Returns when
// all calls have.
void ForEachAtOnce(size_t count, size_t at_once_max, const std::function<void(size_t)>& work);

}  // namespace sonde
