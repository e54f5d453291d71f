// The change logs of all tables: a column family of the cells' database, so that a record and its change are
// one commit.
//
// Positions are given before the commit is written, while its rows are locked.  Until the commit is written
// they are under way, and the frontier stays below them.  Written records are seen at once, so nothing can
// appear at or below the frontier, whatever the clock shows after a restart (told_frontier.h).
//
// Threads: all functions may be called at once.
//
// Keys: table id (4 bytes), position (8 bytes), index of the piece (4 bytes), big-endian; values: the piece
// (docs/formats/data-directory.md).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "engine/rocks/log/told_frontier.h"
#include "engine/row_log.h"
#include "engine/row_store.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"

namespace sonde {

class ChangeLog {
 public:
  // Both must outlive this.  `syncs`: as ToldFrontier's.  DATA_LOSS: what is known of the logs is damaged.
  static absl::StatusOr<std::unique_ptr<ChangeLog>> Open(rocksdb::DB* db,
                                                         rocksdb::ColumnFamilyHandle* column_family,
                                                         bool syncs);

  // The positions of one commit.  They are under way until this ends, which must be after the commit was
  // written or given up.
  class Commit {
   public:
    explicit Commit(ChangeLog* log) : log_(log) {}
    ~Commit();
    Commit(const Commit&) = delete;
    Commit& operator=(const Commit&) = delete;

    // To be called once.  Gives the records positions and adds them to the batch.  The changes' rows must be
    // locked.
    absl::Status Add(TableId table, absl::Span<const RowChange> changes, rocksdb::WriteBatch* batch);

   private:
    ChangeLog* const log_;
    TableId table_ = 0;
    int64_t first_position_ = 0;  // 0: nothing is under way
  };

  // As RowLog's, for all partitions together.  The frontier stays where it was if the disk takes no writes.
  absl::StatusOr<RowLog::End> FindEnd(TableId table, int64_t frontier_min);
  absl::Status Read(TableId table, int64_t start, uint32_t start_index, int64_t through,
                    const std::function<bool(const RowLog::Piece&)>& visit) const;
  absl::Status Trim(TableId table, int64_t position);
  // Gives back the space of a table's log that nobody reads any more.
  absl::Status Drop(TableId table);

 private:
  ChangeLog(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family, bool syncs)
      : db_(db), column_family_(column_family), told_(db, column_family, syncs) {}

  struct Positions {
    int64_t last = 0;  // the last position that was given to a record, or passed over for a frontier
    int64_t last_record = 0;
    std::set<int64_t> under_way;  // the first position of each commit
  };
  // Finds the table's positions.  The first call for a table learns its last position from the log, and from what was told.
  absl::StatusOr<Positions*> Find(TableId table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status DeleteBetween(const std::string& start, const std::string& end);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const column_family_;
  ToldFrontier told_;
  absl::Mutex mutex_;
  absl::flat_hash_map<TableId, Positions> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
