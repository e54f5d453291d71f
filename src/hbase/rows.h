// Reads and changes of rows of a cluster's tables.
//
// A call waits in its caller's thread: for regions to be found, for answers, and between tries.  Calls to several servers are under way
// at once, and no call takes a thread of its own.
//
// Threads: all functions may be called at once.
// Errors of all: NOT_FOUND: there is no such table.  UNAVAILABLE: the cluster does not answer, or is busy, and nothing was changed.
// UNKNOWN: nobody knows whether a change was made.  DEADLINE_EXCEEDED: there was no time left, and nothing was changed.  DATA_LOSS:
// the answer is damaged.  FAILED_PRECONDITION: the table has no such family.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "hbase/busy_meter.h"
#include "hbase/call/servers.h"
#include "hbase/regions.h"
#include "hbase/wire/change_messages.h"
#include "hbase/wire/read_messages.h"

namespace sonde::hbase {

// Cells with the bytes that they view.
class RowCells {
 public:
  RowCells() = default;
  RowCells(Answer answer, std::vector<Cell> cells) : answer_(std::move(answer)), cells_(std::move(cells)) {}
  RowCells(RowCells&&) = default;
  RowCells& operator=(RowCells&&) = default;
  // Family and qualifier ascending, timestamp descending.
  const std::vector<Cell>& cells() const { return cells_; }

 private:
  Answer answer_;  // its bytes stay where they are when it is moved, being longer than a short string
  std::vector<Cell> cells_;
};

// Where a row keeps its version (row_version.h).
struct VersionColumn {
  std::string family;
  std::string qualifier;
};

struct GuardedChange {
  RowChange change;  // without the version's cell and guard
  std::string seen;  // the version that the caller read; empty: none
  // For how long from now the change may be sent; it is asked before each try, and may answer more than before.  Null: for ever.
  std::function<absl::Duration()> time_to_send = nullptr;
};

struct RowsOptions {
  absl::Duration timeout = absl::Seconds(5);  // of one try, beside the time that its bytes take
  bool sync = false;                          // changes are answered when they are on disks
};

class Rows {
 public:
  Rows(Servers* servers, Regions* regions, RowsOptions options);

  // One snapshot of the row.  Empty: it has no such cells.
  absl::StatusOr<RowCells> Get(const TableName& table, std::string_view row, const CellChoice& choice,
                               absl::Time deadline);

  // Applies changes, each as a whole, in no order; no row may come twice.  Returns a status a change, in their order.
  // A change whose answer was lost is not sent again: another one may have come between, which it would then undo.
  std::vector<absl::Status> Apply(const TableName& table, absl::Span<const RowChange> changes,
                                  absl::Time deadline);

  // Applies a change once, if the row's version is still `seen`, and puts the next version.  An answer that was lost is looked for in
  // the row.  True: it was applied.  False: another change came before, and nothing was applied.  UNAVAILABLE: the time to send it was
  // over, too; nothing was applied.
  absl::StatusOr<bool> ApplyGuarded(const TableName& table, const VersionColumn& column,
                                    const GuardedChange& guarded, absl::Time deadline);

  // Calls that were repeated.
  uint64_t retries() const { return retries_.load(std::memory_order_relaxed); }
  // How much of what was sent in the last seconds was answered that the server is busy: 0 to 1.
  double Busy() const { return busy_.Share(absl::Now()); }
  // Guarded changes whose answers were lost and found.
  uint64_t settled() const { return settled_.load(std::memory_order_relaxed); }

 private:
  // Changes that are under way.
  struct Batch {
    absl::Span<const RowChange> changes;
    std::vector<absl::Status> statuses;
    std::vector<bool> guards_held;
    std::vector<size_t> left;  // indices of changes that were not applied, and may be
    Failure last;              // why, of one of them
    bool is_busy = false;      // a server said that it is
  };
  // Sends those that are left, once, and takes the answers.
  void SendOnce(const TableName& table, const Attempts& attempts, absl::Time deadline, Batch* batch);
  void TakeOutcome(size_t index, const Failure* failure, Batch* batch);
  // Sends changes until each has a status.  False of guards_held: a guard did not hold.
  Batch Send(const TableName& table, absl::Span<const RowChange> changes, absl::Time deadline);
  absl::StatusOr<std::string> ReadVersion(const TableName& table, std::string_view row,
                                          const VersionColumn& column, absl::Time deadline);

  Servers* const servers_;
  Regions* const regions_;
  const RowsOptions options_;
  BusyMeter busy_;
  std::atomic<uint64_t> retries_ = 0;
  std::atomic<uint64_t> settled_ = 0;
};

}  // namespace sonde::hbase
