// Reads that wait for their clients.  A scan under way keeps memory and files of the engine from being freed,
// so a read whose client takes nothing for a while gives them back.
//
// Threads: all functions may be called at once.
#pragma once

#include <thread>
#include <unordered_set>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"

namespace sonde {

class StalledReads {
 public:
  class Read {
   public:
    // Asked now and then, by another thread.  A read that has waited since before `since` gives back what it
    // can.
    virtual void SuspendIfWaiting(absl::Time since) = 0;

   protected:
    ~Read() = default;
  };

  explicit StalledReads(absl::Duration patience);
  // All reads must have been removed.
  ~StalledReads();
  StalledReads(const StalledReads&) = delete;
  StalledReads& operator=(const StalledReads&) = delete;

  void Add(Read* read);
  // When this returns, the read is not asked any more.
  void Remove(Read* read);

 private:
  void Run();

  const absl::Duration patience_;
  absl::Mutex mutex_;
  SteadyCondVar end_;
  std::unordered_set<Read*> reads_ ABSL_GUARDED_BY(mutex_);
  bool ending_ ABSL_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace sonde
