// Keeps the inventory of a data directory true: writes it when files come or go, and while there are writes,
// once a second.
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
  // `tell` is told when an inventory cannot be written (it is tried again; the one before stays true),
  // and when it can again.  From a thread of its own.
  InventoryKeeper(rocksdb::Env* env, std::string data_dir, bool synced, absl::Duration interval, Tell tell);
  ~InventoryKeeper();  // as Stop

  // For the options of a database, before it is opened.  It may outlive the keeper.
  std::shared_ptr<rocksdb::EventListener> MakeListener() const;

  // `databases`: by directory name; they must stay open until Stop.  Writes the inventory once, then goes on
  // in the background.
  absl::Status Start(std::map<std::string, rocksdb::DB*> databases);
  // Syncs the logs and writes a last inventory, if it was started.
  void Stop();

 private:
  class Listener;
  // Shared with the listeners.
  struct Wake {
    // Waits for `interval`, or until the keeper stops: whether it does.
    bool Stops(absl::Duration interval) ABSL_LOCKS_EXCLUDED(mutex) {
      const absl::MutexLock lock(&mutex);
      return changed.WaitFor(&mutex, interval, absl::Condition(&stopping));
    }

    absl::Mutex mutex;
    SteadyCondVar changed;
    bool files_changed ABSL_GUARDED_BY(mutex) = false;
    bool stopping ABSL_GUARDED_BY(mutex) = false;
    // Databases that recover from a full disk.  An error that they meet meanwhile, as a sync of a log whose
    // last write failed, would make them begin again: the keeper leaves them alone.
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
  // With which sequence number a log begins, by database and number.
  std::map<std::pair<std::string, uint64_t>, uint64_t> logs_begin_;
  Inventory written_;
  bool failed_ = false;  // to write it, the last time
  std::thread thread_;
};

}  // namespace sonde
