#include "hbase/attempts.h"

#include <algorithm>

namespace sonde::hbase {

Attempts::Attempts(absl::Time deadline, absl::Duration timeout)
    : deadline_(deadline), end_(std::min(deadline, absl::Now() + kAllMax)), timeout_(timeout) {}

absl::Duration Attempts::TimeForOne() const {
  return std::max(std::min(timeout_, end_ - absl::Now()), absl::Milliseconds(1));
}

bool Attempts::WaitAfter(const Failure& failure) {
  if (failure.remedy == Remedy::kNone) return false;
  absl::Duration wait = std::max(wait_ * (0.5 + random_.UniformReal() / 2), failure.wait_min);
  if (failure.remedy == Remedy::kLocate) wait = std::max(wait - (absl::Now() - begun_), kWaitMin);
  if (absl::Now() + wait >= end_) return false;
  absl::SleepFor(wait);
  begun_ = absl::Now();
  wait_ = std::min(wait_ * 2, kWaitMax);
  ++count_;
  return true;
}

absl::Status Attempts::Over(const Failure& last, bool changes) const {
  absl::Status status = StatusOf(last, changes);
  if (last.remedy == Remedy::kNone) return status;
  const std::string message =
      std::string(status.message()) + " (the last of " + std::to_string(count_) + " tries)";
  if (absl::IsUnavailable(status) && end_ == deadline_) return absl::DeadlineExceededError(message);
  return {status.code(), message};
}

}  // namespace sonde::hbase
