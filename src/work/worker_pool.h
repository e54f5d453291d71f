// Threads for work that may block: writes that wait for the disk, changes of the catalog, long scans.  gRPC's
// own few threads must not.
//
// Work goes to the thread that has been idle for the shortest time, whose memory is still in the caches: with
// 32 that take turns, ingest took a sixth more of the processors than with as few as it kept busy.
#pragma once

#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "work/turn_clock.h"
#include "work/waiting_line.h"

namespace sonde {

class WorkerPool {
 public:
  using Work = absl::AnyInvocable<void() &&>;
  // Told OK, or why there is nothing to do but to say so.
  using Request = absl::AnyInvocable<void(const absl::Status&) &&>;

  // `clock` must outlive it: it says how long a request has waited, and watches the threads.
  WorkerPool(size_t threads, WaitLimits limits, TurnClock* clock);
  // Finishes what was submitted.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // For a part of something that is under way already.  False, and `work` is not run: too much is waiting.
  [[nodiscard]] bool Submit(Work work);

  // Runs `request` once: with OK; with UNAVAILABLE when too much is waiting, or for too long, or when it has
  // waited too long itself; with DEADLINE_EXCEEDED when the deadline has passed before its turn.
  void Submit(absl::Time deadline, Request request);

  TurnClock* clock() const { return clock_; }

 private:
  struct Waiting {
    Work work;  // one of the two
    Request request;
  };
  // A thread without work.
  struct Idle {
    absl::CondVar wake;
    bool woken = false;  // guarded by the pool's mutex_
  };
  absl::Status Enqueue(Waiting* waiting, absl::Time deadline) ABSL_LOCKS_EXCLUDED(mutex_);
  // Wakes the one that became idle last.
  void WakeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();

  TurnClock* const clock_;
  absl::Mutex mutex_;
  std::vector<Idle*> idle_ ABSL_GUARDED_BY(mutex_);  // in the order in which they became so
  WaitingLine<Waiting> line_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sonde
