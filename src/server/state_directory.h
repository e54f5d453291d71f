// The directory of a server whose rows and records are elsewhere: what it saw of keys, its latencies, files of queries, its log.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"

namespace sonde {

// Given back at its end.
class StateDirectory {
 public:
  // Makes the directory if it does not exist, and takes its lock: one process at a time.
  // FAILED_PRECONDITION: it has a store of its own, is in use, or cannot be made.
  static absl::StatusOr<std::unique_ptr<StateDirectory>> Take(const std::string& path);
  ~StateDirectory();
  StateDirectory(const StateDirectory&) = delete;
  StateDirectory& operator=(const StateDirectory&) = delete;

 private:
  explicit StateDirectory(int lock) : lock_(lock) {}

  const int lock_;
};

}  // namespace sonde
