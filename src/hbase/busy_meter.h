// How much of what was asked in the last seconds was answered that the server is busy.
//
// Threads: all functions may be called at once.
#pragma once

#include <algorithm>
#include <cmath>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sonde::hbase {

class BusyMeter {
 public:
  // An answer weighs half as much after this time.
  static constexpr absl::Duration kHalfLife = absl::Seconds(5);

  void Note(bool is_busy, absl::Time now) {
    const absl::MutexLock lock(&mutex_);
    Age(now);
    all_ += 1;
    if (is_busy) busy_ += 1;
  }

  // 0: none was.  1: all were.  A single answer among few is no more than a fifth.
  double Share(absl::Time now) const {
    const absl::MutexLock lock(&mutex_);
    Age(now);
    return busy_ / std::max(all_, kFew);
  }

 private:
  static constexpr double kFew = 5;

  void Age(absl::Time now) const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_) {
    if (now <= at_) return;
    const double factor = std::exp2(-absl::FDivDuration(now - at_, kHalfLife));
    busy_ *= factor;
    all_ *= factor;
    at_ = now;
  }

  mutable absl::Mutex mutex_;
  mutable absl::Time at_ ABSL_GUARDED_BY(mutex_) = absl::InfinitePast();
  mutable double busy_ ABSL_GUARDED_BY(mutex_) = 0;
  mutable double all_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sonde::hbase
