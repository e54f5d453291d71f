// Edits of rows of one table that become one commit in the open head.  The head stays open until this ends.
//
// Belongs to one thread.  A commit's order: Add all changes, lock the rows, Commit.
#pragma once

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "engine/rocks/files/disk_guard.h"
#include "engine/rocks/log/change_log.h"
#include "engine/rocks/store/cell_store.h"
#include "engine/rocks/store/shape_dictionary.h"
#include "engine/row_store.h"
#include "rocksdb/write_batch.h"

namespace sonde {

bool AddsCells(const RowChange& change);
inline bool IsLogged(const RowChange& change) { return !change.delta.log.pieces.empty(); }
inline bool IsGuarded(const RowChange& change) { return change.guard.has_value(); }

class RowCommit {
 public:
  // All arguments must outlive this.
  RowCommit(CellStore* store, ShapeDictionary* shapes, DiskGuard* disk, TableId table)
      : store_(store), shapes_(shapes, table), disk_(disk), table_(table), head_(store) {}

  // Keeps views of the row keys.  RESOURCE_EXHAUSTED: the changes add cells, and the disk has no room for
  // any.
  absl::Status Add(absl::Span<const RowChange> changes);
  // To be called once.  Writes the edits with the records of `logged`, which are all of the changes or none
  // (`log` may then be null).  RESOURCE_EXHAUSTED: the disk has too little room for the edits.
  absl::Status Commit(ChangeLog* log, absl::Span<const RowChange> logged);

 private:
  void Append(const RowChange& change);

  CellStore* const store_;
  const LearningTableShapes shapes_;
  DiskGuard* const disk_;
  const TableId table_;
  CellStore::OpenHead head_;
  rocksdb::WriteBatch batch_;
  HeadLoad load_;
  CellStore::LongFragments long_fragments_;  // views into the row keys
  bool adds_cells_ = false;
};

}  // namespace sonde
