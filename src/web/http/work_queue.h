// Tasks for a fixed number of threads, some of which only take what is urgent.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"

namespace sonde {

class WorkQueue {
 public:
  // All threads take urgent tasks, and take them first.
  WorkQueue(size_t threads, size_t urgent_threads);
  // Does what is there, takes nothing more.
  ~WorkQueue();

  // Whoever adds bounds how many there are.
  void Add(std::function<void()> task, bool is_urgent);
  // Whether no task waits, and half of the threads that take all have none.
  bool IsQuiet() const;

 private:
  void Run(bool takes_all);

  const size_t threads_for_all_;
  mutable absl::Mutex mutex_;
  std::deque<std::function<void()>> urgent_ ABSL_GUARDED_BY(mutex_);
  std::deque<std::function<void()>> usual_ ABSL_GUARDED_BY(mutex_);
  size_t idle_for_all_ ABSL_GUARDED_BY(mutex_) = 0;
  bool is_ending_ ABSL_GUARDED_BY(mutex_) = false;
  absl::CondVar has_task_;         // for threads that take all
  absl::CondVar has_urgent_task_;  // for the others
  std::vector<std::thread> threads_;
};

}  // namespace sonde
