// Keeps all materialized views, in a thread of its own.
//
// The views take turns, a step each.  A view that has failed is left alone for a while.  While the engine is near refusing writes, the
// thread rests between steps.  When nothing has changed, it looks for news every ViewUpkeepOptions::idle.  Views of a store that has no change
// logs are not kept.  Of a store that several servers share one server keeps all views, by a lease (kept_lease.h); when it is gone, another
// one goes on from what is written.
//
// As long as it lives it is the ExpiredKeeper of the tables, for views that outlive their source.  Whoever collects waits for the step of such
// a view that is under way.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "absl/types/span.h"
#include "base/steady_cond_var.h"
#include "metrics/figure.h"
#include "sql/view/keep/kept_lease.h"
#include "sql/view/keep/view_keeper.h"
#include "table/expired_keeper.h"
#include "table/tables.h"

namespace sonde::sql {

struct ViewUpkeepOptions {
  absl::Duration idle = absl::Milliseconds(100);
  absl::Duration rest_under_pressure = absl::Milliseconds(50);
  absl::Duration rest_after_error = absl::Seconds(1);
  // After a write of which nobody knows whether it was made: by then it was, or never will be.
  absl::Duration rest_after_unknown = absl::Seconds(10);
  absl::Duration renew_lease = absl::Seconds(2);
  // A view that is further behind than this, and was not less so before, cannot keep up.  It is looked at so often.
  absl::Duration lag_noticed = absl::Seconds(60);
  absl::Duration lag_look = absl::Seconds(30);
  ViewKeeperOptions keeper = {};
};

class ViewUpkeep final : public ExpiredKeeper {
 public:
  // `tables` must outlive this.  `tell_error` is told the first of errors in a row of a view, and that a view cannot keep up any more
  // (RESOURCE_EXHAUSTED), by the thread.
  ViewUpkeep(Tables* tables,
             std::function<void(const std::string& view, const absl::Status& error)> tell_error,
             ViewUpkeepOptions options = {});
  // Waits for the step that is under way.
  ~ViewUpkeep();

  struct Progress {
    std::string view;
    ViewProgress progress;
    int64_t lag_micros = 0;  // since what was applied last; 0: it has not begun
    std::string error;       // of its last step; empty: it has not failed
    std::string finding;     // in words, that it cannot keep up; empty: it can
  };
  std::vector<Progress> ListProgress() const;

  // UNAVAILABLE: a view of the table is not kept yet.  Other errors: those of its keeper, which are the view's, too.
  absl::Status KeepExpired(const TableSchema& schema, absl::Span<const Row> rows) override;
  absl::StatusOr<std::vector<std::string>> ListKept(const TableSchema& schema, const RowRange& range,
                                                    size_t rows_max) override;

  // By view: lag, population, rows that were computed and that were left out.
  std::vector<Figure> Figures() const;

 private:
  struct Kept {
    std::unique_ptr<ViewKeeper> keeper;
    absl::Mutex works;  // held while the keeper does
    absl::Time rests_until = absl::InfinitePast();
    std::string error;
    std::string finding;
    absl::Time looked = absl::InfinitePast();  // at the lag
    int64_t lag_micros = 0;                    // then
  };

  void Run();
  // Whether this server keeps the views now.  Ends keeping them if it does no longer.
  bool MayKeep();
  // Begins to keep views that are new, and ends those that are gone.
  void TakeViews();
  void StopLogging();
  // Return whether there is more to do at once.
  bool StepAll();
  bool Step(Kept* kept);
  // Notes how the last work for the view has ended.
  void NoteEnd(Kept* kept, const absl::Status& status);
  void LookAtLag(Kept* kept);
  int64_t LagOf(const ViewProgress& progress) const;
  bool IsStopping() const;
  void Rest(absl::Duration duration);

  Tables* const tables_;
  const std::function<void(const std::string& view, const absl::Status& error)> tell_error_;
  const ViewUpkeepOptions options_;
  KeptLease lease_;
  uint64_t holding_ = 0;  // of the lease, when views were taken
  uint64_t version_ = 0;  // of the catalog's views, when they were taken; 0: they were not
  UnloggedWriters unlogged_;

  mutable absl::Mutex mutex_;
  SteadyCondVar stops_;
  bool is_stopping_ ABSL_GUARDED_BY(mutex_) = false;
  // By the id of the view's storage.  Changed by the thread only, which reads it without the lock.
  std::map<TableId, std::shared_ptr<Kept>> views_;
  std::thread thread_;  // last, as it uses the others
};

}  // namespace sonde::sql
