#include "server/process/clock_watch.h"

namespace sonde {

absl::Duration ClockWatch::Look(absl::Time wall_now, SteadyTime steady_now) {
  const absl::Time expected = wall_ + absl::FromChrono(steady_now - steady_);
  wall_ = wall_now;
  steady_ = steady_now;
  if (expected - wall_now < kStepMin) return absl::ZeroDuration();
  steps_back_.fetch_add(1, std::memory_order_relaxed);
  return expected - wall_now;
}

std::vector<Figure> ClockWatch::Figures() const {
  return {Figure::Counter("sonde_clock_steps_back_total",
                          "How often the system's clock was found to have been set back by a second or more.")
              .Add(static_cast<double>(steps_back()))};
}

}  // namespace sonde
