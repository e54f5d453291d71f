#include "work/schedule_times.h"

#include <fcntl.h>
#include <unistd.h>

#include <charconv>
#include <system_error>

namespace sonde {

int OpenScheduleTimes() { return open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC); }

// "ran waited turns"
ScheduleTimes ReadScheduleTimes(int file) {
  char text[64];
  const ssize_t size = file < 0 ? 0 : pread(file, text, sizeof text, 0);
  if (size <= 0) return {};
  ScheduleTimes times;
  const auto [end, error] = std::from_chars(text, text + size, times.ran_nanos);
  if (error != std::errc() || end == text + size) return {};
  std::from_chars(end + 1, text + size, times.waited_nanos);
  return times;
}

}  // namespace sonde
