// Remembers why a database takes no writes any more: a sync failed, or a table turned out to be damaged.
//
// After a failed sync nobody knows what is on the disk, and a second sync may succeed although data is lost.
// So writes stay refused until the directory is opened (and checked) again.  RocksDB recovers by itself from
// a full disk, and from too many open files (open_files.h).
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "engine/rocks/files/tell.h"
#include "rocksdb/listener.h"

namespace sonde {

class WriteStop {
 public:
  // `tell` is told when writes stop.
  explicit WriteStop(Tell tell) : state_(std::make_shared<State>()) { state_->tell = std::move(tell); }

  // Makes a listener for the options of a database.  The listener may outlive this; this must outlive the
  // database's last error.
  std::shared_ptr<rocksdb::EventListener> MakeListener(std::string database) const;

  // Lets writes go on in a database that is open though one of its tables is damaged: compactions that meet
  // the damage are given up.  Without this call, such a compaction stops writes.
  void GoOnWithDamage() { state_->goes_on_with_damage = true; }

  // OK while writes go on.  UNAVAILABLE: a file could not be written or synced.  DATA_LOSS: a compaction or
  // flush found a damaged file.
  absl::Status Check() const;

 private:
  class Listener;
  struct State {
    Tell tell;
    mutable absl::Mutex mutex;
    std::atomic<bool> stopped = false;
    std::atomic<bool> goes_on_with_damage = false;
    absl::Status why ABSL_GUARDED_BY(mutex);
    std::string compaction_told ABSL_GUARDED_BY(mutex);
  };

  const std::shared_ptr<State> state_;
};

}  // namespace sonde
