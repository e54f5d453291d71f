// Rows of a table as ReadRows answers them: a scan, less the cells that garbage collection forgets, a filter,
// a limit.
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
  std::vector<RowRange> ranges;                  // in normal form
  AuthorizedViewRef view;                        // null: the whole table
  std::shared_ptr<const CompiledFilter> filter;  // null: everything passes
  // Only which rows there are matters: cells() has one cell of a row or more, maybe without values.  There is neither a view nor
  // a filter then.
  bool keys_only = false;
  int64_t rows_limit = 0;  // 0: no limit
  bool reversed = false;
  // Whether a row may come in parts (Step::kPart), which saves the memory of a whole row.
  bool in_parts = false;
  absl::Time deadline = absl::InfiniteFuture();
  // Asked now and then.  An error (CANCELLED) ends the read.
  std::function<absl::Status()> interrupted;
  // As in RowStore::ScanOptions.  ABORTED from this or from `take_row_room` is no error of the read: the
  // caller makes room, and calls Restart.
  std::function<absl::Status(size_t entry_bytes)> take_large;
  // Null: rows are put together however large they are (row_assembler.h).
  TakeRowRoom take_row_room;
  // Returns the caller in words, for observers of full scans.  Called during the read, if at all.
  std::function<std::string()> caller;
};

// The cost of a read so far.  A cell that the engine gave to the filter is seen once, whatever the filter
// does with it: copies that interleaves make are returned, but not seen again.
struct ReadStats {
  int64_t rows_seen = 0;  // rows that the engine gave, also those that a filter blocked
  int64_t rows_returned = 0;
  int64_t cells_seen = 0;  // without cells that garbage collection has forgotten
  int64_t cells_returned = 0;
  int64_t bytes_seen = 0;  // of these cells: qualifiers and values
};

// Reads rows as they are pulled.  Not for several threads, but it may move from thread to thread between
// calls.
class RowReader {
 public:
  enum class Step {
    kRow,     // row_key() and cells() are the next row, which has cells; after kPart, its rest, which may be
              // empty
    kPart,    // as kRow, and more of the row may follow; only if the request allows it
    kPaused,  // `rows_max` rows, or a part of one, were looked at and none passed; call again
    kEnd,
  };

  // NOT_FOUND: a column range is of a family that does not exist.  Other errors: those of the engine and the
  // filter.
  static absl::StatusOr<std::unique_ptr<RowReader>> Open(Engine* engine, TableSchemaRef schema,
                                                         int64_t now_micros, uint64_t seed,
                                                         ReadRequest request,
                                                         AccessObserver* observer = nullptr);

  // Looks at no more than `rows_max` stored rows, or parts of rows.
  absl::StatusOr<Step> Next(int64_t rows_max);

  // Gives back what the engine keeps for the scan.  The next call of Next begins a new scan after the last
  // row that was looked at.  For reads that nobody may ask for a long time.  Within a row it does nothing.
  void Suspend();

  // Like Suspend, but also within a row and after ABORTED.  `again` false: the read goes on with the first
  // row that was not looked at to its end.  `again` true: it looks at the last row once more, as if it had
  // not before.
  void Restart(bool again);

  // Whether more of the last row that was looked at may follow.
  bool in_row() const { return in_row_; }

  const std::string& table_name() const { return visible_.schema()->name; }
  // The last row that was looked at; after kPaused, it did not pass.
  const std::string& row_key() const { return row_key_; }
  // The views hold until the next call of Next.
  const std::vector<FilterCell>& cells() const { return cells_; }
  const std::string& family_name(const FilterCell& cell) const {
    return visible_.schema()->families[cell.family].name;
  }
  std::string_view label(const FilterCell& cell) const {
    return cell.label == kNoLabel ? std::string_view() : request_.filter->Label(cell.label);
  }
  const ReadStats& stats() const { return stats_; }
  // Also of rows that were looked at twice.
  const ScanCost& scan_cost() const { return scan_cost_; }

 private:
  RowReader(Engine* engine, TableSchemaRef schema, int64_t now_micros, uint64_t seed, ReadRequest request);
  absl::StatusOr<Step> FindNext(int64_t rows_max);
  // Whether the engine gives the wanted families in the order of the schema.
  bool FamiliesComeInOrder() const;
  absl::Status Start();
  absl::Status OpenScan();

  Engine* const engine_;
  const ReadRequest request_;
  const VisibleCells visible_;
  SeededRandom random_;
  FilterBudget budget_;
  std::optional<FilterEvaluator> evaluator_;
  std::vector<RowRange> ranges_;  // ranges that may match, without those that were read before the scan began
  Engine::ScanOptions scan_options_;
  std::optional<RowAssembler> assembler_;  // nothing: no row can match (any more)
  bool suspended_ = false;
  bool reads_all_ = false;  // the read is of the whole table
  bool in_parts_ = false;
  bool in_row_ = false;             // more of the row is to come
  bool row_passed_ = false;         // some cells of this row have passed
  std::optional<ReadWatch> watch_;  // nothing: nobody watches
  ScanCost scan_cost_;
  ReadStats stats_;
  ReadStats stats_before_row_;  // before the last row that was looked at

  std::string row_key_;
  std::vector<FilterCell> cells_;
};

}  // namespace sonde
