// Sweeps backups now and then, from its start until its end.
#pragma once

#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "backup/store/backups.h"
#include "base/steady_cond_var.h"

namespace sonde {

class BackupSweeper {
 public:
  // Sweeps at once, and then every `interval`.  `tell_error` is told the first of errors in a row, by a thread of its own.
  // `backups` must outlive this.
  BackupSweeper(Backups* backups, absl::Duration interval,
                std::function<void(const absl::Status& error)> tell_error);
  ~BackupSweeper();

 private:
  void Run();

  Backups* const backups_;
  const absl::Duration interval_;
  const std::function<void(const absl::Status& error)> tell_error_;
  absl::Mutex mutex_;
  SteadyCondVar stops_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;  // last, as it uses the others
};

}  // namespace sonde
