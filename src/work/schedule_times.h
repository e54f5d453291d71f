// How long a thread has run, and how long it was ready to run while others did, as the kernel counts.
#pragma once

#include <cstdint>

namespace sonde {

struct ScheduleTimes {
  int64_t ran_nanos = 0;
  int64_t waited_nanos = 0;
};

// Opens the file in which the kernel counts for the calling thread, to be closed by the caller; -1 if this
// kernel does not count.
int OpenScheduleTimes();

// May be called by any thread.  Zeros where the file cannot be read.
ScheduleTimes ReadScheduleTimes(int file);

}  // namespace sonde
