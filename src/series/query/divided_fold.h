// Folds the points of a scan in parts: idle processors read and fold parts of the rows, and what they fold is
// taken in the order of the rows.
//
// What comes out is what one thread makes (rows/bucket_fold.h says where the last bit of a sum may differ).
// So a part that ends with an error is not the caller's: the caller reads what is left by itself, and meets
// the error, or none, where one thread would.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/synchronization/mutex.h"
#include "model/divided_ranges.h"
#include "rows/batch.h"
#include "rows/work_check.h"
#include "series/query/part_fold.h"
#include "series/query/query_words.h"
#include "series/query/series_scan.h"
#include "work/idle_workers.h"

namespace sonde::series {

// Not for several threads.
class DividedFold {
 public:
  // All must outlive this.  `query` has idle workers.  `make_fold`: makes empty folds of one plan.  `order`: as for
  // SeriesScan::ReadRanges.
  DividedFold(const Query& query, SeriesScan* scan, NumberOrder order, MakeFold make_fold)
      : query_(query), scan_(scan), order_(order), make_fold_(std::move(make_fold)) {}

  // Folds the rows that the scan asks for, part by part, and returns the ranges that are left to the caller,
  // behind those whose parts were taken: all, where it is not worth while to divide them.  Errors: those of
  // `take`.
  absl::StatusOr<std::vector<RowRange>> Fold(const TakePart& take);

 private:
  // What a thread needs to read and fold a part.
  struct Reader {
    const PartsInOrder* all = nullptr;
    size_t part = 0;  // of `all`
    rows::Interrupted interrupted;
    std::unique_ptr<SeriesScan> scan;
    std::unique_ptr<PartFold> fold;
  };

  // Folds parts, and returns how many of them were taken: fewer than all where one ended with an error, or
  // where it is enough.
  absl::StatusOr<size_t> FoldParts(const std::vector<std::vector<RowRange>>& parts, const TakePart& take);
  absl::Status FoldPart(const std::vector<RowRange>& ranges, Reader* reader) const;
  std::unique_ptr<Reader> TakeReader() ABSL_LOCKS_EXCLUDED(mutex_);
  void GiveBack(std::unique_ptr<Reader> reader) ABSL_LOCKS_EXCLUDED(mutex_);

  const Query& query_;
  SeriesScan* const scan_;
  const NumberOrder order_;
  const MakeFold make_fold_;
  bool is_enough_ = false;
  absl::Mutex mutex_;
  std::vector<std::unique_ptr<Reader>> readers_ ABSL_GUARDED_BY(mutex_);  // those without a part
};

}  // namespace sonde::series
