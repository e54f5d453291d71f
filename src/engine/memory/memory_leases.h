// Leases of the cluster mode of the engine in memory (cluster_member.h).
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/clock.h"
#include "engine/leases.h"

namespace sonde {

// What all members of a cluster share.
struct MemoryLeaseBoard {
  struct Held {
    const void* owner = nullptr;
    absl::Time until;
  };
  absl::Mutex mutex;
  std::map<std::string, Held, std::less<>> held ABSL_GUARDED_BY(mutex);
};

class MemoryLeases final : public Leases {
 public:
  // A name is held for half of `time`, and given to others after all of it.
  MemoryLeases(std::shared_ptr<MemoryLeaseBoard> board, absl::Duration time)
      : board_(std::move(board)), time_(time) {}

  absl::StatusOr<absl::Duration> Hold(std::string_view name, absl::Time /*deadline*/) override {
    const absl::MutexLock lock(&board_->mutex);
    MemoryLeaseBoard::Held& held = board_->held[std::string(name)];
    const absl::Time now = absl::Now();
    if (held.owner != nullptr && held.owner != this && now < held.until) return absl::ZeroDuration();
    held = {this, now + time_};
    return time_ / 2;
  }
  absl::Status Release(std::string_view name, absl::Time /*deadline*/) override {
    const absl::MutexLock lock(&board_->mutex);
    const auto at = board_->held.find(name);
    if (at != board_->held.end() && at->second.owner == this) board_->held.erase(at);
    return absl::OkStatus();
  }

 private:
  const std::shared_ptr<MemoryLeaseBoard> board_;
  const absl::Duration time_;
};

}  // namespace sonde
