// Threads for work that may block: writes that wait for the disk, changes of the catalog, long scans.  gRPC's
// own few threads must not.
#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace sonde {

class WorkerPool {
 public:
  WorkerPool(size_t threads, size_t queue_max);
  // Finishes what was submitted.
  ~WorkerPool();
  WorkerPool(const WorkerPool&) = delete;
  WorkerPool& operator=(const WorkerPool&) = delete;

  // False, and `work` is not run: the queue is full.
  [[nodiscard]] bool Submit(std::function<void()> work);

 private:
  void Run();

  const size_t queue_max_;
  std::mutex mutex_;
  std::condition_variable ready_;
  std::deque<std::function<void()>> queue_;  // guarded by mutex_
  bool ending_ = false;                      // guarded by mutex_
  std::vector<std::thread> threads_;
};

}  // namespace sonde
