// The heart: what the Bigtable data API does to tables, in the words of the model.  Requests come checked
// (`wire` does that); here they meet the schema, the clock and the engine.
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

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/clock.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "filter/compiled_filter.h"
#include "model/mutation.h"
#include "model/table_access.h"
#include "table/access_observer.h"
#include "table/read_modify_write.h"
#include "table/row_reader.h"
#include "table/row_turns.h"
#include "table/row_writes.h"

namespace sonde {

// A key near which a table could be divided.
struct RowKeySample {
  std::string row_key;        // empty: the end of the table; the last one, if it is there
  uint64_t offset_bytes = 0;  // about what comes before it; ascending
};

class Tables {
 public:
  // None of them owned; all must outlive this.  `seed` starts what filters draw their samples of rows with.
  // `observer`: null when nobody watches.
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
  // As TableAccess::ReadNumbers; NOT_FOUND: no such family.  `caller`: as ReadRequest's.
  absl::Status ReadNumbers(const TableSchemaRef& schema, const NumberRead& read,
                           const std::function<bool(const NumberRow&)>& row,
                           const std::function<std::string()>& caller = {});

  // What follows takes an authorized view, or null for the whole table; PERMISSION_DENIED: CheckInView.

  // Each row atomic; all that are accepted are one commit, in their order.  One status a row: an error of
  // Normalize, of CheckStartTime, or of the engine.  `interrupted` is asked for each token and before the
  // commit; not OK (DEADLINE_EXCEEDED, CANCELLED): nothing is written, and that is the status of every row.
  // Requests that wait for each other's commits come through CommitLine (commit_line.h).
  std::vector<absl::Status> MutateRows(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                       const AuthorizedView* view = nullptr,
                                       const std::function<absl::Status()>& interrupted = {});

  // Atomic.  No predicate: whether the row has any cell.  Returns whether it matched.  Errors: those of
  // CompiledFilter::CheckFamilies, and those of Normalize for the branch that is taken; the other one may
  // name families that are not there.
  absl::StatusOr<bool> CheckAndMutateRow(TableSchemaRef schema, std::string_view row_key,
                                         std::shared_ptr<const CompiledFilter> predicate,
                                         absl::Span<const Mutation> if_true,
                                         absl::Span<const Mutation> if_false,
                                         const AuthorizedViewRef& view = nullptr);

  // Atomic.  Rules act in order on the newest cell of their column; what they write carries the newer of that
  // cell's time and now.  FAILED_PRECONDITION: an increment of a value that is not 8 bytes; nothing is
  // written. Returns the last cell written to each column, by family and qualifier.
  absl::StatusOr<std::vector<WrittenCell>> ReadModifyWriteRow(TableSchemaRef schema, std::string_view row_key,
                                                              absl::Span<const ReadModifyWriteRule> rules,
                                                              const AuthorizedViewRef& view = nullptr);

  // The samples inside each range and then its end, for ranges in normal form; ascending.  Of the points
  // where the table was split when it was made, and of those where the observer sees the load divide, those
  // inside are always among them.  Offsets count from the
  // last sample before the first range.
  absl::StatusOr<std::vector<RowKeySample>> SampleRowKeys(const TableSchema& schema,
                                                          absl::Span<const RowRange> ranges);

  // The engine's (engine.h).
  double WritePressure() const { return engine_->WritePressure(); }

  // Where changes are logged, row by row.
  absl::Status DropRowRange(const TableSchema& schema, const RowRange& range);

 private:
  friend class CommitLine;
  // Writes of several requests, whose rows `next` gives, as one commit in which none waits for another; where
  // changes are logged, rows that `next` gave have to stay.  The statuses of each request that was read;
  // ABORTED: MutateRows the row.  Not OK: they cannot be written together, and nothing was; MutateRows each.
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
  // MutateRows, where no row needs its time from the row.
  std::vector<absl::Status> MutateBlind(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                        const AuthorizedView* view,
                                        const std::function<absl::Status()>& interrupted);
  // MutateRows of a shared engine: rows that ask for the server's time one by one, those between them together.
  std::vector<absl::Status> MutateByRowTime(const TableSchema& schema, absl::Span<const RowMutations> rows,
                                            const AuthorizedView* view,
                                            const std::function<absl::Status()>& interrupted);
  absl::Status MutateByRowTime(const TableSchema& schema, const RowMutations& row,
                               const AuthorizedView* view);
  // What a write is answered that the engine answered `applied`.
  absl::Status Confirmed(const TableSchema& schema, absl::Status applied) const;

  Engine* const engine_;
  Catalog* const catalog_;
  const Clock* const clock_;
  AccessObserver* const observer_;
  const bool is_shared_;  // with other servers
  RowTurns turns_;
  std::atomic<uint64_t> next_seed_;  // each request's own: asking the system for one costs more than a read
};

}  // namespace sonde
