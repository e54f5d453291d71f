#include "metrics/slow_calls.h"

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

int64_t MinuteOf(absl::Time time) { return absl::ToUnixSeconds(time) / 60; }

void Cut(std::string* text) {
  if (text->size() > SlowCalls::kTextBytesMax) text->resize(SlowCalls::kTextBytesMax);
}

}  // namespace

void SlowCalls::SetThreshold(absl::Duration threshold) {
  threshold_micros_.store(absl::ToInt64Microseconds(threshold), std::memory_order_relaxed);
}

bool SlowCalls::Wants(absl::Duration took, absl::Time now) const {
  const int64_t micros = absl::ToInt64Microseconds(took);
  return micros >= threshold_micros_.load(std::memory_order_relaxed) ||
         micros > floor_micros_.load(std::memory_order_relaxed) ||
         MinuteOf(now) != minute_.load(std::memory_order_relaxed);
}

void SlowCalls::Record(SlowCall call) {
  for (std::string* const text : {&call.method, &call.request, &call.trace, &call.resource, &call.app_profile,
                                  &call.principal, &call.filter})
    Cut(text);
  const absl::MutexLock lock(&mutex_);
  if (const int64_t minute = MinuteOf(call.ended); minute > minute_.load(std::memory_order_relaxed))
    EndMinute(minute);
  if (absl::ToInt64Microseconds(call.took) >= threshold_micros_.load(std::memory_order_relaxed))
    return Keep(std::move(call));
  const auto at =
      std::upper_bound(of_minute_.begin(), of_minute_.end(), call.took,
                       [](absl::Duration took, const SlowCall& other) { return took > other.took; });
  of_minute_.insert(at, std::move(call));
  if (of_minute_.size() > kOfMinuteMax) of_minute_.pop_back();
  if (of_minute_.size() == kOfMinuteMax)
    floor_micros_.store(absl::ToInt64Microseconds(of_minute_.back().took), std::memory_order_relaxed);
}

void SlowCalls::EndMinute(int64_t minute) {
  for (SlowCall& call : of_minute_) Keep(std::move(call));
  of_minute_.clear();
  minute_.store(minute, std::memory_order_relaxed);
  floor_micros_.store(-1, std::memory_order_relaxed);
}

void SlowCalls::Keep(SlowCall call) {
  if (calls_.size() == kCallsMax) calls_.pop_front();
  calls_.push_back(std::move(call));
}

std::vector<SlowCall> SlowCalls::List() const {
  std::vector<SlowCall> list;
  {
    const absl::MutexLock lock(&mutex_);
    list.assign(calls_.begin(), calls_.end());
    list.insert(list.end(), of_minute_.begin(), of_minute_.end());
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const SlowCall& a, const SlowCall& b) { return a.ended > b.ended; });
  return list;
}

}  // namespace sonde
