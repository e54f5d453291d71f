#include "metrics/failed_calls.h"

#include <algorithm>
#include <utility>

namespace sonde {
namespace {

void Shorten(std::string* text) {
  if (text->size() > FailedCalls::kTextBytesMax) text->resize(FailedCalls::kTextBytesMax);
}

bool AreAlike(const FailedCall& a, const FailedCall& b) {
  return a.method == b.method && a.code == b.code && a.message == b.message && a.resource == b.resource &&
         a.principal == b.principal && a.client == b.client;
}

}  // namespace

void FailedCalls::Record(FailedCall call) {
  for (std::string* const text :
       {&call.method, &call.message, &call.request, &call.resource, &call.principal, &call.client})
    Shorten(text);
  const absl::MutexLock lock(&mutex_);
  const auto alike = std::find_if(calls_.begin(), calls_.end(),
                                  [&](const FailedCall& other) { return AreAlike(call, other); });
  if (alike != calls_.end()) {
    call.times += alike->times;
    calls_.erase(alike);
  } else if (calls_.size() == kCallsMax) {
    calls_.pop_front();
  }
  calls_.push_back(std::move(call));
}

std::vector<FailedCall> FailedCalls::List() const {
  const absl::MutexLock lock(&mutex_);
  return {calls_.rbegin(), calls_.rend()};
}

}  // namespace sonde
