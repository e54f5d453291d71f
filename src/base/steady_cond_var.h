// A condition variable of absl::Mutex whose time limits hold whatever is done to the system's clock: those of
// absl::CondVar are points of that clock, so that a thread would wait for an hour longer when it is set back by one.
//
// Threads: all functions may be called at once.
#pragma once

#include <algorithm>
#include <condition_variable>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"

namespace sonde {

class SteadyCondVar {
 public:
  // Returns when `until` is true, or when `timeout` has passed; whether it is true.  `until` is evaluated with `mutex`
  // held, when this begins, after each SignalAll and at the end.
  bool WaitFor(absl::Mutex* mutex, absl::Duration timeout, const absl::Condition& until)
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex) {
    Held held(mutex);
    return changed_.wait_for(held, absl::ToChronoNanoseconds(std::min(timeout, kTimeoutMax)),
                             [&until] { return until.Eval(); });
  }

  // To be called after a change that may make a condition true, with the mutex held or not.
  void SignalAll() { changed_.notify_all(); }

 private:
  // Nanoseconds count no longer time from now.
  static constexpr absl::Duration kTimeoutMax = absl::Hours(24 * 365 * 100);

  // A mutex that is held, as the standard library wants one to look.
  class Held {
   public:
    explicit Held(absl::Mutex* mutex) : mutex_(mutex) {}
    void lock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_->Lock(); }
    void unlock() ABSL_NO_THREAD_SAFETY_ANALYSIS { mutex_->Unlock(); }

   private:
    absl::Mutex* const mutex_;
  };

  std::condition_variable_any changed_;
};

}  // namespace sonde
