#include "wire/call/stalled_reads.h"

#include "absl/time/clock.h"

namespace sonde {

StalledReads::StalledReads(absl::Duration patience) : patience_(patience), thread_([this] { Run(); }) {}

StalledReads::~StalledReads() {
  {
    const absl::MutexLock lock(&mutex_);
    ending_ = true;
  }
  end_.SignalAll();
  thread_.join();
}

void StalledReads::Add(Read* read) {
  const absl::MutexLock lock(&mutex_);
  reads_.insert(read);
}

void StalledReads::Remove(Read* read) {
  const absl::MutexLock lock(&mutex_);
  reads_.erase(read);
}

void StalledReads::Run() {
  const absl::MutexLock lock(&mutex_);
  while (!end_.WaitFor(&mutex_, patience_ / 4, absl::Condition(&ending_))) {
    const absl::Time since = absl::Now() - patience_;
    for (Read* read : reads_) read->SuspendIfWaiting(since);
  }
}

}  // namespace sonde
