// Work that is done now and then by a thread of its own, from its start until its end.
#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"

namespace sonde {

class RepeatedWork {
 public:
  // Does the work at once, and then `interval` after each end of it.  `tell_error` is told the first of errors in a row.  Both
  // are called by the thread, and their objects must outlive this.
  RepeatedWork(absl::Duration interval, std::function<absl::Status()> work,
               std::function<void(const absl::Status& error)> tell_error);
  // Waits for work that is under way.
  ~RepeatedWork();

 private:
  void Run();

  const absl::Duration interval_;
  const std::function<absl::Status()> work_;
  const std::function<void(const absl::Status& error)> tell_error_;
  absl::Mutex mutex_;
  SteadyCondVar stops_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, as it uses the others
};

}  // namespace sonde
