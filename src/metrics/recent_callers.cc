#include "metrics/recent_callers.h"

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

int64_t MinuteOfCall(absl::Time time) { return absl::ToUnixSeconds(time) / 60; }

}  // namespace

uint64_t RecentCallers::Weigh(absl::Time now) {
  constexpr auto kOrder = std::memory_order_relaxed;
  const int64_t second = absl::ToUnixSeconds(now);
  if (second_.load(kOrder) != second && second_.exchange(second, kOrder) != second) {
    calls_of_second_.store(0, kOrder);
  }
  const uint64_t number = calls_of_second_.fetch_add(1, kOrder);
  if (number < kWholeSecond) return 1;
  return number % kSampled == 0 ? kSampled : 0;
}

void RecentCallers::Add(RecentCaller caller, uint64_t calls, absl::Time now) {
  if (calls == 0) return;
  for (std::string* const text :
       {&caller.method, &caller.resource, &caller.principal, &caller.client, &caller.agent}) {
    if (text->size() > kTextBytesMax) text->resize(kTextBytesMax);
  }
  const int64_t number = MinuteOfCall(now);
  const absl::MutexLock lock(&mutex_);
  // A clock that was set back counts on in the last minute.
  if (minutes_.empty() || minutes_.back().number < number) minutes_.push_back({.number = number});
  while (minutes_.front().number <= number - kMinutesKept) minutes_.pop_front();
  std::map<RecentCaller, Count>& callers = minutes_.back().callers;
  if (callers.size() >= kCallersMax && !callers.contains(caller)) {
    caller = {.method = std::move(caller.method), .principal = std::move(caller.principal)};
    // Methods and principals are not without end, but nothing here relies on it.
    if (callers.size() >= 2 * kCallersMax && !callers.contains(caller)) return;
  }
  Count& count = callers[std::move(caller)];
  count.calls += calls;
  count.last = std::max(count.last, now);
}

std::vector<RecentCallers::Counted> RecentCallers::List(absl::Time now) const {
  std::map<RecentCaller, Count> sums;
  {
    const absl::MutexLock lock(&mutex_);
    for (const Minute& minute : minutes_) {
      if (minute.number <= MinuteOfCall(now) - kMinutesKept) continue;
      for (const auto& [caller, count] : minute.callers) {
        Count& sum = sums[caller];
        sum.calls += count.calls;
        sum.last = std::max(sum.last, count.last);
      }
    }
  }
  std::vector<Counted> all;
  all.reserve(sums.size());
  for (const auto& [caller, sum] : sums) {
    all.push_back({.caller = caller, .calls = sum.calls, .last = sum.last});
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Counted& a, const Counted& b) { return a.calls > b.calls; });
  return all;
}

}  // namespace sonde
