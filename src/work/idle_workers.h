// Threads beside those of the questions: a question over many rows is divided into parts, and helpers do parts
// of it on the processors that are idle.
//
//   PartsInOrder parts(&workers, 64, 8, [&](const PartsInOrder& all, size_t part) {
//     return Scan(ranges[part], &results[part]);       // may ask all.IsInVain(part) now and then
//   });
//   while (true) {
//     absl::StatusOr<std::optional<size_t>> part = parts.Next();   // 0, 1, 2, ...
//     ...
//   }
//
// Load: the threads of the questions that are divided, and the helpers, are never more than the processors.
//   A helper decides again before each part, so that a part should take a millisecond or a few.  A helper that
//   had to wait for its processor pauses for some times as long as it was there: other threads of this server,
//   or other programs, want it.  The thread of a question never waits for a part that it can do itself.
// Threads: all functions of IdleWorkers may be called at once; those of a PartsInOrder belong to one thread,
//   but for IsInVain.
// Cost: a part costs about a microsecond.  Where there is one processor there are no helpers, and parts are
//   calls, one after the other.
#pragma once

#include <atomic>
#include <cstddef>
#include <optional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/functional/any_invocable.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"

namespace sonde {

class PartsInOrder;

class IdleWorkers {
 public:
  // `processors`: how many this process may use at a time (base/processors.h).  Starts a helper for each whole
  // one but the first.
  explicit IdleWorkers(double processors);
  // No PartsInOrder may be left.
  ~IdleWorkers();
  IdleWorkers(const IdleWorkers&) = delete;
  IdleWorkers& operator=(const IdleWorkers&) = delete;

  // How many helpers there are at most.
  size_t helpers() const { return processors_ - 1; }

 private:
  friend class PartsInOrder;

  void Run();
  // Whether a helper that is not at work could begin a part.
  bool IsWanted() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // The question to help: of those with a part to begin, the one that has the fewest helpers.  Null: none.
  PartsInOrder* FindParts() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Waits until IsWanted, or until this ends.
  void AwaitWork() ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  // Does parts while a processor is idle, and returns how long to pause.
  absl::Duration Help(int schedule_file) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);

  const size_t processors_;
  absl::Mutex mutex_;
  absl::CondVar wake_;     // IsWanted may have become true
  SteadyCondVar is_over_;  // for helpers that pause
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::vector<PartsInOrder*> all_ ABSL_GUARDED_BY(mutex_);
  size_t helping_ ABSL_GUARDED_BY(mutex_) = 0;
  size_t waiting_ ABSL_GUARDED_BY(mutex_) = 0;  // helpers in AwaitWork
  std::vector<std::thread> threads_;
};

// The parts of one question.  Each is done once, by any thread; what they made is taken in their order.
class PartsInOrder {
 public:
  // Does a part of `all`; called by several threads at once.  Its work is seen by who takes the part.
  using Work = absl::AnyInvocable<absl::Status(const PartsInOrder& all, size_t part) const>;

  // Parts [0, count).  No part is begun that lies `ahead_max` (> 0) or more behind the one that Next gives
  // next: so many results wait at most.  `workers` must outlive this.
  PartsInOrder(IdleWorkers* workers, size_t count, size_t ahead_max, Work work);
  // Begins no more parts, and waits for those that are begun.
  ~PartsInOrder();
  PartsInOrder(const PartsInOrder&) = delete;
  PartsInOrder& operator=(const PartsInOrder&) = delete;

  // Returns the next part, which is done; none: there are no more.  Meanwhile this thread does parts, too.  An
  // error is that of the next part's work: the parts before it were given, none behind it will be.
  absl::StatusOr<std::optional<size_t>> Next();

  // Whether nobody will take this part, so that its work should end soon, with any error.
  bool IsInVain(size_t part) const { return part >= wanted_end_.load(std::memory_order_relaxed); }

 private:
  friend class IdleWorkers;

  bool CanBegin() const ABSL_EXCLUSIVE_LOCKS_REQUIRED(workers_->mutex_);
  // CanBegin.  Does the next part that is not begun.
  void DoOne() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workers_->mutex_);
  void WakeHelpers() ABSL_EXCLUSIVE_LOCKS_REQUIRED(workers_->mutex_);

  IdleWorkers* const workers_;
  const size_t ahead_max_;
  const Work work_;
  std::atomic<size_t> wanted_end_;  // parts [0, wanted_end_) are wanted: up to the first that failed
  absl::CondVar done_;
  size_t next_ ABSL_GUARDED_BY(workers_->mutex_) = 0;
  size_t begun_ ABSL_GUARDED_BY(workers_->mutex_) = 0;
  size_t helpers_ ABSL_GUARDED_BY(workers_->mutex_) = 0;
  std::vector<std::optional<absl::Status>> done_parts_ ABSL_GUARDED_BY(workers_->mutex_);
};

}  // namespace sonde
