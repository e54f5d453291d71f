#include "wire/worker_pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "absl/time/clock.h"

namespace sonde {
namespace {

absl::Status CheckWait(absl::Duration waited, absl::Duration wait_max) {
  if (waited <= wait_max) return absl::OkStatus();
  return absl::UnavailableError(fmt::format(
      "The server is busy: requests wait for {} ms, and the limit is {} ms; nothing was done, try "
      "again",
      absl::ToInt64Milliseconds(waited), absl::ToInt64Milliseconds(wait_max)));
}

}  // namespace

WorkerPool::WorkerPool(size_t threads, Limits limits) : limits_(limits) {
  threads_.reserve(threads);
  for (size_t i = 0; i < threads; ++i) threads_.emplace_back([this] { Run(); });
}

WorkerPool::~WorkerPool() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
    while (!idle_.empty()) WakeOne();
  }
  for (std::thread& thread : threads_) thread.join();
}

absl::Duration WorkerPool::WaitMax(absl::Time now) const {
  const bool is_overloaded = !queue_.empty() && now - last_empty_ > limits_.wait;
  return is_overloaded ? std::min(limits_.wait_when_overloaded, limits_.wait) : limits_.wait;
}

absl::Status WorkerPool::Enqueue(Waiting* waiting, absl::Time now) {
  {
    std::lock_guard lock(mutex_);
    if (queue_.size() >= limits_.waiting) {
      return absl::UnavailableError(fmt::format(
          "The server is busy: {} requests are waiting, and that is the limit; nothing was done, try again",
          limits_.waiting));
    }
    if (waiting->request && !queue_.empty()) {
      absl::Status status = CheckWait(now - queue_.front().since, WaitMax(now));
      if (!status.ok()) return status;
    }
    if (queue_.empty()) last_empty_ = now;
    queue_.push_back(std::move(*waiting));
    if (!idle_.empty()) WakeOne();
  }
  return absl::OkStatus();
}

void WorkerPool::WakeOne() {
  Idle* const idle = idle_.back();
  idle_.pop_back();
  idle->woken = true;
  idle->wake.notify_one();
}

bool WorkerPool::Submit(Work work) {
  const absl::Time now = absl::Now();
  Waiting waiting{.work = std::move(work), .since = now};
  return Enqueue(&waiting, now).ok();
}

void WorkerPool::Submit(absl::Time deadline, Request request) {
  const absl::Time now = absl::Now();
  Waiting waiting{.request = std::move(request), .since = now, .deadline = deadline};
  if (absl::Status status = Enqueue(&waiting, now); !status.ok()) std::move(waiting.request)(status);
}

void WorkerPool::Run() {
  Idle idle;
  while (true) {
    Waiting next;
    absl::Status status;
    {
      std::unique_lock lock(mutex_);
      while (queue_.empty() && !ending_) {
        idle.woken = false;
        idle_.push_back(&idle);
        idle.wake.wait(lock, [&idle] { return idle.woken; });
      }
      if (queue_.empty()) return;
      const absl::Time now = absl::Now();
      const absl::Duration wait_max = WaitMax(now);
      next = std::move(queue_.front());
      queue_.pop_front();
      status = now < next.deadline
                   ? CheckWait(now - next.since, wait_max)
                   : absl::DeadlineExceededError("The deadline passed before the request's turn came");
    }
    if (next.request) {
      std::move(next.request)(status);
    } else {
      std::move(next.work)();
    }
  }
}

}  // namespace sonde
