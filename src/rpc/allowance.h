// How often a client may do something that costs the server more than it brings: a burst, and a rate a
// second.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace sonde::rpc {

// Not for several threads.
class Allowance {
 public:
  using TimePoint = std::chrono::steady_clock::time_point;

  Allowance(int64_t at_once_max, int64_t per_second_max, TimePoint now)
      : at_once_max_(static_cast<double>(at_once_max)),
        per_second_max_(static_cast<double>(per_second_max)),
        left_(at_once_max_),
        counted_(now) {}

  // Counts one more.  Returns false if it is one too many.
  bool Take(TimePoint now) {
    const std::chrono::duration<double> passed = now - counted_;
    counted_ = now;
    left_ = std::min(at_once_max_, left_ + passed.count() * per_second_max_) - 1;
    return left_ >= 0;
  }

 private:
  const double at_once_max_;
  const double per_second_max_;
  double left_;
  TimePoint counted_;
};

}  // namespace sonde::rpc
