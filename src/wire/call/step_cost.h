// How long reads have lately kept their threads.  The few threads of gRPC take requests in.  While one of
// them works long, requests that come meanwhile can be neither served nor refused.  So reads are worked on
// where they come in only as long as they are short.
#pragma once

#include <sys/resource.h>

#include <atomic>
#include <cstdint>
#include <ctime>

#include "absl/time/clock.h"

namespace sonde {

// Threads: all functions may be called at once.  A lost update does not matter.
class StepCost {
 public:
  void Add(int64_t nanos) {
    const int64_t before = mean_nanos_.load(std::memory_order_relaxed);
    mean_nanos_.store(before + (nanos - before) / kWindow, std::memory_order_relaxed);
  }

  // Whether reads had better go to the readers' threads.  That costs some 10 us, and lets a read be refused
  // when it has to wait.
  bool IsHigh() const { return mean_nanos_.load(std::memory_order_relaxed) > kHighNanos; }

  // Adds the time of its own life, for one read in several.  The time is the clock's, as a wait for the disk
  // keeps the thread, too.  If the kernel gave the processor to others meanwhile, only the processor's time
  // counts, as then all reads are slow alike.
  class Timer {
   public:
    explicit Timer(StepCost* cost)
        : cost_(cost->steps_.fetch_add(1, std::memory_order_relaxed) % kStepsPerSample == 0 ? cost
                                                                                            : nullptr) {
      if (cost_ != nullptr) begin_ = Now();
    }
    ~Timer() {
      if (cost_ == nullptr) return;
      const Times end = Now();
      cost_->Add(end.preemptions == begin_.preemptions ? end.clock_nanos - begin_.clock_nanos
                                                       : end.processor_nanos - begin_.processor_nanos);
    }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    // Times of the calling thread.
    struct Times {
      int64_t clock_nanos = 0;
      int64_t processor_nanos = 0;
      int64_t preemptions = 0;
    };
    static Times Now() {
      timespec processor{};
      clock_gettime(CLOCK_THREAD_CPUTIME_ID, &processor);
      rusage usage{};
      getrusage(RUSAGE_THREAD, &usage);
      return {absl::GetCurrentTimeNanos(), int64_t{1'000'000'000} * processor.tv_sec + processor.tv_nsec,
              usage.ru_nivcsw};
    }

    StepCost* const cost_;  // null: this read is not measured
    Times begin_;
  };

 private:
  static constexpr int64_t kWindow = 16;
  static constexpr int64_t kHighNanos = 250'000;
  static constexpr uint32_t kStepsPerSample = 8;

  std::atomic<uint32_t> steps_ = 0;
  std::atomic<int64_t> mean_nanos_ = 0;
};

}  // namespace sonde
