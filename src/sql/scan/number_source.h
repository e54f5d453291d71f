// Rows of columns, as pages have them, for a scan whose columns are cells of one family, by qualifier, and the key.
//
// Shape: NumberRow's parts become columns of INT64 or FLOAT64 (kNumber) where they are numbers, and of BYTES (kNumberBytes)
//   where they are not; kCell is BYTES in either case.
// Ownership: views of a row hold until the next one.
// Threads: not for several threads.
// Errors: those of Tables::ReadNumbers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/arena.h"
#include "model/datum.h"
#include "model/row_range.h"
#include "sql/operator/execution_state.h"
#include "sql/plan/plan.h"
#include "sql/scan/scan_cells.h"
#include "sql/scan/scan_ranges.h"
#include "table/number_reader.h"

namespace sonde::sql {

class NumberSource {
 public:
  // Whether the scan is of this kind: only rows with one of the cells matter to it.
  static bool Fits(const Plan::Scan& scan, const CellSelection& selection);

  // `scan` fits, and must outlive this, as must `state`.
  static std::unique_ptr<NumberSource> Create(const Plan::Scan& scan, const CellSelection& selection,
                                              const ExecutionState& state);

  // Begins to read the rows of `ranges`, in normal form.
  absl::Status Open(std::vector<RowRange> ranges);
  void Close() { stream_.reset(); }
  // Goes to the next row; false: there are no more.
  absl::StatusOr<bool> Next();
  std::string_view row_key() const { return row_.row_key; }
  // What was read so far; and the same, which is then forgotten.
  const ScanCounts& counts() const { return counts_; }
  ScanCounts TakeCounts() { return std::exchange(counts_, ScanCounts()); }

  // The times of the row at hand that one of the columns has, newest first; and the values of a column of the scan at these
  // times, in the arena.  `column` is one of numbers.
  absl::Span<const int64_t> Times();
  ColumnView Values(size_t column, Arena* arena);
  // The newest value of the row at hand; missing: there is none.
  Datum Newest(size_t column, Arena* arena);

 private:
  // A column of the scan: where its parts are among those of the row.
  struct Column {
    size_t read_column = 0;  // index in NumberRead::columns
    ScanColumn::Kind kind = ScanColumn::Kind::kNumber;
    Type type;

    // Whether the values of a part are this column's.
    bool Takes(const NumberRow::Part& part) const;
  };

  NumberSource(const Plan::Scan& scan, const CellSelection& selection, const ExecutionState& state)
      : scan_(scan), selection_(selection), state_(state) {}

  // Adds the row at hand to the counts.
  void Count();
  void FindTimes();

  const Plan::Scan& scan_;
  const CellSelection selection_;
  const ExecutionState& state_;
  NumberRead read_;
  std::vector<std::optional<Column>> columns_;  // by column of the scan; nothing: the key
  std::unique_ptr<NumberStream> stream_;
  NumberRow row_;
  ScanCounts counts_;
  bool has_times_ = false;  // of the row at hand: the three below are of it
  bool has_shared_times_ = false;
  absl::Span<const int64_t> times_;
  std::vector<int64_t> joined_times_;
};

}  // namespace sonde::sql
