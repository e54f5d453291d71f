// Sorts rows, in memory as long as the account of the query allows it, else on disk.
//
//   RowSorter sorter(state, "Sort", types, {{.column = 0, .descending = true}});
//   sorter.Add(columns, rows);  ...  sorter.Finish();
//   while (*sorter.Next(&batch)) ...
//
// Order: as SortOrder; rows whose keys are equal stay in the order in which they were added.
// Shape: rows are held in runs of a bounded size, each of which is sorted when it is full; at the end the runs are merged.  When
//   the account refuses more memory, all runs that are held are merged into one on disk.  So no step takes long, and memory
//   comes and goes in pieces.
// Threads: not for several threads.
// Errors: RESOURCE_EXHAUSTED: there is neither memory nor room on disk, or one batch of rows is more than may be held; those of
//   QuerySpill, and of whoever interrupts the query.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "rows/batch.h"
#include "rows/work_check.h"
#include "sql/operator/execution_state.h"
#include "sql/operator/sort_order.h"
#include "sql/relation/run_merge.h"
#include "sql/spill/row_buffer.h"

namespace sonde::sql {

class RowSorter {
 public:
  // `state` must outlive this.
  RowSorter(const ExecutionState& state, std::string_view operator_name, std::vector<ColumnType> types,
            std::vector<RowKey> keys);

  // Only the first rows of the order are wanted.  Called before all else.
  void LimitRows(size_t rows_max) { rows_max_ = rows_max; }
  absl::Status Add(absl::Span<const ColumnView> columns, size_t rows);
  // All rows are there.
  absl::Status Finish();
  // Replaces *batch by the next rows, all their columns; false: there are no more.  Views hold until the next call.
  absl::StatusOr<bool> Next(rows::Batch* batch);
  // Puts the rows that Next has not given yet on disk, as somebody else needs memory.  The last batch holds no longer.
  // Called only if the query can put rows on disk.
  absl::Status PutOnDisk();
  // Begins anew.
  void Clear();

  size_t rows() const { return rows_; }
  int64_t bytes_on_disk() const { return bytes_on_disk_; }  // that were written

 private:
  absl::Status CloseRun();
  absl::StatusOr<std::vector<size_t>> Order();
  absl::Status Shrink();
  void HoldThoseBeforeBound(absl::Span<const ColumnView> columns, size_t rows);
  absl::Status TellMemory();
  // Merges all runs that are held into one on disk.
  absl::Status SpillRuns();
  // Merges runs on disk as long as there are kRunsMax of one level.  `is_last`: until there are no more than so many.
  absl::Status MergeLevels(bool is_last);
  absl::StatusOr<std::unique_ptr<SpilledRows>> Write(RunMerge* merge);
  size_t HeldBytes() const;

  // A run ends with the rows that make it so long.
  static constexpr size_t kRunBytes = 8 << 20;
  static constexpr size_t kRunRows = 128 << 10;
  // So many runs on disk are merged at a time.
  static constexpr size_t kRunsMax = 16;

  struct RunOnDisk {
    std::unique_ptr<SpilledRows> rows;
    int level = 0;  // runs of a level were merged as many times
  };

  const ExecutionState& state_;
  const std::string operator_name_;
  const std::vector<ColumnType> types_;
  const std::vector<RowKey> keys_;
  size_t rows_max_ = std::numeric_limits<size_t>::max();
  rows::WorkCheck check_;
  OperatorMemory memory_;

  RowBuffer held_;                  // the run that grows
  bool has_bound_ = false;          // row rows_max_ - 1 of held_ is the last of the first ones so far
  std::vector<RunOnDisk> on_disk_;  // the oldest first
  std::vector<std::unique_ptr<SortedRun>> runs_;  // behind those on disk
  size_t run_bytes_ = 0;                          // of runs_
  size_t rows_ = 0;
  size_t given_ = 0;
  int64_t bytes_on_disk_ = 0;
  std::optional<RunMerge> merge_;  // once all rows are there
};

}  // namespace sonde::sql
