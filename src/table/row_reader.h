// Rows of a table as ReadRows answers them: a scan, what garbage collection leaves of it, a filter, a limit.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/random.h"
#include "catalog/catalog.h"
#include "engine/engine.h"
#include "filter/compiled_filter.h"
#include "filter/filter_evaluator.h"
#include "model/row_range.h"
#include "table/access_observer.h"
#include "table/read_watch.h"
#include "table/row_assembler.h"

namespace sonde {

struct ReadRequest {
  std::vector<RowRange> ranges;                  // normal form
  AuthorizedViewRef view;                        // null: the whole table
  std::shared_ptr<const CompiledFilter> filter;  // null: everything
  int64_t rows_limit = 0;                        // 0: none
  bool reversed = false;
  // Whether a row may come in parts (Step::kPart), which spares the memory for it.
  bool in_parts = false;
  absl::Time deadline = absl::InfiniteFuture();
  // Asked now and then; not OK (CANCELLED) ends the read.
  std::function<absl::Status()> interrupted;
  // As Engine::ScanOptions.  ABORTED, of it and of `take_row_room`, is no error of the read: who asks makes
  // room, and calls Restart.
  std::function<absl::Status(size_t entry_bytes)> take_large;
  // Null: rows are put together whatever they take (row_assembler.h).
  TakeRowRoom take_row_room;
  // Who asks, in words, for those who look for full scans; called in the read's time, if at all.
  std::function<std::string()> caller;
};

// What a read has cost so far.  A cell that the engine gave and the filter got is seen once, whatever becomes
// of it: copies that interleaves make are returned, and not seen again.
struct ReadStats {
  int64_t rows_seen = 0;  // rows that the engine gave, also those that a filter stopped
  int64_t rows_returned = 0;
  int64_t cells_seen = 0;  // without those that garbage collection has forgotten
  int64_t cells_returned = 0;
};

// Pull; not thread-safe, but may move from thread to thread between calls.
class RowReader {
 public:
  enum class Step {
    kRow,  // row_key() and cells() are the next row; it has cells.  After parts of it: the rest, perhaps none
    kPart,    // ... and more of the row may follow; has cells.  Only if the request allows it
    kPaused,  // so many rows were looked at, or a part of one, and none passed: call again
    kEnd,
  };

  // Errors: NOT_FOUND for a column range of a family that is not there; those of the engine and the filter.
  static absl::StatusOr<std::unique_ptr<RowReader>> Open(Engine* engine, TableSchemaRef schema,
                                                         int64_t now_micros, uint64_t seed,
                                                         ReadRequest request,
                                                         AccessObserver* observer = nullptr);

  // Looks at no more than `rows_max` stored rows, or parts of them.
  absl::StatusOr<Step> Next(int64_t rows_max);

  // Gives back what the engine keeps for the scan; the next call of Next begins a new one after the last row
  // looked at.  For reads that nobody may ask for a long time.  Within a row: nothing.
  void Suspend();

  // The same also within a row, and after ABORTED: goes on with the first row that was not looked at to its
  // end.  `again`: with the one that was, as if it had not been.
  void Restart(bool again);

  // Whether more of the row that was looked at last may follow.
  bool in_row() const { return in_row_; }

  const std::string& table_name() const { return visible_.schema()->name; }
  // The row that was looked at last; after kPaused, it is one that did not pass.
  const std::string& row_key() const { return row_key_; }
  // Views hold until the next call of Next.
  const std::vector<FilterCell>& cells() const { return cells_; }
  const std::string& family_name(const FilterCell& cell) const {
    return visible_.schema()->families[cell.family].name;
  }
  std::string_view label(const FilterCell& cell) const {
    return cell.label == kNoLabel ? std::string_view() : request_.filter->Label(cell.label);
  }
  const ReadStats& stats() const { return stats_; }

 private:
  RowReader(Engine* engine, TableSchemaRef schema, int64_t now_micros, uint64_t seed, ReadRequest request);
  absl::StatusOr<Step> FindNext(int64_t rows_max);
  // Whether the engine gives the families that are wanted in the order of the schema.
  bool FamiliesComeInOrder() const;
  absl::Status Start();
  absl::Status OpenScan();

  Engine* const engine_;
  const ReadRequest request_;
  const VisibleCells visible_;
  SeededRandom random_;
  FilterBudget budget_;
  std::optional<FilterEvaluator> evaluator_;
  std::vector<RowRange> ranges_;  // that can match, as far as they were not read before the scan began
  Engine::ScanOptions scan_options_;
  std::optional<RowAssembler> assembler_;  // none: nothing (more) can match
  bool suspended_ = false;
  bool reads_all_ = false;  // the whole table
  bool in_parts_ = false;
  bool in_row_ = false;             // more of it is to come
  bool row_passed_ = false;         // of this row, some cells did
  std::optional<ReadWatch> watch_;  // none: nobody watches
  ReadStats stats_;
  ReadStats stats_before_row_;  // that was looked at last

  std::string row_key_;
  std::vector<FilterCell> cells_;
};

}  // namespace sonde
