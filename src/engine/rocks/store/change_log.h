// The change logs of all tables: a column family of the cells' database, so that a record and its change are
// one commit.
//
// Positions are given before the commit is written, while its rows are locked; until it is written they are
// under way, and the frontier stays below them.  What is written is seen at once, so nothing can appear at or
// below the frontier.
//
// Keys: table id (4 bytes), position (8 bytes), index of the piece (4 bytes), big-endian; values: the piece
// (docs/formats/data-directory.md).
#pragma once

#include <cstdint>
#include <functional>
#include <set>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "engine/row_log.h"
#include "engine/row_store.h"
#include "rocksdb/db.h"
#include "rocksdb/write_batch.h"

namespace sonde {

class ChangeLog {
 public:
  // Both must outlive this.
  ChangeLog(rocksdb::DB* db, rocksdb::ColumnFamilyHandle* column_family)
      : db_(db), column_family_(column_family) {}

  // The positions of one commit, under way until this ends: after the commit was written, or given up.
  class Commit {
   public:
    explicit Commit(ChangeLog* log) : log_(log) {}
    ~Commit();
    Commit(const Commit&) = delete;
    Commit& operator=(const Commit&) = delete;

    // Once: gives the records positions and adds them to the batch.  The changes' rows must be locked.
    absl::Status Add(TableId table, absl::Span<const RowChange> changes, rocksdb::WriteBatch* batch);

   private:
    ChangeLog* const log_;
    TableId table_ = 0;
    int64_t first_position_ = 0;  // 0: nothing is under way
  };

  // As RowLog's, of all partitions.
  absl::StatusOr<RowLog::End> FindEnd(TableId table, int64_t frontier_min);
  absl::Status Read(TableId table, int64_t start, uint32_t start_index, int64_t through,
                    const std::function<bool(const RowLog::Piece&)>& visit) const;
  absl::Status Trim(TableId table, int64_t position);
  // Gives the space of a table back that nobody reads any more.
  absl::Status Drop(TableId table);

 private:
  struct Positions {
    int64_t last = 0;  // given to a record, or passed over for a frontier
    int64_t last_record = 0;
    std::set<int64_t> under_way;  // the first of each commit
  };
  // Learns the last position from the log when the table is first asked for.
  absl::StatusOr<Positions*> Find(TableId table) ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  absl::Status DeleteBetween(const std::string& start, const std::string& end);

  rocksdb::DB* const db_;
  rocksdb::ColumnFamilyHandle* const column_family_;
  absl::Mutex mutex_;
  absl::flat_hash_map<TableId, Positions> tables_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde
