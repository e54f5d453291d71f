#include "wire/call/stalled_reads.h"

#include "absl/time/clock.h"

namespace sonde {

StalledReads::StalledReads(absl::Duration patience) : patience_(patience), thread_([this] { Run(); }) {}

StalledReads::~StalledReads() {
  {
    std::lock_guard lock(mutex_);
    ending_ = true;
  }
  end_.notify_all();
  thread_.join();
}

void StalledReads::Add(Read* read) {
  std::lock_guard lock(mutex_);
  reads_.insert(read);
}

void StalledReads::Remove(Read* read) {
  std::lock_guard lock(mutex_);
  reads_.erase(read);
}

void StalledReads::Run() {
  const auto pause = absl::ToChronoMilliseconds(patience_ / 4);
  std::unique_lock lock(mutex_);
  while (!end_.wait_for(lock, pause, [this] { return ending_; })) {
    const absl::Time since = absl::Now() - patience_;
    for (Read* read : reads_) read->SuspendIfWaiting(since);
  }
}

}  // namespace sonde
