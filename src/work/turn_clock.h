// The clock of those who wait for a thread: it counts the time in which this server had the processors that
// it wanted.  A request that waits while other programs have them, or while nothing runs at all (the process
// is stopped, the machine is suspended), is slow and not refused; one that waits because the server has too
// much to do is (docs/decisions/0020-turn-clock.md).
//
// A thread of its own moves the clock on every kBeat.  A beat that comes late counts kBeatCountedMax at most:
// what is beyond it was no time of this server's.  Of the rest the share counts that the kernel tells of: how
// long threads ran, and how long they were ready to run while others did.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"

namespace sonde {

// Threads: all functions may be called at once, but for Beat and Learn.
class TurnClock {
 public:
  static constexpr absl::Duration kBeat = absl::Milliseconds(10);
  static constexpr absl::Duration kBeatCountedMax = absl::Milliseconds(100);

  // A sum since some time in the past.
  struct ProcessorTimes {
    absl::Duration passed;  // for everybody
    absl::Duration ran;     // all threads of this process, together
    absl::Duration waited;  // watched threads, together: ready to run, and not running
  };

  // A clock that moves by Beat and Learn only.  `processors`: that this process may use at a time.
  explicit TurnClock(double processors) : processors_(processors) {}
  // A clock that moves by itself.
  static std::unique_ptr<TurnClock> Start();
  ~TurnClock();
  TurnClock(const TurnClock&) = delete;
  TurnClock& operator=(const TurnClock&) = delete;

  // Since the clock was made; in steps of beats.
  absl::Duration Now() const { return absl::Nanoseconds(now_nanos_.load(std::memory_order_relaxed)); }

  // Watches the thread that makes it: one that serves who waits.  Must not outlive the clock.
  class WatchedThread {
   public:
    explicit WatchedThread(TurnClock* clock) : clock_(clock), file_(clock->Watch()) {}
    ~WatchedThread() { clock_->Unwatch(file_); }
    WatchedThread(const WatchedThread&) = delete;
    WatchedThread& operator=(const WatchedThread&) = delete;

   private:
    TurnClock* const clock_;
    const int file_;
  };

  // `elapsed` since the last beat; counted as Learn has found.
  void Beat(absl::Duration elapsed);
  // What the kernel says now; some times a second.
  void Learn(const ProcessorTimes& times);
  // Of this process and the threads that are watched.
  ProcessorTimes Read();

 private:
  void Run();
  // Returns the file in which the kernel counts for the calling thread; -1: this kernel does not.
  int Watch();
  void Unwatch(int file);

  const double processors_;
  std::atomic<int64_t> now_nanos_ = 0;

  // Only of the thread that beats.
  double share_ = 1;
  ProcessorTimes last_;
  ProcessorTimes recent_;  // what is longer ago counts less

  absl::Mutex mutex_;
  std::map<int, int64_t> watched_nanos_ ABSL_GUARDED_BY(mutex_);  // by file, what it said last
  int64_t waited_nanos_ ABSL_GUARDED_BY(mutex_) = 0;              // of all, also those that have ended
  SteadyCondVar end_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// How much of its time this server had the processors that it wanted, from 0 to 1, when its threads ran on
// `ran` processors on average and `waited` more threads were ready to run.  With its own load on all of
// `processors`, they wait for each other, and it had all of its time.
double ShareOfProcessors(double ran, double waited, double processors);

}  // namespace sonde
