// How often and how soon a call is made again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <optional>

#include "base/random.h"

namespace sonde {

struct RetryPolicy {
  // Calls made without progress, the first one included.
  int attempts_max = 8;
  // The wait before attempt n + 1 is random in [half, whole] of min(initial * 2^(n - 1), max).
  std::chrono::milliseconds initial_delay{20};
  std::chrono::milliseconds delay_max{5'000};
  // A server that asks for a longer wait than this gets no second call.
  std::chrono::milliseconds server_delay_max{60'000};
  // Waits; null sleeps.  A test puts its own here.
  std::function<void(std::chrono::milliseconds)> sleep;
};

// The attempts of one call.  Not for several threads; `policy` outlives it.
class Backoff {
 public:
  Backoff(const RetryPolicy& policy, uint64_t seed) : policy_(policy), random_(seed) {}

  // After a failed attempt: waits at least as long as the server asked for, and returns true; or returns
  // false at once when there shall be no other attempt.
  bool WaitForNext(std::optional<std::chrono::milliseconds> server_delay);

  // The last attempt got somewhere: counts from the beginning.
  void Progress() { failures_ = 0; }

 private:
  const RetryPolicy& policy_;
  SeededRandom random_;
  int failures_ = 0;
};

}  // namespace sonde
