// Keeps the inventory of a data directory true: writes it when files come or go, and once a second while
// there are writes.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "base/steady_cond_var.h"
#include "engine/rocks/files/inventory.h"
#include "engine/rocks/files/tell.h"
#include "rocksdb/db.h"
#include "rocksdb/listener.h"

namespace sonde {

class InventoryKeeper {
 public:
  // `tell` is told when an inventory cannot be written, and when it can again.  Writing is tried again; the
  // inventory before stays true.  It is called by a thread of the keeper's own.
  InventoryKeeper(rocksdb::Env* env, std::string data_dir, bool synced, absl::Duration interval, Tell tell);
  ~InventoryKeeper();  // calls Stop

  // Makes a listener for the options of a database that is not open yet.  It may outlive the keeper.
  std::shared_ptr<rocksdb::EventListener> MakeListener() const;

  // `databases`, by directory name, must stay open until Stop.  Writes the inventory once, then goes on in
  // the background.
  absl::Status Start(std::map<std::string, rocksdb::DB*> databases);
  // Syncs the logs and writes a last inventory, if Start was called.
  void Stop();

 private:
  class Listener;
  // State that is shared with the listeners.
  struct Wake {
    // Waits for `interval`, or until the keeper stops.  Returns whether it stops.
    bool Stops(absl::Duration interval) ABSL_LOCKS_EXCLUDED(mutex) {
      const absl::MutexLock lock(&mutex);
      return changed.WaitFor(&mutex, interval, absl::Condition(&stopping));
    }

    absl::Mutex mutex;
    SteadyCondVar changed;
    bool files_changed ABSL_GUARDED_BY(mutex) = false;
    bool stopping ABSL_GUARDED_BY(mutex) = false;
    // Number of databases that recover from a full disk.  The keeper leaves them alone: an error that they
    // meet meanwhile, such as from the sync of a log whose last write failed, would make them begin again.
    int recovering_count ABSL_GUARDED_BY(mutex) = 0;
  };

  absl::Status Write();
  absl::Status Describe(const std::string& name, rocksdb::DB* db, DatabaseInventory* result);
  bool HasNewWrites() const;
  void Run();

  rocksdb::Env* const env_;
  const std::string data_dir_;
  const bool synced_;
  const absl::Duration interval_;
  const Tell tell_;
  const std::shared_ptr<Wake> wake_ = std::make_shared<Wake>();
  std::map<std::string, rocksdb::DB*> databases_;
  // By database and log number: the sequence number with which the log begins.
  std::map<std::pair<std::string, uint64_t>, uint64_t> logs_begin_;
  Inventory written_;
  bool failed_ = false;  // the last inventory could not be written
  std::thread thread_;
};

}  // namespace sonde
