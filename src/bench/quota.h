// How many requests a client still has to make, and which: for workloads that ask at random.
#pragma once

#include <cstdint>
#include <optional>
#include <utility>

#include "base/random.h"
#include "bench/workload.h"

namespace sonde::bench {

// The requests that a client still has to make.  Not for several threads: its calls share one.
class Quota {
 public:
  // An even share of options.requests; at least one, and until the deadline, when options.seconds is given.
  Quota(const Options& options, int client, Deadline deadline) : deadline_(deadline) {
    if (options.seconds.has_value()) return;
    left_ = options.requests * (client + 1) / options.clients - options.requests * client / options.clients;
  }
  bool Take() {
    if (left_.has_value()) return (*left_)-- > 0;
    return !std::exchange(started_, true) || !IsPast(deadline_);
  }

 private:
  std::optional<int64_t> left_;
  bool started_ = false;
  Deadline deadline_;
};

inline SeededRandom ClientRandom(const Options& options, int client) {
  return SeededRandom(SeededRandom(options.shape.seed * 7919 + static_cast<uint64_t>(client)).Next());
}

}  // namespace sonde::bench
