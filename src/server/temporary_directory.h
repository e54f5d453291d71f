// A directory for a server whose data nobody wants to keep: fresh, and gone at the end.
//
// It is `sonde-temporary-XXXXXX` in the directory for temporary files, locked (flock) as long as its process
// lives.  The directory of a process that was killed is not locked any more; the next process that makes one
// removes it.
//
// Threads: not for several threads.
#pragma once

#include <filesystem>
#include <memory>
#include <utility>

#include "absl/status/statusor.h"

namespace sonde {

class TemporaryDirectory {
 public:
  // In `parent`.  Removes what processes of the same user that are no more have left there.
  // FAILED_PRECONDITION: nothing can be made there.
  static absl::StatusOr<std::unique_ptr<TemporaryDirectory>> Create(const std::filesystem::path& parent);
  // Removes it with all that is in it.
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  TemporaryDirectory(std::filesystem::path path, int lock) : path_(std::move(path)), lock_(lock) {}

  const std::filesystem::path path_;
  const int lock_;  // a file descriptor of the directory, which holds the lock
};

}  // namespace sonde
