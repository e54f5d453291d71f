// The process that writes until it is killed (crash_writer.cc), and what it said.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/status/statusor.h"

namespace sonde {

class WriterProcess {
 public:
  // Starts `program` with `arguments`.
  static absl::StatusOr<std::unique_ptr<WriterProcess>> Start(const std::string& program,
                                                              std::vector<std::string> arguments);
  ~WriterProcess();  // kills it

  // Kills it with SIGKILL.  What it acknowledged; INTERNAL if it had ended by itself, unless it may.
  absl::StatusOr<std::vector<uint64_t>> Kill(bool may_have_ended = false);

 private:
  WriterProcess(pid_t pid, int said_by);

  pid_t pid_;
  int said_by_;  // the end of a pipe that is read from
  std::vector<uint64_t> said_;
  std::thread listener_;
};

}  // namespace sonde
