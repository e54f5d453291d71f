// How long reads have lately kept their threads.  gRPC's own few threads take requests in; while they work on
// one that takes long, what comes meanwhile can be neither served nor refused.  So reads are worked on where
// they come in only as long as they are short.
#pragma once

#include <atomic>
#include <cstdint>

#include "absl/time/clock.h"

namespace sonde {

// Threads: all functions may be called at once; an update that is lost does not matter.
class StepCost {
 public:
  void Add(int64_t nanos) {
    const int64_t before = mean_nanos_.load(std::memory_order_relaxed);
    mean_nanos_.store(before + (nanos - before) / kWindow, std::memory_order_relaxed);
  }

  // Better given to the readers' threads, which costs some 10 us and lets it be refused when it has to wait.
  bool IsHigh() const { return mean_nanos_.load(std::memory_order_relaxed) > kHighNanos; }

  // Adds the time of its life.
  class Timer {
   public:
    explicit Timer(StepCost* cost) : cost_(cost), begin_nanos_(absl::GetCurrentTimeNanos()) {}
    ~Timer() { cost_->Add(absl::GetCurrentTimeNanos() - begin_nanos_); }
    Timer(const Timer&) = delete;
    Timer& operator=(const Timer&) = delete;

   private:
    StepCost* const cost_;
    const int64_t begin_nanos_;
  };

 private:
  static constexpr int64_t kWindow = 16;
  static constexpr int64_t kHighNanos = 250'000;

  std::atomic<int64_t> mean_nanos_ = 0;
};

}  // namespace sonde
