#include "work/worker_pool.h"

#include <utility>

namespace sonde {
WorkerPool::WorkerPool(size_t threads, WaitLimits limits, TurnClock* clock)
    : clock_(clock), line_(limits, clock) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    const absl::MutexLock lock(&mutex_);
    ending_ = true;
    while (!idle_.empty()) WakeOne();
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Status WorkerPool::Enqueue(Waiting* waiting, absl::Time deadline, Priority priority) {
  const absl::MutexLock lock(&mutex_);
  absl::Status status = line_.CheckRoom(priority);
  if (status.ok() && waiting->request) status = line_.CheckWait(priority);
  if (!status.ok()) return status;
  line_.Push(std::move(*waiting), deadline, priority);
  if (!idle_.empty()) WakeOne();
  return absl::OkStatus();
}

void WorkerPool::WakeOne() {
  Idle* const idle = idle_.back();
  idle_.pop_back();
  idle->woken = true;
  idle->wake.Signal();
}

bool WorkerPool::Submit(Work work, Priority priority) {
  Waiting waiting{.work = std::move(work)};
  return Enqueue(&waiting, absl::InfiniteFuture(), priority).ok();
}

void WorkerPool::Submit(absl::Time deadline, Request request, Priority priority) {
  Waiting waiting{.request = std::move(request)};
  if (absl::Status status = Enqueue(&waiting, deadline, priority); !status.ok())
    std::move(waiting.request)(status);
}

void WorkerPool::Run() {
  const TurnClock::WatchedThread watched(clock_);
  Idle idle;
  while (true) {
    Waiting next;
    absl::Status status;
    {
      const absl::MutexLock lock(&mutex_);
      while (line_.empty() && !ending_) {
        idle.woken = false;
        idle_.push_back(&idle);
        while (!idle.woken) idle.wake.Wait(&mutex_);
      }
      if (line_.empty()) return;
      next = line_.Pop(&status);
    }
    if (next.request) {
      std::move(next.request)(status);
    } else {
      std::move(next.work)();
    }
  }
}

}  // namespace sonde
