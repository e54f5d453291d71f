// How long a call has waited for a thread, its turn or room, all waits together (CallCost::queued).
#pragma once

#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace sonde {

// A wait is from Begin to End.  A second End counts what has passed since the first, so that a wait may be of several parts.  Not for
// several threads at once; who submits work to a pool may begin a wait that the work ends.
class QueuedTime {
 public:
  void Begin() { since_ = absl::Now(); }
  void End() {
    const absl::Time now = absl::Now();
    all_ += now - std::exchange(since_, now);
  }
  absl::Duration all() const { return all_; }

 private:
  absl::Time since_;
  absl::Duration all_;
};

}  // namespace sonde
