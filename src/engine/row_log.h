// The change logs of tables: the records of their changes, as they were committed.
//
// A delta with a LogRecord (model/mutation.h) is one commit with it: the record is in the log if and only if
// the change was applied, before and after any crash.  A log is divided into partitions, ranges of row keys.
// Within a partition every record has a position of its own, greater than the positions of the records that
// were there when its commit began; records of one row lie in the order in which its changes were applied.
// Writers commit at once, so a record may appear below one that is seen already.  But it never appears at or
// below the partition's frontier: a reader that reads no further than the frontier misses nothing.
//
// Threads: all functions may be called at once.  Errors: those of row_store.h.
#pragma once

#include <cstdint>
#include <functional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/cell.h"
#include "model/row_range.h"

namespace sonde {

class RowLog {
 public:
  struct Piece {
    int64_t position = 0;    // the record's position; positive
    uint32_t index = 0;      // the piece's index in the record, from 0
    std::string_view bytes;  // gone when the visit is over
  };

  struct End {
    // The log is complete up to here: no record of the partition will appear at or below this position.  It
    // never goes back, and a restart does not take it back: it then starts at the last record, or at what was
    // told before, and after a crash up to a second above that.  It is at least the requested position, unless
    // a write is under way below that or the disk takes no writes; later writes go above.
    // A store that several servers share tells what it knew some seconds ago: there the frontier follows the clock,
    // whatever is requested, and two servers may tell different ones, both of them true.
    int64_t frontier = 0;
    // The greatest position that a record has or is about to have; 0 when none is known.  A store that does not know
    // says the frontier: then there may be none at or below it.
    int64_t last_record = 0;
  };
  virtual absl::StatusOr<End> FindEnd(TableId table, const RowRange& partition, int64_t frontier_min,
                                      absl::Time deadline = absl::InfiniteFuture()) = 0;

  // Calls `visit` with the pieces of the partition's records in [start, through], ascending, from the piece
  // `start_index` of the record at `start` on, until it returns false.  Records of other partitions may be
  // among them.  `visit` must not call the store.
  virtual absl::Status Read(TableId table, const RowRange& partition, int64_t start, uint32_t start_index,
                            int64_t through, const std::function<bool(const Piece&)>& visit,
                            absl::Time deadline = absl::InfiniteFuture()) = 0;

  // Forgets the records of the table below `position`; some may stay for a while.
  virtual absl::Status Trim(TableId table, int64_t position,
                            absl::Time deadline = absl::InfiniteFuture()) = 0;

 protected:
  ~RowLog() = default;
};

}  // namespace sonde
