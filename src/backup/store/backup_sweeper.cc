#include "backup/store/backup_sweeper.h"

#include <utility>

namespace sonde {

BackupSweeper::BackupSweeper(Backups* backups, absl::Duration interval,
                             std::function<void(const absl::Status& error)> tell_error)
    : backups_(backups),
      interval_(interval),
      tell_error_(std::move(tell_error)),
      thread_([this] { Run(); }) {}

BackupSweeper::~BackupSweeper() {
  {
    const absl::MutexLock lock(&mutex_);
    is_stopping_ = true;
  }
  stops_.SignalAll();
  thread_.join();
}

void BackupSweeper::Run() {
  bool failed = false;
  while (true) {
    const absl::Status status = backups_->Sweep();
    if (!status.ok() && !failed) tell_error_(status);
    failed = !status.ok();
    const absl::MutexLock lock(&mutex_);
    if (stops_.WaitFor(&mutex_, interval_, absl::Condition(&is_stopping_))) return;
  }
}

}  // namespace sonde
