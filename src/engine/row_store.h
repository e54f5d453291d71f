// Tables of rows: the interface of the stores that keep cells, whether a map in memory, RocksDB, or a
// distributed store.
//
// A store promises: a change of one row is atomic; scans of ranges are in order; what was acknowledged
// survives the loss of power (unless the store was opened otherwise).  It promises nothing over several rows.
//
// Cells of an expiring family (model/expiring_family.h) come only to readers whose hints name the family, and
// may be gone once the family has expired.  All other promises hold for these families, too.
//
// Threads: all functions may be called at once.  A RowStream belongs to one caller at a time and must end
// before the store does.
//
// Errors of every function:
//   NOT_FOUND           there is no such table
//   UNAVAILABLE         the store is closing or stalled; nothing was applied; try again
//   UNKNOWN             nobody knows whether the change was applied: the answer of another machine or of the
//                       disk is missing
//   RESOURCE_EXHAUSTED  a budget or the disk is used up
//   INVALID_ARGUMENT    a cell is larger than this store keeps; its change was not applied
//   DATA_LOSS           a checksum did not match; do not try again
//   DEADLINE_EXCEEDED   the deadline had passed before anything was done; ScanOptions says how scans end
#pragma once

#include <cstddef>
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
#include "model/cell.h"
#include "model/gc_rule.h"
#include "model/mutation.h"
#include "model/read_hints.h"
#include "model/row_range.h"

namespace sonde {

// How a store that has a choice keeps the cells of a table.  The others ignore it.
enum class CellStorage : uint8_t {
  kPacked,        // the cells of quiet rows are packed together
  kPackedAtOnce,  // so are new cells.  Of two puts of one cell nobody knows which one stays
  kPlain,         // each cell by itself, as other programs that use the store read it
};

// The facts that a store has to know of a table.
struct TableSpec {
  struct Family {
    FamilyId id = 0;
    GcRule may_be_forgotten = {};  // cells that the store may drop for good; the empty rule: none
  };
  TableId id = 0;                     // given by the caller, in [1, 2^32 - 1), never used twice
  std::vector<Family> families = {};  // a store keeps cells of other families, too, and drops none of them
  std::vector<std::string> split_keys = {};    // ascending; where a new table may be divided from the start
  CellStorage storage = CellStorage::kPacked;  // of a new table; that of an old one stays
  // For how long records of the change log are read; 0: the table is not logged now.  A store may forget older ones by itself.
  int64_t log_kept_micros = 0;
};

// The cells of one family of a row, all of them together.
struct RowFamily {
  FamilyId family = 0;
  std::vector<CellView> cells;  // qualifier ascending, timestamp descending
};

// A change is refused, as ALREADY_EXISTS, if its row has a cell of this column that is not old.
struct RowGuard {
  std::vector<FamilyId> families;  // in any of them
  std::string_view qualifier;
  int64_t newest_old_micros = 0;  // a cell of this time, or an earlier one, is old
};

struct RowChange {
  std::string_view row_key;
  RowDelta delta;
  // It is looked at together with the change: no other change of the row comes between.  It does not see
  // changes of the same part.
  std::optional<RowGuard> guard = std::nullopt;
};

// Changes of rows, which the store pulls part by part, so that only one part has to be in memory.
class RowSource {
 public:
  // Returns the next part; nullopt: there is none.  The views of the part before may be gone from here on,
  // but for their row keys, which stay until the changes are applied.  It must neither call the store nor
  // wait.
  virtual std::optional<absl::Span<const RowChange>> Next() = 0;
  // Tells that a row is not changed (or may be, if `why` is UNKNOWN), though others may be.  `index` counts
  // the changes of all parts from 0.  It is called at most once a change, before Apply returns.
  virtual void OnRefused(size_t index, const absl::Status& why) = 0;

 protected:
  ~RowSource() = default;
};

struct WriteOptions {
  // DEADLINE_EXCEEDED: it had passed before anything was applied.
  absl::Time deadline = absl::InfiniteFuture();
  // Whether a change may keep the others waiting: for its row's lock, for space that is being made, or
  // because it is guarded or logged.  If not, such a change is refused as ABORTED, and so are later changes
  // of its row; nothing else is wrong with them.
  bool may_wait = true;
};

// A stretch of a table: where it ends and how much it holds.
struct RangeStats {
  std::string end_key;  // exclusive; empty for the last one
  uint64_t bytes = 0;   // on disk and in memory, approximately
};

// What a scan has cost its store so far.  A store that has no such things counts none.
struct ScanCost {
  int64_t pages = 0;        // that were opened
  int64_t block_reads = 0;  // reads of the disk, as no cache of the store had the block
};

class RowStore {
 public:
  virtual ~RowStore() = default;

  // --- Tables.  DEADLINE_EXCEEDED: the deadline had passed before anything was done.
  // Makes the table.  If the table exists, alters it as AlterTable does.  So a caller may repeat the call
  // after a crash, and tells a newly opened store what may be forgotten.
  virtual absl::Status CreateTable(const TableSpec& spec, absl::Time deadline = absl::InfiniteFuture()) = 0;
  // Changes which cells may be forgotten.  Split keys are ignored.  Families that `spec` leaves out keep
  // their cells.
  virtual absl::Status AlterTable(const TableSpec& spec, absl::Time deadline = absl::InfiniteFuture()) = 0;
  // Drops the table: later readers see none of its cells, nor of its change log; the space comes back in the
  // background.  A caller may repeat the call after a crash, also for a table that does not exist.  An open
  // stream may go on, end early, or answer NOT_FOUND.
  virtual absl::Status DropTable(TableId table, absl::Time deadline = absl::InfiniteFuture()) = 0;
  // Drops the cells of a family in the same way.  An open stream may go on with or without them.
  virtual absl::Status DropFamily(TableId table, FamilyId family,
                                  absl::Time deadline = absl::InfiniteFuture()) = 0;

  // --- Rows.
  struct ScanOptions {
    bool reverse = false;
    ReadHints hints;
    // A deadline that has passed is told by Scan or the first Next.  One that passes later is told by a later
    // Next, not always the next one: the clock is read from time to time, and `interrupted` is asked then.
    absl::Time deadline = absl::InfiniteFuture();
    // Not OK (CANCELLED) ends the scan with that status.  Null: nobody interrupts the scan.  Advisory.
    std::function<absl::Status()> interrupted;
    // Asked before an entry of kLargeBytes or more (base/large_room.h) is read, which takes kLargeReadCopies
    // times its bytes; an error ends the scan.  Null: the store takes a place for the entry, and waits for
    // that.
    std::function<absl::Status(size_t entry_bytes)> take_large;
    // The scan adds to it, from the thread that pulls.  Must outlive the stream.  Null: nobody asks.
    ScanCost* cost = nullptr;
  };
  // Rows of `ranges` (normal form, NormalizeRanges; none: no rows) in ascending order, or descending if
  // `reverse`, each at most once.  A row is one snapshot, not older than the call of Scan; the scan as a
  // whole is not.
  virtual absl::StatusOr<std::unique_ptr<RowStream>> Scan(TableId table, std::vector<RowRange> ranges,
                                                          ScanOptions options) = 0;

  // Applies the changes of `rows`, each row atomic.  Rows may repeat: later changes come after earlier ones.
  // The status of a change is what OnRefused was told of it, or else what Apply returns.
  virtual absl::Status Apply(TableId table, RowSource* rows, const WriteOptions& options) = 0;
  // Applies these changes.  Returns the first status that is not OK, if there is one.
  absl::Status Apply(TableId table, absl::Span<const RowChange> changes, const WriteOptions& options = {});

  // Reads a row, decides, and writes it; no other change of the row comes between.  `decide` sees the row's
  // cells that `hints` ask for (families in any order, each once, none without cells).  It returns the
  // change, or nothing to leave the row alone.  It must be pure, may run again, and must not call the store.
  // The cells that it sees are gone when it returns; the delta's views must outlive Update.  An error of
  // `decide` is Update's status, and changes nothing. FAILED_PRECONDITION: `decide` would see more than
  // kRowWholeBytesMax (model/limits.h) of the row.
  using Decide = std::function<absl::StatusOr<std::optional<RowDelta>>(const std::vector<RowFamily>& row)>;
  virtual absl::Status Update(TableId table, std::string_view row_key, const ReadHints& hints,
                              const Decide& decide, const WriteOptions& options = {}) = 0;

  // Deletes every row of the range; nothing is logged.  Not atomic with concurrent reads and writes.
  virtual absl::Status DropRange(TableId table, const RowRange& range,
                                 absl::Time deadline = absl::InfiniteFuture()) = 0;

  // Returns how the table is divided: ascending, at least one range; the last has an empty end_key.
  virtual absl::StatusOr<std::vector<RangeStats>> Ranges(TableId table,
                                                         absl::Time deadline = absl::InfiniteFuture()) = 0;
};

}  // namespace sonde
