// ClockWatch notices when the system's clock was set back: new cells would be older than cells that are there.
//
// Threads: Look is for one thread; steps_back and Figures may be called by any.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <vector>

#include "absl/time/time.h"
#include "metrics/figure.h"

namespace sonde {

class ClockWatch {
 public:
  using SteadyTime = std::chrono::steady_clock::time_point;

  // A clock that is behind by less, as after it was slowed down, was not set back.
  static constexpr absl::Duration kStepMin = absl::Seconds(1);

  ClockWatch(absl::Time wall_now, SteadyTime steady_now) : wall_(wall_now), steady_(steady_now) {}

  // To be called now and then.  Returns by how much the clock was set back since the last look; zero: it was not.
  absl::Duration Look(absl::Time wall_now, SteadyTime steady_now);

  int64_t steps_back() const { return steps_back_.load(std::memory_order_relaxed); }
  // sonde_clock_steps_back_total
  std::vector<Figure> Figures() const;

 private:
  absl::Time wall_;
  SteadyTime steady_;
  std::atomic<int64_t> steps_back_ = 0;
};

}  // namespace sonde
