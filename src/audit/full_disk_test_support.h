// Makes writes to files fail, as a full disk does, while it lives.
#pragma once

#include <sys/resource.h>

#include <csignal>

namespace sonde {

// The whole process: no file grows beyond a byte.  For tests that write no other file meanwhile.
class FullDisk {
 public:
  FullDisk() {
    handler_ = std::signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &before_);
    const rlimit least{.rlim_cur = 1, .rlim_max = before_.rlim_max};
    setrlimit(RLIMIT_FSIZE, &least);
  }
  ~FullDisk() {
    setrlimit(RLIMIT_FSIZE, &before_);
    std::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  void (*handler_)(int) = nullptr;
  rlimit before_{};
};

}  // namespace sonde
