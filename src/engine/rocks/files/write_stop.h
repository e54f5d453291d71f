// Remembers why a database takes no writes any more: a sync that failed, a table that turned out damaged.
//
// After a failed sync nobody knows what is on the disk, and asking again may say that all is well though it
// is not; so writes stay refused until the directory is opened (and checked) again.  RocksDB recovers by
// itself from a full disk, and when there were too many open files (open_files.h).
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

  // For the options of a database; it may outlive this, which must outlive the database's last error.
  std::shared_ptr<rocksdb::EventListener> MakeListener(std::string database) const;

  // For a database that is open though a table of it is damaged: compactions that come upon damage are given
  // up, and writes go on.  Otherwise that stops them.
  void GoOnWithDamage() { state_->goes_on_with_damage = true; }

  // OK while writes go on.  UNAVAILABLE: a file could not be written or synced.  DATA_LOSS: a file is
  // damaged, which a compaction or flush came upon.
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
