#include "upkeep/repeated_work.h"

#include <utility>

namespace sonde {

RepeatedWork::RepeatedWork(absl::Duration interval, std::function<absl::Status()> work,
                           std::function<void(const absl::Status& error)> tell_error)
    : interval_(interval),
      work_(std::move(work)),
      tell_error_(std::move(tell_error)),
      thread_([this] { Run(); }) {}

RepeatedWork::~RepeatedWork() {
  {
    const absl::MutexLock lock(&mutex_);
    is_stopping_ = true;
  }
  stops_.SignalAll();
  thread_.join();
}

void RepeatedWork::Run() {
  bool failed = false;
  while (true) {
    const absl::Status status = work_();
    if (!status.ok() && !failed) tell_error_(status);
    failed = !status.ok();
    const absl::MutexLock lock(&mutex_);
    if (stops_.WaitFor(&mutex_, interval_, absl::Condition(&is_stopping_))) return;
  }
}

}  // namespace sonde
