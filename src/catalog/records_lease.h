// The time for which a server may go by the records that it has read, if other servers write records, too.
//
// A server reads the store's version of all records (RecordStore::RecordsVersion), and then goes by what it
// has read for the time of the lease, counted from before it asked.  A server that writes records waits for as
// long before it says that they are written (WaitUntilSeen): by then every other server has read them, or has
// stopped going by the old ones.  Only the rates of the servers' clocks matter, not what the clocks show.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <thread>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"
#include "engine/record_store.h"

namespace sonde {

class RecordsLease {
 public:
  // `store` must outlive this.  `reload` reads the records; one thread at a time calls it, from Refresh or the
  // lease's own thread, and it must not call the lease.  The first Refresh is the caller's.
  RecordsLease(RecordStore* store, absl::Duration time, std::function<absl::Status()> reload);
  ~RecordsLease();
  RecordsLease(const RecordsLease&) = delete;
  RecordsLease& operator=(const RecordsLease&) = delete;

  // Asks the store whether records have changed, and reloads them if so.  An error of the store or of
  // `reload`; UNAVAILABLE: the answer took longer than the lease.
  absl::Status Refresh();
  // Does the same, unless the lease lasts.  Cheap while it does, which the lease's thread sees to.
  absl::Status Ensure();
  // Waits until every server goes by the records that were written before this call.
  void WaitUntilSeen() const;

 private:
  bool Lasts() const;
  void Run();

  RecordStore* const store_;
  const absl::Duration time_;
  const std::function<absl::Status()> reload_;
  std::atomic<std::chrono::steady_clock::time_point> valid_until_{
      std::chrono::steady_clock::time_point::min()};
  absl::Mutex mutex_;                            // held through a look at the store
  int64_t version_ ABSL_GUARDED_BY(mutex_) = 0;  // of the records that were loaded; 0: of none
  absl::Mutex ending_mutex_;
  SteadyCondVar end_;
  bool ending_ ABSL_GUARDED_BY(ending_mutex_) = false;
  std::thread thread_;
};

}  // namespace sonde
