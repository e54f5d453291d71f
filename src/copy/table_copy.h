// Copies the rows of one table, range by range: reads a range, writes it, and reads it again at both ends until both come to the same.
//
// Every cell keeps its time.  Cells that garbage collection is about to forget are copied, but not compared (range_sum.h).  Memory: a
// row, and kSendBytes.
//
// Not for several threads.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/clock.h"
#include "copy/copy_state.h"
#include "copy/range_sum.h"
#include "model/copy_access.h"

namespace sonde {

struct CopyOptions {
  // After so many bytes a range ends: it is compared, and a copy that is broken off goes on from there.
  size_t range_bytes = size_t{32} << 20;
  // Told after each range.  Null: nobody is.
  std::function<void(const std::string& table, const CopiedTable& done)> on_progress;
  // Waits before a range is tried again.  Null: sleeps.  A test puts its own here.
  std::function<void(absl::Duration)> wait;
};

class TableCopy {
 public:
  // `schema` is the source's; all pointers must outlive this.  `state` has an entry of the table.
  TableCopy(CopyAccess* from, CopyAccess* to, const TableSchema& schema, const CopyOptions& options,
            const Clock* clock, CopyState* state);

  // Copies what is not copied yet.  A range is tried kTriesMax times where a place is away.
  // DATA_LOSS: a range of the copy does not come to what it comes to at the source.  Other errors: those of the places and of `state`.
  absl::Status Run();

  static constexpr int kTriesMax = 6;

 private:
  // Copies from next_key on, until the end or an error.
  absl::Status RunOnce();
  void BeginRange();
  absl::Status TakeRow(ReadRow row);
  // Writes the cells that were taken.
  absl::Status Send();
  // All rows before `end` are written.  Empty: those were the last ones.
  absl::Status EndRange(const std::string& end);
  absl::Status Compare(const RowRange& range);
  absl::StatusOr<RangeSum> SumOf(CopyAccess* tables, const RowRange& range) const;

  CopyAccess* const from_;
  CopyAccess* const to_;
  const TableSchema& schema_;
  const CopyOptions& options_;
  const Clock* const clock_;
  CopyState* const state_;
  CopiedTable* const done_;
  std::set<std::string> merged_;  // families that are aggregates

  // Of the range.
  int64_t moment_micros_ = 0;
  std::optional<RangeSummer> summer_;
  CopiedTable taken_;
  // To be sent.
  std::vector<RowWrite> writes_;
  size_t writes_bytes_ = 0;
  size_t writes_mutations_ = 0;
};

}  // namespace sonde
