// Room for compactions of a database with large entries.  A compaction holds several copies of an entry at
// once, so it takes its place in the room for large work, as a write does.
#pragma once

#include <atomic>
#include <map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "base/large_room.h"
#include "engine/rocks/store/long_rows.h"
#include "rocksdb/listener.h"

namespace sonde {

// Threads: RocksDB's.
class LargeCompactions final : public rocksdb::EventListener {
 public:
  // `room` must outlive the database.
  explicit LargeCompactions(LargeRoom* room) : room_(room) {}

  // From now on the large entries are known.  `long_rows` must outlive the last compaction.
  void Start(const LongRows* long_rows) { long_rows_ = long_rows; }

  // Waits for its place, before writes do: the more tables a compaction has to merge, the more it takes.
  void OnCompactionBegin(rocksdb::DB* db, const rocksdb::CompactionJobInfo& job) override;
  void OnCompactionCompleted(rocksdb::DB* db, const rocksdb::CompactionJobInfo& job) override;

 private:
  LargeRoom* const room_;
  std::atomic<const LongRows*> long_rows_ = nullptr;
  absl::Mutex mutex_;
  std::map<int, LargeRoom::Place> places_ ABSL_GUARDED_BY(mutex_);  // by job
};

}  // namespace sonde
