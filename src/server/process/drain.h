// Drain ends a server step by step, so that its clients notice as little of it as may be.
//
// 1. The server says that it is not ready; for DrainTimes::delay it takes calls as before.
// 2. It takes no new calls; those under way have DrainTimes::grace.
// 3. Calls that are left then are cancelled.
// A signal that comes meanwhile ends the delay and the grace at once.  Source: docs/operations.md ("Start and stop").
//
// Threads: RunDrain is for one thread; it calls `shut_down` in a thread of its own, and everything else in the caller's.
#pragma once

#include <functional>

#include "absl/time/time.h"

namespace sonde {

struct DrainTimes {
  absl::Duration delay;
  absl::Duration grace;
};

struct DrainSteps {
  // Health and readiness say from now on that the server drains.
  std::function<void()> stop_serving;
  // Takes no new calls.  Returns when those under way have ended, or soon after the grace.
  std::function<void(absl::Duration grace)> shut_down;
  // Makes a shut_down that waits in another thread, or is about to, return soon.  Called once at most.
  std::function<void()> hurry;
  // Waits for a signal for at most so long; true: one has come.
  std::function<bool(absl::Duration wait)> await_signal;
};

// Returns whether a signal has shortened the drain.
bool RunDrain(const DrainTimes& times, const DrainSteps& steps);

}  // namespace sonde
