// Threads for work that may block: writes that wait for the disk, changes of the catalog, long scans.  The
// few threads of gRPC must not block.
//
// Work goes to the thread that became idle last, as its memory is still in the caches.  With 32 threads in
// turns, ingest took a sixth more processor time than with as few threads as it kept busy.
//
// Threads: all functions may be called at once, but for the destructor.
#pragma once

#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "work/priority.h"
#include "work/turn_clock.h"
#include "work/waiting_line.h"

namespace sonde {

class WorkerPool {
 public:
  using Work = absl::AnyInvocable<void() &&>;
  // Called once: with OK to do its work, or with the error that it must answer.
  using Request = absl::AnyInvocable<void(const absl::Status&) &&>;

  // `clock` must outlive the pool.  It says how long a request has waited, and watches the threads.
  WorkerPool(size_t threads, WaitLimits limits, TurnClock* clock);
  // Finishes all submitted work.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // For a part of a call that is under way already.  Returns false, and does not run `work`, if too much is
  // waiting.
  [[nodiscard]] bool Submit(Work work, Priority priority = Priority::kHigh);

  // Runs `request` once.
  //  OK                 it is its turn.
  //  UNAVAILABLE        too much is waiting, or the first has waited for too long, or this one has.
  //  DEADLINE_EXCEEDED  the deadline has passed before its turn.
  void Submit(absl::Time deadline, Request request, Priority priority = Priority::kHigh);

  TurnClock* clock() const { return clock_; }

 private:
  struct Waiting {
    Work work;  // either `work` or `request` is set
    Request request;
  };
  // A thread without work.
  struct Idle {
    absl::CondVar wake;
    bool woken = false;  // only under the mutex_ of the pool, which the analysis of locks cannot name here
  };
  absl::Status Enqueue(Waiting* waiting, absl::Time deadline, Priority priority) ABSL_LOCKS_EXCLUDED(mutex_);
  // Wakes the thread that became idle last.
  void WakeOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Run();

  TurnClock* const clock_;
  absl::Mutex mutex_;
  std::vector<Idle*> idle_ ABSL_GUARDED_BY(mutex_);  // in the order in which they became idle
  WaitingLine<Waiting> line_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<std::thread> threads_;
};

}  // namespace sonde
