// Gives back the space of pages that are gone: that were dropped, have expired, or were made again.
//
// What is deleted stays in RocksDB's tables until a compaction comes by, and where nobody writes none does.
// A pass goes along the keys of pages, and compares what the tables hold with what the directory knows:
//
//   - Tables between two pages that follow each other in the directory are deleted as they are, which takes
//     no room.
//   - Ranges of which much is dead (kDeadShare) are compacted, if that rewrites no more than
//     kRewrittenPerFreed bytes for each that it frees.
//   - The directory is compacted when as many of its entries are gone as are left.
//
// Nothing is remembered from pass to pass, or over a restart.  A step is one range of keys of about one table
// that is measured, or one of kCompactedBytesMax at most, or one table more, that is compacted.
//
// Readers: what a snapshot sees, compactions keep, so that a step waits for those from before; and tables are
// deleted only when there are none (CellStore::ReadersSeePages).
//
// Threads: one at a time; Cancel and counts by any.
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

// Since the engine was opened.
struct SpaceCounts {
  uint64_t passes = 0;           // that ended
  uint64_t bytes_of_tables = 0;  // freed with tables that were deleted
  uint64_t bytes_compacted = 0;  // freed by compactions
  uint64_t bytes_dead = 0;       // that the last pass found besides these tables, about
};

class PageSpace {
 public:
  enum class Progress { kMore, kWaitsForReaders, kDone };

  // Both must outlive it.
  PageSpace(CellStore* store, Settling* settling) : store_(store), settling_(settling) {}

  // The next step of the pass that is under way, or the first one of another.  Without room nothing is
  // compacted.  Errors: DATA_LOSS the directory is damaged; those of the disk.
  // After one, the next step begins another pass.
  absl::StatusOr<Progress> Step(bool has_room);

  // Ends compactions that are under way, and lets none begin.
  void Cancel() { canceled_ = true; }

  SpaceCounts counts() const;

 private:
  // Keys [start, end).
  struct Range {
    std::string start, end;
    uint64_t stored_bytes = 0;  // in tables
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

  // Of the pass.
  bool under_way_ = false;
  bool at_end_ = false;
  rocksdb::ColumnFamilyMetaData tables_;  // as they were when it began
  std::string position_;                  // what lies before it was measured
  uint64_t directory_entries_ = 0;        // before it
  uint64_t dead_bytes_ = 0;               // likewise
  // Between which keys tables were deleted last.
  std::optional<std::pair<std::string, std::string>> freed_;
  std::optional<Range> found_;  // of which much is dead; may be continued
  std::optional<Range> ready_;  // is to be compacted
  uint64_t ready_since_ = 0;    // which sequence number was the last one then

  std::atomic<uint64_t> passes_ = 0, bytes_of_tables_ = 0, bytes_compacted_ = 0, bytes_dead_ = 0;
};

}  // namespace sonde
