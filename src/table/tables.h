// Carries out the Bigtable data API on tables, in the words of the model.  Requests come checked by `wire`;
// here they meet the schema, the clock and the engine.
//
// Where several servers share the engine (EngineTraits::is_shared), the order of a row's changes that ask for the
// server's time comes from the row (row_time.h), and a write is acknowledged only if the schema that it went by
// still holds (Catalog::Confirm); UNKNOWN: it may be lost.
//
// Threads: all functions may be called at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "filter/compiled_filter.h"
#include "model/mutation.h"
#include "model/table_access.h"
#include "table/access_observer.h"
#include "table/check_and_mutate.h"
#include "table/expired_keeper.h"
#include "table/number_reader.h"
#include "table/read_modify_write.h"
#include "table/row_key_samples.h"
#include "table/row_reader.h"
#include "table/row_turns.h"
#include "table/row_writes.h"

namespace sonde {

class Tables {
 public:
  // Nothing is owned, and all must outlive this.  `seed` starts the random numbers of filters that sample
  // rows. `observer`: null if nobody watches.
  Tables(Engine* engine, Catalog* catalog, const Clock* clock, uint64_t seed,
         AccessObserver* observer = nullptr)
      : engine_(engine),
        catalog_(catalog),
        clock_(clock),
        observer_(observer),
        is_shared_(engine->traits().is_shared),
        turns_(clock),
        next_seed_(seed) {}

  Catalog& catalog() { return *catalog_; }
  Engine& engine() { return *engine_; }
  const Clock& clock() const { return *clock_; }

  absl::StatusOr<std::unique_ptr<RowReader>> Read(TableSchemaRef schema, ReadRequest request);
  // As NumberAccess::Read.  NOT_FOUND: there is no such family.  `caller` as in ReadRequest.
  absl::Status ReadNumbers(const TableSchemaRef& schema, const NumberRead& read,
                           const std::function<bool(const NumberRow&)>& row,
                           const std::function<std::string()>& caller = {});
  // The rows that ReadNumbers gives, pulled.  Errors: as ReadNumbers.
  absl::StatusOr<std::unique_ptr<NumberStream>> OpenNumbers(TableSchemaRef schema, NumberRead read,
                                                            std::function<std::string()> caller = {});

  // Divides ranges (normal form) of a family for several reads at once: as RangeSizes::Divide; one part where
  // the engine can't tell sizes.  NOT_FOUND: there is no such family.
  absl::StatusOr<DividedRanges> Divide(const TableSchema& schema, const std::string& family,
                                       const std::vector<RowRange>& ranges);
  // Tells the observer of a table that was read whole in parts, `rows` rows.  `caller` as in ReadRequest.
  void NoteFullScan(const TableSchema& schema, int64_t rows, const std::function<std::string()>& caller);

  // All functions below take an authorized view; null: the whole table.  PERMISSION_DENIED: as CheckInView.

  // Mutates rows, each atomically.  All accepted rows are one commit, in their order.  Returns one status a
  // row: an error of Normalize, of CheckStartTime, or of the engine.  `interrupted` is asked for each token
  // and before the commit.  Its error (DEADLINE_EXCEEDED, CANCELLED) is the status of every row, and nothing
  // is written.  Requests that wait for each other's commits come through CommitLine (commit_line.h).
  std::vector<absl::Status> MutateRows(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                       const AuthorizedView* view = nullptr,
                                       const std::function<absl::Status()>& interrupted = {});

  // Decides and mutates atomically (CheckAndMutator).  Returns whether the predicate matched.  Errors: those of
  // CheckAndMutator, and of the engine.
  absl::StatusOr<bool> CheckAndMutateRow(TableSchemaRef schema, std::string_view row_key, RowCheck check,
                                         const AuthorizedViewRef& view = nullptr);

  // Applies rules atomically and in order, each to the newest cell of its column.  A written cell carries
  // that cell's time or now, whichever is newer.  Returns the last cell that was written to each column, by
  // family and qualifier. FAILED_PRECONDITION: an increment of a value that is not 8 bytes; nothing is
  // written.
  absl::StatusOr<std::vector<WrittenCell>> ReadModifyWriteRow(TableSchemaRef schema, std::string_view row_key,
                                                              absl::Span<const ReadModifyWriteRule> rules,
                                                              const AuthorizedViewRef& view = nullptr);

  // Returns, for each range, the samples inside it and then its end; ascending.  `ranges` must be in normal
  // form.  Points inside a range are always among the samples if the table was split there when it was
  // created, or if the observer sees the load divide there.  Offsets count from the last sample before the
  // first range.
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const TableSchema& schema,
                                                          absl::Span<const RowRange> ranges);

  // What all LocalTables of these tables share as TableAccess::merging.
  const std::shared_ptr<absl::Mutex>& merging() const { return merging_; }

  // The engine's pressure (engine.h).
  double WritePressure() const { return engine_->WritePressure(); }

  // Deletes the rows of a range.  In a table whose changes are logged it does so row by row.  Where something of expired rows is kept,
  // their deletion is logged, too.  UNAVAILABLE: something is, and its keeper is not there.
  absl::Status DropRowRange(const TableSchema& schema, const RowRange& range);

  // Who keeps what rules forget from now on; null: nobody.  `keeper` must outlive its place here: a call that replaces it waits for
  // those that it is asked.
  void SetExpiredKeeper(ExpiredKeeper* keeper);
  // Whether cells of these rows may be collected: as ExpiredKeeper::KeepExpired.  UNAVAILABLE: the table's keeper is not there.
  absl::Status KeepExpired(const TableSchema& schema, absl::Span<const ExpiredKeeper::Row> rows);

 private:
  friend class CommitLine;
  // Commits writes of several requests, whose rows `next` gives, together; no row waits for another.  If
  // changes are logged, the rows that `next` gave must stay.  Returns the statuses of each request that was
  // read; a row that is ABORTED must go by MutateRows.  An error says that the requests cannot be written
  // together, and nothing was written; each must go by MutateRows.
  absl::StatusOr<std::vector<std::vector<absl::Status>>> MutateTogether(const TableSchema& schema,
                                                                        const AuthorizedView* view,
                                                                        const RowWrites::NextRows& next);
  // Tells the observer of one row that was written.
  struct WrittenSize {
    uint64_t cells = 0, bytes = 0;
  };
  void TellOfWrite(TableId table, std::string_view row_key, WrittenSize size, const AccessTimer& timer,
                   const absl::Status& status);
  absl::Status DeleteRows(const TableSchema& schema, RowRange range);
  absl::Status DeleteKept(const TableSchema& schema, RowRange range);
  // MutateRows, where no row needs its time from the row.
  std::vector<absl::Status> MutateBlind(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                        const AuthorizedView* view,
                                        const std::function<absl::Status()>& interrupted);
  // MutateRows of a shared engine: rows that ask for the server's time one by one, those between them together.
  std::vector<absl::Status> MutateByRowTime(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                            const AuthorizedView* view,
                                            const std::function<absl::Status()>& interrupted);
  // Returns the error that refuses a request as a whole: types that do not match, in a row that has not had its change yet.
  absl::Status CheckTypes(const TableSchema& schema, absl::Span<const RowMutations> rows,
                          const AuthorizedView* view);
  absl::Status MutateByRowTime(const TableSchema& schema, const RowMutations& row,
                               const AuthorizedView* view);
  // What a write is answered that the engine answered `applied`.
  absl::Status Confirmed(const TableSchema& schema, absl::Status applied) const;

  Engine* const engine_;
  Catalog* const catalog_;
  const Clock* const clock_;
  AccessObserver* const observer_;
  const bool is_shared_;  // with other servers
  const std::shared_ptr<absl::Mutex> merging_ = std::make_shared<absl::Mutex>();
  RowTurns turns_;
  absl::Mutex expired_keeper_mutex_;
  ExpiredKeeper* expired_keeper_ ABSL_GUARDED_BY(expired_keeper_mutex_) = nullptr;
  std::atomic<uint64_t> next_seed_;  // a seed for each request: asking the system for one costs more than a
                                     // read
};

}  // namespace sonde
