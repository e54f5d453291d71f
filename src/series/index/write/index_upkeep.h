// What is to be done to the index some day, and the doing: tails of blocks are sealed, and sets of many cells are folded.
//
// A block's tails are sealed when they are many, or when nothing new has come for a while: each question reads all tails of its series.
//
// Threads: all functions may be called at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "absl/base/thread_annotations.h"
#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/index/write/known_entities.h"
#include "series/known/known_series.h"

namespace sonde::series {

class IndexUpkeep {
 public:
  // All must outlive this.  `is_shared`: only blocks that NoteOwnBlock was told of are sealed; of declared series, this is always so.
  IndexUpkeep(TableAccess* tables, const Clock* clock, bool is_shared);

  // There are more tails of the series.  `open_end`: the end of the block that got them; `entities`: of the series.
  void NoteTails(const KnownSeriesRef& series, TailCounts more, size_t open_end, size_t entities);
  void NoteOwnBlock(const std::string& block);
  // A cell of a set was written.
  void NoteSetCell(const std::string& row_key);
  // A set was read, and has so many cells.
  void NoteSetRow(const std::string& row_key, size_t cells);

  // Does what is due.  `is_end`: of declared series, also what would be due later.  Errors: those of the tables; what was not done is done later.
  absl::Status KeepUp(bool is_end = false);

 private:
  struct Tails {
    KnownSeriesRef series;
    TailCounts counts;
    size_t open_end = 0;
    size_t entities = 0;
    int64_t last_micros = 0;

    bool IsDue(int64_t now_micros) const;
  };

  absl::Status SealSeries(const KnownSeriesRef& series) ABSL_EXCLUSIVE_LOCKS_REQUIRED(working_);

  TableAccess* const tables_;
  const Clock* const clock_;
  const bool is_shared_;
  const std::string writer_;  // a name that nobody else has
  uint64_t next_column_ ABSL_GUARDED_BY(working_) = 0;

  absl::Mutex working_;
  absl::Mutex mutex_ ABSL_ACQUIRED_AFTER(working_);
  absl::flat_hash_map<std::string, Tails> tails_ ABSL_GUARDED_BY(mutex_);  // by series
  // Rows of sets, and the cells that were written to them since they were folded.
  absl::flat_hash_map<std::string, int> cells_of_set_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> to_fold_ ABSL_GUARDED_BY(mutex_);
  absl::flat_hash_set<std::string> own_blocks_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace sonde::series
