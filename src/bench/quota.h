// How many requests a client still has to make, and which: for workloads that ask at random.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <thread>
#include <utility>

#include "base/random.h"
#include "bench/workload.h"

namespace sonde::bench {

// The requests that a client still has to make.  Not for several threads: its calls share one.
class Quota {
 public:
  // An even share of options.requests; at least one, and until the deadline, when options.seconds is given.
  // With options.rate Take waits until the next one is due, which what is under way may wait for.
  Quota(const Options& options, int client, Deadline deadline) : deadline_(deadline) {
    if (options.rate.has_value()) {
      interval_ = std::chrono::duration_cast<Clock::duration>(
          std::chrono::duration<double>(options.clients / *options.rate));
    }
    if (options.seconds.has_value()) return;
    left_ = options.requests * (client + 1) / options.clients - options.requests * client / options.clients;
  }
  bool Take() {
    if (interval_ > Clock::duration::zero()) std::this_thread::sleep_until(next_ += interval_);
    if (left_.has_value()) return (*left_)-- > 0;
    return !std::exchange(started_, true) || !IsPast(deadline_);
  }

 private:
  std::optional<int64_t> left_;
  bool started_ = false;
  Clock::duration interval_{};  // 0: none
  Clock::time_point next_ = Clock::now();
  Deadline deadline_;
};

inline SeededRandom ClientRandom(const Options& options, int client) {
  return SeededRandom(SeededRandom(options.shape.seed * 7919 + static_cast<uint64_t>(client)).Next());
}

}  // namespace sonde::bench
