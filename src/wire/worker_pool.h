// Threads for work that may block: writes that wait for the disk, changes of the catalog, long scans.  gRPC's
// own few threads must not.
#pragma once

#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/time/time.h"

namespace sonde {

class WorkerPool {
 public:
  using Work = absl::AnyInvocable<void() &&>;
  // Told OK, or why there is nothing to do but to say so.
  using Request = absl::AnyInvocable<void(const absl::Status&) &&>;

  struct Limits {
    size_t waiting = 10'000;
    // A request that has waited longer is refused: whoever asked has given up, or soon will.
    absl::Duration wait = absl::Milliseconds(500);
  };

  WorkerPool(size_t threads, Limits limits);
  // Finishes what was submitted.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // For a part of something that is under way already.  False, and `work` is not run: too much is waiting.
  [[nodiscard]] bool Submit(Work work);

  // Runs `request` once: with OK; with UNAVAILABLE when too much is waiting or it has waited too long; with
  // DEADLINE_EXCEEDED when the deadline has passed before its turn.
  void Submit(absl::Time deadline, Request request);

 private:
  struct Waiting {
    Work work;  // one of the two
    Request request;
    absl::Time since;
    absl::Time deadline;
  };
  bool Enqueue(Waiting* waiting);
  void Run();
  absl::Status CheckTime(const Waiting& waiting) const;

  const Limits limits_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<Waiting> queue_;  // guarded by mutex_
  bool ending_ = false;        // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace sonde
