#include "web/http/work_queue.h"

#include <utility>

namespace sonde {

WorkQueue::WorkQueue(size_t threads, size_t urgent_threads) : threads_for_all_(threads) {
  for (size_t i = 0; i < threads + urgent_threads; ++i) {
    threads_.emplace_back([this, takes_all = i < threads] { Run(takes_all); });
  }
}

WorkQueue::~WorkQueue() {
  {
    const absl::MutexLock lock(&mutex_);
    is_ending_ = true;
    has_task_.SignalAll();
    has_urgent_task_.SignalAll();
  }
  for (std::thread& thread : threads_) thread.join();
}

void WorkQueue::Add(std::function<void()> task, bool is_urgent) {
  const absl::MutexLock lock(&mutex_);
  (is_urgent ? urgent_ : usual_).push_back(std::move(task));
  has_task_.Signal();
  if (is_urgent) has_urgent_task_.Signal();
}

bool WorkQueue::IsQuiet() const {
  const absl::MutexLock lock(&mutex_);
  return urgent_.empty() && usual_.empty() && 2 * idle_for_all_ >= threads_for_all_;
}

void WorkQueue::Run(bool takes_all) {
  while (true) {
    std::function<void()> task;
    {
      const absl::MutexLock lock(&mutex_);
      while (!is_ending_ && urgent_.empty() && (!takes_all || usual_.empty())) {
        idle_for_all_ += takes_all ? 1 : 0;
        (takes_all ? has_task_ : has_urgent_task_).Wait(&mutex_);
        idle_for_all_ -= takes_all ? 1 : 0;
      }
      std::deque<std::function<void()>>& tasks = urgent_.empty() && takes_all ? usual_ : urgent_;
      if (tasks.empty()) return;
      task = std::move(tasks.front());
      tasks.pop_front();
    }
    task();
  }
}

}  // namespace sonde
