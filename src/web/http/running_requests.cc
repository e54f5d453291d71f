#include "web/http/running_requests.h"

#include <utility>

namespace sonde {

uint64_t RunningRequests::Enter(RunningRequest request, std::shared_ptr<std::atomic<bool>> is_cancelled) {
  const absl::MutexLock lock(&mutex_);
  requests_.emplace(next_, One{std::move(request), std::move(is_cancelled)});
  return next_++;
}

void RunningRequests::Leave(uint64_t number) {
  const absl::MutexLock lock(&mutex_);
  requests_.erase(number);
}

std::vector<RunningRequest> RunningRequests::List() const {
  std::vector<RunningRequest> list;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [number, one] : requests_) list.push_back(one.request);
  return list;
}

bool RunningRequests::Cancel(const std::string& name) {
  bool is_found = false;
  const absl::MutexLock lock(&mutex_);
  for (auto& [number, one] : requests_) {
    if (one.request.name != name) continue;
    one.is_cancelled->store(true, std::memory_order_release);
    is_found = true;
  }
  return is_found;
}

}  // namespace sonde
