// TarWriter writes a tar archive (POSIX ustar: pax(1), "ustar Interchange Format") of files that are in memory.
//
// Threads: not for several threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "absl/status/status.h"

namespace sonde {

class TarWriter {
 public:
  static constexpr size_t kNameBytesMax = 100;

  // Adds a file of mode 0600.  INVALID_ARGUMENT: the name is empty or longer than kNameBytesMax.
  absl::Status Add(std::string_view name, std::string_view content, int64_t modified_seconds);
  // The archive; nothing may be added after.
  std::string Finish();

 private:
  std::string archive_;
};

}  // namespace sonde
