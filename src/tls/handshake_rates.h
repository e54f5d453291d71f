// How often an address may begin TLS's handshake.  A handshake costs the server a signature, and its client nothing.
//
// Each address has a burst, and a rate a second.  At most kAddressesMax addresses are remembered: when another one comes, those with a
// whole burst left are forgotten first, which changes nothing for them; if there are none, all are.
//
// Threads: all functions may be called at once.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/synchronization/mutex.h"

namespace sonde::tls {

// The bounds of a port that speaks TLS: beyond what a client with its channels needs, and what thousands of them behind one address do.
constexpr int64_t kHandshakesAtOnceMax = 2'000;
constexpr int64_t kHandshakesPerSecondMax = 500;

class HandshakeRates {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;
  static constexpr size_t kAddressesMax = 10'000;

  HandshakeRates(int64_t at_once_max, int64_t per_second_max)
      : at_once_max_(static_cast<double>(at_once_max)),
        per_second_max_(static_cast<double>(per_second_max)) {}

  // Counts a handshake of this address, which has no port.  Returns false if it is one too many; that one costs the address nothing.
  bool Take(const std::string& address, TimePoint now) {
    const absl::MutexLock lock(&mutex_);
    auto found = left_.find(address);
    if (found == left_.end()) {
      if (left_.size() >= kAddressesMax) Forget(now);
      found = left_.emplace(address, Left{at_once_max_, now}).first;
    }
    Left& left = found->second;
    left = {Refilled(left, now), now};
    if (left.handshakes < 1) return false;
    left.handshakes -= 1;
    return true;
  }

  size_t addresses() const {
    const absl::MutexLock lock(&mutex_);
    return left_.size();
  }

 private:
  struct Left {
    double handshakes;
    TimePoint counted;
  };

  double Refilled(const Left& left, TimePoint now) const {
    const std::chrono::duration<double> passed = now - left.counted;
    return std::min(at_once_max_, left.handshakes + passed.count() * per_second_max_);
  }
  void Forget(TimePoint now) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    absl::erase_if(left_, [&](const auto& entry) { return Refilled(entry.second, now) >= at_once_max_; });
    if (left_.size() >= kAddressesMax) left_.clear();
  }

  const double at_once_max_;
  const double per_second_max_;
  mutable absl::Mutex mutex_;
  absl::flat_hash_map<std::string, Left> left_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde::tls
