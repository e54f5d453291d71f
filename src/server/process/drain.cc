#include "server/process/drain.h"

#include <thread>

#include "absl/synchronization/notification.h"

namespace sonde {
namespace {

// How often the end of the calls is looked for while signals are waited for.
constexpr absl::Duration kLook = absl::Milliseconds(20);

}  // namespace

bool RunDrain(const DrainTimes& times, const DrainSteps& steps) {
  steps.stop_serving();
  bool is_hurried = times.delay > absl::ZeroDuration() && steps.await_signal(times.delay);
  const absl::Duration grace = is_hurried ? absl::ZeroDuration() : times.grace;
  absl::Notification has_ended;
  std::thread ending([&] {
    steps.shut_down(grace);
    has_ended.Notify();
  });
  while (!has_ended.HasBeenNotified()) {
    if (!steps.await_signal(kLook) || is_hurried) continue;
    is_hurried = true;
    steps.hurry();
  }
  ending.join();
  return is_hurried;
}

}  // namespace sonde
