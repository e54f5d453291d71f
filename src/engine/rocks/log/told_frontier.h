// How far the frontiers of change logs may have been told (engine/row_log.h): a bound on the disk that is never below what was told.
//
// Whoever was told a frontier has noted that nothing comes at or below it.  After a restart the clock may stand still or be set
// back, and the log's records may end below the frontier; so the bound says where positions go on.  It is one bound for all tables,
// written ahead in steps: a write a step of the clock while somebody follows a log, and none for a change.  A session that ends
// leaves the bound at what it told; a crash leaves it ahead by a step at most.
//
// Threads: all functions may be called at once, but for Load.
// Errors: a bound that cannot be written holds the frontiers back; it is no error.
#pragma once

#include <cstdint>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "rocksdb/db.h"

namespace sonde {

class ToldFrontier {
 public:
  // Both must outlive this.  `syncs`: the bound is on the disk before a frontier is told, as changes are before they are acknowledged.
  ToldFrontier(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family, bool syncs)
      : db_(db), column_family_(column_family), syncs_(syncs) {}
  ~ToldFrontier();
  ToldFrontier(const ToldFrontier&) = delete;
  ToldFrontier& operator=(const ToldFrontier&) = delete;

  // To be called once, before all else.  Waits until the clock is at the bound, a step at most.  DATA_LOSS: the bound is damaged.
  absl::Status Load();

  // The greatest frontier that sessions before this one may have told.
  int64_t before() const { return before_; }

  // Returns what may be told of `frontier`: all of it, or less if the bound cannot be written.  Never less than it has returned for
  // a smaller one.
  int64_t Allow(int64_t frontier);

 private:
  bool Write(int64_t bound);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const column_family_;
  const bool syncs_;
  int64_t before_ = 0;
  absl::Mutex mutex_;  // held while the bound is written
  int64_t bound_ ABSL_GUARDED_BY(mutex_) = 0;
  int64_t told_ ABSL_GUARDED_BY(mutex_) = 0;
};

}  // namespace sonde
