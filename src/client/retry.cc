#include "client/retry.h"

#include <algorithm>
#include <thread>

namespace sonde {

bool Backoff::WaitForNext(std::optional<std::chrono::milliseconds> server_delay) {
  if (++failures_ >= policy_.attempts_max) return false;
  if (server_delay.has_value() && *server_delay > policy_.server_delay_max) return false;
  std::chrono::milliseconds whole = policy_.initial_delay;
  for (int i = 1; i < failures_ && whole < policy_.delay_max; ++i) whole *= 2;
  whole = std::min(whole, policy_.delay_max);
  const auto half = whole.count() / 2;
  std::chrono::milliseconds delay(half + static_cast<int64_t>(random_.Uniform(whole.count() - half + 1)));
  if (server_delay.has_value()) delay = std::max(delay, *server_delay);
  if (policy_.sleep) {
    policy_.sleep(delay);
  } else {
    std::this_thread::sleep_for(delay);
  }
  return true;
}

}  // namespace sonde
