// Keeps one materialized view: populates it, then follows the change log of its source.
//
//   while (*keeper->Step()) {}        // until it has caught up
//
// What a row gives to the view is always computed from the row as it is when its change is seen, and replaces what it gave before
// (view_writer.h).  So a change may be seen twice, and several changes of a row count once.  The checkpoint is written behind what it
// says.  Rows are populated in the order of their keys while the log is followed.  They are populated again if the log does not
// reach back to the checkpoint any more (it is kept for kLogRetention), or if the rules of the source's families have changed, which may
// show or hide cells without a change of a row.
//
// A view that outlives its source keeps what its rows gave by cells that are about to be collected (frozen_shares.h); whoever collects
// asks for it first (KeepExpired).  A change of a row that deletes all that the view reads of it takes that away, too.
//
// Source: sql.md 3.5, 3.6.
// Threads: Step, KeepExpired and Flush belong to one thread at a time; all others may be called at once.
// Errors: NOT_FOUND: the source is gone.  DATA_LOSS: the state is damaged.  Others: those of the engine and the catalog; Step may be
//   called again.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "catalog/record/sql_views.h"
#include "sql/exec/bundle_finder.h"
#include "sql/view/contributions.h"
#include "sql/view/definition.h"
#include "sql/view/state/checkpoint.h"
#include "sql/view/state/frozen_shares.h"
#include "sql/view/state/view_writer.h"
#include "table/expired_keeper.h"
#include "table/tables.h"
#include "work/idle_workers.h"

namespace sonde::sql {

// The use of a source's log (TableSchema::log_uses) by all of its views.
inline constexpr std::string_view kViewLogUse = "views";
inline constexpr absl::Duration kLogRetention = absl::Hours(24);

struct ViewKeeperOptions {
  // A step looks at so many rows that have changed, or that are to be populated.
  size_t rows_per_step = 4'096;
  // Threads that read rows of the source beside the keeper's, on processors that are idle; null: there are none.
  IdleWorkers* idle_workers = nullptr;
  // Through which the view is written; null: the tables' own engine.
  Engine* engine = nullptr;
  // How long a view waits for writes that began before its source was logged.  In a store that several servers share it always waits so
  // long, as nobody knows of the writes of others.
  absl::Duration writers_wait_max = absl::Seconds(30);
  // How long cells that are to be collected wait for the log of a store that several servers share.
  absl::Duration log_wait_max = absl::Seconds(5);
  TreeShape shape = {};
};

// What is known of a view's upkeep.  Times are microseconds since 1970.
struct ViewProgress {
  int64_t applied_micros = 0;    // the view has what was committed up to here; 0: it has not begun
  bool is_populating = true;     // now
  uint64_t populated_rows = 0;   // since the server's start
  uint64_t changed_rows = 0;     // that were computed anew since the server's start
  uint64_t rows_left_out = 0;    // as ContributionReader
  uint64_t groups_left_out = 0;  // as ViewWriter
};

// Writers that go by the schema of a table from before it was logged for views: what they write leaves no record, and may come behind the
// population of its row.  So nothing is populated while there may be any.  The keepers of one store share it.
//
// Threads: as the keepers, one at a time.
class UnloggedWriters {
 public:
  // The table is logged from now on.  `until`: no writer lasts longer.
  void Add(const TableSchemaRef& before, absl::Time until) { tables_[before->id] = {before, until}; }
  bool MayWrite(TableId table) const {
    const auto at = tables_.find(table);
    return at != tables_.end() && !at->second.before.expired() && absl::Now() < at->second.until;
  }

 private:
  struct Table {
    std::weak_ptr<const TableSchema> before;  // whoever writes by it holds it
    absl::Time until;
  };
  std::map<TableId, Table> tables_;
};

// The first rows of a range of a source, ascending, of which views keep something that has expired; at most `rows_max`.
// Errors: those of the engine.
absl::StatusOr<std::vector<std::string>> ListKeptRows(Tables* tables, TableId source, const RowRange& range,
                                                      size_t rows_max);

class ViewKeeper {
 public:
  // Pointers must outlive this.
  ViewKeeper(Tables* tables, UnloggedWriters* unlogged, MaterializedViewRef view,
             ViewKeeperOptions options = {});

  // Does a bounded piece of work.  True: there is more to do at once.
  absl::StatusOr<bool> Step();
  // As ExpiredKeeper.  Follows all changes from before the call first.
  absl::Status KeepExpired(absl::Span<const ExpiredKeeper::Row> rows);
  // Writes the checkpoint down if it has moved.
  absl::Status Flush();

  const std::string& name() const { return name_; }
  const ViewSource& source() const { return source_; }
  bool outlives_source() const { return outlives_source_; }
  ViewProgress progress() const;

 private:
  // Brings the keeper to where it can follow.  False: writes from before the source was logged are still under way.
  absl::StatusOr<bool> Prepare();
  // Waits until the log tells that it is complete up to now.
  absl::Status WaitForLog() const;
  // Makes the source log its changes.  False: writes from before are still under way.
  absl::StatusOr<bool> StartLogging(const TableSchema& source);
  // Binds the definition if the source has another schema now.
  absl::Status Bind(const TableSchemaRef& source);
  absl::Status Open(const TableSchema& source);
  absl::Status PopulateAgain();
  bool LogReachesBack() const;
  absl::StatusOr<bool> Follow();
  absl::StatusOr<bool> Populate();
  absl::Status Replace(const std::vector<std::string>& keys);
  // The same, of a view that outlives its source.
  absl::Status ReplaceWithFrozen(absl::Span<const std::string> keys);
  absl::Status Freeze(absl::Span<const ExpiredKeeper::Row> rows);
  // Looks for rows that give to groups which are longer ago than they are to be kept, if that is due.  True: there is more to do.
  absl::StatusOr<bool> Sweep();
  bool IsPast(const GroupId& group) const;
  // The next keys to populate: of rows that are there, and of rows that give to the view, whether there or not.
  struct NextKeys {
    std::vector<std::string> keys;
    std::optional<std::string> next;  // nothing: there are no more
  };
  absl::StatusOr<NextKeys> FindKeys(const std::string& from) const;
  absl::StatusOr<std::vector<std::string>> FindKeysThere(const std::string& from) const;
  absl::StatusOr<std::vector<std::string>> FindKeysKnown(const std::string& from) const;
  absl::Status TellReady();
  void TellProgress();

  Tables* const tables_;
  UnloggedWriters* const unlogged_;
  const std::string name_;
  const ViewSource source_;
  const bool outlives_source_;
  MaterializedViewRef view_;
  const ViewKeeperOptions options_;
  BundleFinder bundles_;

  std::shared_ptr<const ViewDefinition> definition_;
  std::unique_ptr<ContributionReader> reader_;
  std::unique_ptr<ViewWriter> writer_;
  std::unique_ptr<FrozenShares> frozen_;      // null: it does not outlive its source
  TableSchemaRef bound_to_;                   // the source as the definition was bound to it
  std::optional<std::string> sweeping_from_;  // nothing: no sweep is under way
  int64_t next_sweep_micros_ = 0;
  std::optional<ViewCheckpoint> checkpoint_;
  ViewCheckpoint written_;  // the checkpoint as it was written last
  bool populates_next_ = false;
  uint64_t rows_left_out_before_ = 0;  // by readers and writers before these
  uint64_t groups_left_out_before_ = 0;

  std::atomic<int64_t> applied_micros_ = 0;
  std::atomic<bool> is_populating_ = true;
  std::atomic<uint64_t> populated_rows_ = 0;
  std::atomic<uint64_t> changed_rows_ = 0;
  std::atomic<uint64_t> rows_left_out_ = 0;
  std::atomic<uint64_t> groups_left_out_ = 0;
};

}  // namespace sonde::sql
