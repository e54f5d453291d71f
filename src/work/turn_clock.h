// The clock of requests that wait for a thread: it counts the time in which this server had the processors
// that it wanted.  A request may wait because other programs have the processors, or because nothing runs at
// all (the process is stopped, the machine is suspended); it is slow then, and not refused.  A request that
// waits because the server has too much to do is refused (docs/decisions/0020-turn-clock.md).
//
// A thread of its own moves the clock on every kBeat.  A late beat counts kBeatCountedMax at most: the time
// beyond it was no time of this server's.  The counted time is multiplied by the server's share of the
// processors, which follows from what the kernel tells: how long threads ran, and how long they were ready to
// run while others did.
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

  // Sums since some time in the past.
  struct ProcessorTimes {
    absl::Duration passed;  // time on the clock
    absl::Duration ran;     // all threads of this process, together
    absl::Duration waited;  // watched threads, together: ready to run, and not running
  };

  // Makes a clock that moves by Beat and Learn only.  `processors`: how many this process may use at a time.
  explicit TurnClock(double processors) : processors_(processors) {}
  // Makes a clock that moves by itself.
  static std::unique_ptr<TurnClock> Start();
  ~TurnClock();
  TurnClock(const TurnClock&) = delete;
  TurnClock& operator=(const TurnClock&) = delete;

  // The counted time since the clock was made, in steps of beats.
  absl::Duration Now() const { return absl::Nanoseconds(now_nanos_.load(std::memory_order_relaxed)); }

  // Watches the thread that makes it, which serves waiting requests.  Must not outlive the clock.
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

  // Moves the clock by `elapsed` since the last beat, times the share that Learn has found.
  void Beat(absl::Duration elapsed);
  // Takes what the kernel says now.  To be called some times a second.
  void Learn(const ProcessorTimes& times);
  // Reads the times of this process and of the watched threads.
  ProcessorTimes Read();

 private:
  void Run();
  // Returns the file in which the kernel counts for the calling thread; -1 if this kernel does not count.
  int Watch();
  void Unwatch(int file);

  const double processors_;
  std::atomic<int64_t> now_nanos_ = 0;

  // Only the thread that beats uses these.
  double share_ = 1;
  ProcessorTimes last_;
  ProcessorTimes recent_;  // older times count less

  absl::Mutex mutex_;
  std::map<int, int64_t> watched_nanos_ ABSL_GUARDED_BY(mutex_);  // by file: its last reading
  int64_t waited_nanos_ ABSL_GUARDED_BY(mutex_) = 0;  // of all watched threads, also of ended ones
  SteadyCondVar end_;
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

// Returns the share of its time, from 0 to 1, in which this server had the processors that it wanted.  Its
// threads ran on `ran` processors on average, and `waited` more threads were ready to run.  If the server's
// own load takes all of `processors`, its threads wait for each other, and the share is 1.
double ShareOfProcessors(double ran, double waited, double processors);

}  // namespace sonde
