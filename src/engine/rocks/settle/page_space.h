// Gives back the space of pages that are gone: dropped, expired, or made again.
//
// Deleted pages stay in RocksDB's tables until a compaction comes by, and none comes where nobody writes.  A
// pass goes along the keys of pages, and compares the pages in the tables with those in the directory:
//
//   - Tables between two pages that follow each other in the directory are deleted as they are, which takes
//     no room.
//   - Ranges with much dead data (kDeadShare) are compacted, if that rewrites no more than
//     kRewrittenPerFreed bytes for each byte that it frees.
//   - The directory is compacted when as many of its entries are gone as are left.
//
// Nothing is remembered from pass to pass, or over a restart.  A step measures a range of keys of about one
// table, or compacts a range of at most kCompactedBytesMax, or of one table if that is larger.
//
// Compactions keep all that a snapshot sees, so a step waits for the readers from before it.  Tables are
// deleted only when there are no such readers (CellStore::ReadersSeePages).
//
// Threads: one at a time; Cancel and counts may be called by any.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "engine/rocks/settle/settling.h"
#include "engine/rocks/store/cell_store.h"
#include "rocksdb/metadata.h"

namespace sonde {

// Sums since the engine was opened.
struct SpaceCounts {
  uint64_t passes = 0;           // that ended
  uint64_t bytes_of_tables = 0;  // freed with tables that were deleted
  uint64_t bytes_compacted = 0;  // freed by compactions
  uint64_t bytes_dead = 0;       // about how many the last pass found besides these tables
};

class PageSpace {
 public:
  enum class Progress { kMore, kWaitsForReaders, kDone };

  // Both must outlive this.
  PageSpace(CellStore* store, Settling* settling) : store_(store), settling_(settling) {}

  // Makes the next step of the current pass, or the first step of another.  Without room it compacts nothing.
  // DATA_LOSS: the directory is damaged.  Other errors: those of the disk.  After an error, the next step
  // begins another pass.
  absl::StatusOr<Progress> Step(bool has_room);

  // Ends current compactions, and lets none begin.
  void Cancel() { canceled_ = true; }

  SpaceCounts counts() const;

 private:
  // Keys [start, end).
  struct Range {
    std::string start, end;
    uint64_t stored_bytes = 0;  // bytes in tables
    uint64_t dead_bytes = 0;
  };

  absl::StatusOr<Progress> StepOfPass(bool has_room);
  void Begin();
  absl::StatusOr<Range> Measure();
  absl::Status FreeTables(const Range& range);
  absl::StatusOr<uint64_t> StoredBytes(const std::string& start, const std::string& end) const;
  uint64_t RewrittenBytes(const Range& range) const;
  bool IsWorthIt(const Range& range) const;
  absl::Status Compact(const Range& range);
  absl::Status CompactDirectory();

  CellStore* const store_;
  Settling* const settling_;
  std::atomic<bool> canceled_ = false;

  // The current pass.
  bool under_way_ = false;
  bool at_end_ = false;
  rocksdb::ColumnFamilyMetaData tables_;  // the tables at the pass' begin
  std::string position_;                  // all before it was measured
  uint64_t directory_entries_ = 0;        // before position_
  uint64_t dead_bytes_ = 0;               // before position_
  // The keys between which tables were deleted last.
  std::optional<std::pair<std::string, std::string>> freed_;
  std::optional<Range> found_;  // a range with much dead data; it may grow
  std::optional<Range> ready_;  // a range to be compacted
  uint64_t ready_since_ = 0;    // the last sequence number when ready_ was set

  std::atomic<uint64_t> passes_ = 0, bytes_of_tables_ = 0, bytes_compacted_ = 0, bytes_dead_ = 0;
};

}  // namespace sonde
