// What Sonde asks of whatever keeps the cells: rows, not keys and values, so that RocksDB, a map in memory
// and a distributed store all fit.  Promised: atomicity within a row, ordered range scans.  Not promised:
// anything over several rows.  docs/architecture.md, "The engine".
//
// Above the engine, once: names, limits, garbage-collection visibility, filters, the order of mutations.
// Below: durability.  When Apply or Update has answered OK, the change survives the loss of power (unless the
// engine was opened otherwise).
//
// Cells of an expiring family (model/expiring_family.h) come only to those whose hints name it, and may be
// gone once it has expired; all else that is said of families holds for them, too.
//
// Threads: all functions may be called at once.  A RowStream belongs to one caller at a time and must end
// before the engine does.
//
// Errors, everywhere: NOT_FOUND no such table; UNAVAILABLE closing or stalled, nothing was applied, try
// again; RESOURCE_EXHAUSTED a budget or the disk; DATA_LOSS a checksum did not match, do not try again;
// DEADLINE_EXCEEDED.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "metrics/figure.h"
#include "model/cell.h"
#include "model/mutation.h"
#include "model/read_hints.h"
#include "model/row_range.h"

namespace sonde {

// One row's cells, gathered: for Update.
struct RowFamily {
  FamilyId family = 0;
  std::vector<CellView> cells;  // qualifier ascending, timestamp descending
};

struct RowChange {
  std::string_view row_key;
  RowDelta delta;
};

// A stretch of a table: where it ends and how much it holds.
struct RangeStats {
  std::string end_key;  // exclusive; empty for the last one
  uint64_t bytes = 0;   // on disk and in memory, approximately
};

class Engine {
 public:
  virtual ~Engine() = default;

  // --- Small durable records, for the catalog.  Keys ascending by bytes; a batch is atomic and durable.
  struct RecordChange {
    std::string key;
    std::optional<std::string> value;  // nullopt: deleted
  };
  virtual absl::Status WriteRecords(const std::vector<RecordChange>& changes) = 0;
  virtual absl::StatusOr<std::vector<std::pair<std::string, std::string>>> ReadRecords(
      std::string_view prefix) = 0;

  // --- Tables.  The ids are the caller's, in [1, 2^32 - 1), and are never used twice.
  // Repeating it (after a crash) is fine: what is there stays.
  virtual absl::Status CreateTable(TableId table) = 0;
  // All cells, and the change log, are gone at once for readers that come after; the space comes back in the
  // background. Repeating it (after a crash) is fine, also for a table that is not there.  A stream that was
  // open may go on, end early, or answer NOT_FOUND.
  virtual absl::Status DropTable(TableId table) = 0;
  // Likewise for the cells of a family, but NOT_FOUND when there is no such table.  A stream that was open
  // may go on with or without them.
  virtual absl::Status DropFamily(TableId table, FamilyId family) = 0;

  // --- Rows.
  // Rows of `ranges` (normal form, NormalizeRanges; none: no rows) in ascending order, or descending if
  // `reverse`, each at most once.  A row is one snapshot, not older than the call of Scan; the scan as a
  // whole is not.  A deadline that has passed is told by Scan or the first Next; one that passes later, by a
  // later Next, not always the next one: the clock is read from time to time, and `interrupted` asked.
  struct ScanOptions {
    bool reverse = false;
    ReadHints hints;
    absl::Time deadline = absl::InfiniteFuture();
    // Not OK (CANCELLED) ends the scan with that; unset: nobody interrupts it.  Advisory.
    std::function<absl::Status()> interrupted;
    // Asked before an entry of so many bytes, of kLargeBytes or more (base/large_room.h), is read, which
    // takes kLargeReadCopies times as much; an error ends the scan.  Null: the engine takes
    // a place for it, and waits for that.
    std::function<absl::Status(size_t entry_bytes)> take_large;
  };
  virtual absl::StatusOr<std::unique_ptr<RowStream>> Scan(TableId table, std::vector<RowRange> ranges,
                                                          ScanOptions options) = 0;

  // Applies each change; all in one commit.  Rows may repeat: later changes come after earlier ones.
  virtual absl::Status Apply(TableId table, absl::Span<const RowChange> changes) = 0;

  // Applies the changes of each part that `next` gives, until it gives none, all in one commit, as Apply
  // would all of them at once.  None is logged.  What a part views may be gone when the next one is asked
  // for, so that of many only one has to be in memory at a time; but row keys stay until this is done. `next`
  // must not call the engine, nor wait.  ABORTED: some cannot be part of the commit now, nothing was applied;
  // Apply each part by itself.
  using NextChanges = std::function<std::optional<absl::Span<const RowChange>>()>;
  virtual absl::Status ApplyParts(TableId table, const NextChanges& next) = 0;

  // Atomic read-modify-write of one row.  `decide` sees the row's cells of `hints` (families in any order,
  // each once; none without cells) and returns the change, or nothing to leave the row alone.  It is pure,
  // may run again and must not call the engine.  What it sees is gone when it returns; the delta's views must
  // outlive Update.  An error of `decide` is Update's answer and changes nothing.  FAILED_PRECONDITION: the
  // row has more than kRowWholeBytesMax (model/limits.h) of what it would see.
  using Decide = std::function<absl::StatusOr<std::optional<RowDelta>>(const std::vector<RowFamily>& row)>;
  virtual absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints,
                              const Decide& decide) = 0;

  // Deletes every row of the range; nothing is logged.  Not atomic with concurrent reads and writes.
  virtual absl::Status DropRange(TableId table, const RowRange& range) = 0;

  // Ascending, at least one; the last has an empty end_key.
  virtual absl::StatusOr<std::vector<RangeStats>> Ranges(TableId table) = 0;

  // Makes `directory`, which must not be there, a copy of one table with its change log, of one moment: what
  // was acknowledged before the call is in it, and of what is written meanwhile all that came before whatever
  // is.  Other tables and records are not.  Reads and writes go on.  The copy is what the engine opens.
  // FAILED_PRECONDITION: the directory is there, or cannot be made.  UNIMPLEMENTED: the engine has no files.
  virtual absl::Status Checkpoint(TableId table, const std::string& directory) = 0;

  // How close it is to refusing writes as UNAVAILABLE: 0 at ease, 1 when it may.  From 0.5 on, whoever can
  // should write less.  Cheap.
  virtual double WritePressure() const = 0;

  // Whether a write to this row would have to wait for now, though writes to others would not.  Cheap; it may
  // be otherwise at once.
  virtual bool RowMustWait([[maybe_unused]] TableId table, [[maybe_unused]] std::string_view row_key) {
    return false;
  }

  // About how many bytes lie in [starts[0], starts[1]), ..., [starts.back(), end), on disk and in memory.
  // `starts` ascending, at least one; `end` empty: the end of the table.  Of ranges that are small, blocks of
  // files count where they begin; what was deleted or moved counts until its space is given back.  Cost: some
  // lookups in indexes a range.
  virtual absl::StatusOr<std::vector<uint64_t>> MeasureRows(TableId table,
                                                            const std::vector<std::string>& starts,
                                                            const std::string& end) = 0;

  // --- The change log of a table: the records of its changes, as they were committed.
  //
  // A delta with a LogRecord is one commit with it: the record is in the log if and only if the change was
  // applied, before and after any crash.  Every record has a position of its own, greater than those of the
  // records that were there when its commit began; records of one row lie in the order in which its changes
  // were applied.  Writers commit at once, so a record may appear below one that is seen already, but never
  // at or below the frontier: who reads no further than that misses nothing.
  struct LogPiece {
    int64_t position = 0;    // of the record; positive
    uint32_t index = 0;      // of the piece in it, from 0
    std::string_view bytes;  // gone when the visit is over
  };

  struct LogEnd {
    // Up to where the log is complete: no record will appear at or below this position.  Never goes back, and
    // is at least the position that was asked for, unless a write is under way below that: later ones go
    // above.
    int64_t frontier = 0;
    // The greatest position that a record has or is about to have; 0 when none is known.
    int64_t last_record = 0;
  };
  // After a restart the frontier starts at the last record.
  virtual absl::StatusOr<LogEnd> FindLogEnd(TableId table, int64_t frontier_min) = 0;

  // Calls `visit` with the pieces of the records in [start, through], ascending, from the piece `start_index`
  // of the record at `start` on, until it returns false.  It must not call the engine.
  virtual absl::Status ReadLog(TableId table, int64_t start, uint32_t start_index, int64_t through,
                               const std::function<bool(const LogPiece&)>& visit) = 0;

  // Forgets the records below `position`.
  virtual absl::Status TrimLog(TableId table, int64_t position) = 0;

  // --- What the engine tells of itself: its memory, its files, its work in the background.  What cannot be
  // told now is left out.  Cheap enough for once a second.
  virtual std::vector<Figure> Figures() const = 0;

  // OK while writes go on; else why they have stopped: until the store is opened again, or for now.  Writes
  // nothing that is read, and may wait for as long as a write.
  virtual absl::Status CheckWrites() { return absl::OkStatus(); }
};

}  // namespace sonde
