// Threads for work that may block: writes that wait for the disk, changes of the catalog, long scans.  gRPC's
// own few threads must not.
//
// Work goes to the thread that has been idle for the shortest time, whose memory is still in the caches: with
// 32 that take turns, ingest took a sixth more of the processors than with as few as it kept busy.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
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
    std::condition_variable wake;
    bool woken = false;  // guarded by mutex_
  };
  absl::Status Enqueue(Waiting* waiting, absl::Time deadline);
  // Wakes the one that became idle last.
  void WakeOne();  // mutex_ is held
  void Run();

  TurnClock* const clock_;
  std::mutex mutex_;
  // Guarded by mutex_, down to threads_.
  std::vector<Idle*> idle_;  // in the order in which they became so
  WaitingLine<Waiting> line_;
  bool ending_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace sonde
