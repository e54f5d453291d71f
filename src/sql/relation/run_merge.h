// Runs of rows that are in order, and their merge.
//
// Order: of rows whose keys are equal those of an earlier run come first.
// Threads: not for several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/arena.h"
#include "model/column.h"
#include "rows/batch.h"
#include "rows/work_check.h"
#include "sql/operator/sort_order.h"
#include "sql/spill/row_buffer.h"
#include "sql/spill/spill_rows.h"

namespace sonde::sql {

// A key of an order, as a column of the rows.
struct RowKey {
  size_t column = 0;
  bool descending = false;
  bool nulls_first = true;
};

class SortedRun {
 public:
  virtual ~SortedRun() = default;
  // Goes to the next block of rows, all columns; false: there are no more.  The views of the block before hold no longer.
  virtual absl::StatusOr<bool> NextBlock() = 0;
  virtual size_t MemoryBytes() const = 0;

  // The rows of the block.
  size_t rows() const { return rows_; }
  const std::vector<ColumnView>& columns() const { return columns_; }
  size_t RowOf(size_t place) const { return order_.empty() ? place : order_[place]; }

 protected:
  size_t rows_ = 0;
  std::vector<ColumnView> columns_;
  std::vector<size_t> order_;  // of rows of the columns; empty: as they stand
};

// A run in memory.
class HeldRun final : public SortedRun {
 public:
  HeldRun(RowBuffer rows, std::vector<size_t> order);
  absl::StatusOr<bool> NextBlock() override;
  size_t MemoryBytes() const override { return buffer_.MemoryBytes() + order_.capacity() * sizeof(size_t); }

 private:
  RowBuffer buffer_;
  bool is_given_ = false;
};

// A run on disk, from its front.
class DiskRun final : public SortedRun {
 public:
  explicit DiskRun(std::unique_ptr<SpilledRows> spilled) : spilled_(std::move(spilled)) {
    spilled_->Rewind();
  }
  absl::StatusOr<bool> NextBlock() override;
  size_t MemoryBytes() const override { return spilled_->MemoryBytes(); }

 private:
  const std::unique_ptr<SpilledRows> spilled_;
};

class RunMerge {
 public:
  // `keys` and `check` must outlive this.
  RunMerge(std::vector<std::unique_ptr<SortedRun>> runs, const std::vector<RowKey>& keys,
           rows::WorkCheck* check);

  // Replaces *batch by the next rows; false: there are no more.  Views hold until the next call.
  absl::StatusOr<bool> Next(rows::Batch* batch);
  // Counts blocks and runs that are still needed.
  size_t MemoryBytes() const;

 private:
  // The next row of a run.
  struct Head {
    uint64_t prefix = 0;
    size_t place = 0;
    size_t run = 0;
  };
  struct Pick {
    size_t run = 0;
    size_t row = 0;
  };

  // Goes to the next blocks of runs in needs_block_, and gives up those that have none.
  absl::Status TakeBlocks();
  bool IsBefore(const Head& a, const Head& b) const;
  // Puts head 0 of the heap where it belongs.
  void SiftDown();
  void Push(Head head);
  // Steps behind the first row; it is in picks_ then.  False: the block of its run is at its end.
  bool Take();
  ColumnView GatherColumn(size_t column);

  std::vector<std::unique_ptr<SortedRun>> runs_;
  const std::vector<RowKey>& keys_;
  rows::WorkCheck& check_;
  std::vector<std::vector<SortColumn>> key_columns_;  // by run, of its block
  std::vector<Head> heads_;                           // a heap: the first row comes first
  std::vector<size_t> needs_block_;                   // runs
  std::vector<Pick> picks_;                           // of the batch
  Arena arena_;
};

}  // namespace sonde::sql
