#include "wire/worker_pool.h"

#include <fmt/format.h>

#include <utility>

#include "absl/time/clock.h"

namespace sonde {

WorkerPool::WorkerPool(size_t threads, Limits limits) : limits_(limits) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  ready_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

bool WorkerPool::Enqueue(Waiting* waiting) {
  {
    std::lock_guard lock(mutex_);
    if (queue_.size() >= limits_.waiting) return false;
    queue_.push_back(std::move(*waiting));
  }
  ready_.notify_one();
  return true;
}

bool WorkerPool::Submit(Work work) {
  Waiting waiting{.work = std::move(work)};
  return Enqueue(&waiting);
}

void WorkerPool::Submit(absl::Time deadline, Request request) {
  Waiting waiting{.request = std::move(request), .since = absl::Now(), .deadline = deadline};
  if (Enqueue(&waiting)) return;
  std::move(waiting.request)(absl::UnavailableError(fmt::format(
      "The server is busy: {} requests are waiting, and that is the limit; nothing was done, try again",
      limits_.waiting)));
}

absl::Status WorkerPool::CheckTime(const Waiting& waiting) const {
  const absl::Time now = absl::Now();
  if (now >= waiting.deadline)
    return absl::DeadlineExceededError("The deadline passed before the request's turn came");
  const absl::Duration waited = now - waiting.since;
  if (waited <= limits_.wait) return absl::OkStatus();
  return absl::UnavailableError(
      fmt::format("The server is busy: the request has waited for {} ms, and the limit is {} ms; nothing was "
                  "done, try again",
                  absl::ToInt64Milliseconds(waited), absl::ToInt64Milliseconds(limits_.wait)));
}

void WorkerPool::Run() {
  while (true) {
    Waiting next;
    {
      std::unique_lock lock(mutex_);
      ready_.wait(lock, [this] { return ending_ || !queue_.empty(); });
      if (queue_.empty()) return;
      next = std::move(queue_.front());
      queue_.pop_front();
    }
    if (next.request) {
      std::move(next.request)(CheckTime(next));
    } else {
      std::move(next.work)();
    }
  }
}

}  // namespace sonde
