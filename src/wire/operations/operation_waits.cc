#include "wire/operations/operation_waits.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace sonde {
namespace {

// A longer wait is as good as one without an end.
constexpr absl::Duration kWaitMax = absl::Hours(24 * 365);

}  // namespace

OperationWaits::OperationWaits(const Operations* operations)
    : operations_(operations), thread_([this] { Run(); }) {}

OperationWaits::~OperationWaits() {
  End();
  thread_.join();
}

bool OperationWaits::IsOver(const Wait& wait) const { return !operations_->Runs(wait.name); }

void OperationWaits::Add(Wait wait) {
  if (wait.timeout > absl::ZeroDuration() && !IsOver(wait)) {
    const auto until =
        std::chrono::steady_clock::now() + absl::ToChronoMilliseconds(std::min(wait.timeout, kWaitMax));
    const absl::MutexLock lock(&mutex_);
    if (!is_ending_) {
      waiting_.push_back({std::move(wait), until});
      changed_.SignalAll();
      return;
    }
  }
  wait.answer();
}

void OperationWaits::End() {
  const absl::MutexLock lock(&mutex_);
  is_ending_ = true;
  changed_.SignalAll();
}

void OperationWaits::Run() {
  while (true) {
    std::list<Waiting> over;
    bool is_ending = false;
    {
      const absl::MutexLock lock(&mutex_);
      const auto has_work = [this]() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
        return is_ending_ || !waiting_.empty();
      };
      changed_.WaitFor(&mutex_, absl::InfiniteDuration(), absl::Condition(&has_work));
      const auto now = std::chrono::steady_clock::now();
      is_ending = is_ending_;
      for (auto at = waiting_.begin(); at != waiting_.end();) {
        const auto next = std::next(at);
        if (is_ending || at->until <= now || IsOver(at->wait) || at->wait.is_given_up()) {
          over.splice(over.end(), waiting_, at);
        }
        at = next;
      }
    }
    for (const Waiting& waiting : over) waiting.wait.answer();
    const absl::MutexLock lock(&mutex_);
    if (is_ending && waiting_.empty()) return;
    changed_.WaitFor(&mutex_, kBetweenLooks, absl::Condition(&is_ending_));
  }
}

}  // namespace sonde
