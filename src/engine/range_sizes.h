// Measures how many bytes ranges of rows take, and divides ranges, as far as a store can tell without reading
// them.
//
// Threads: all functions may be called at once.  Errors: those of row_store.h.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "model/cell.h"
#include "model/divided_ranges.h"
#include "model/row_range.h"

namespace sonde {

class RangeSizes {
 public:
  // About how many bytes lie in [starts[0], starts[1]), ..., [starts.back(), end), on disk and in memory.
  // `starts` must ascend, and have at least one key.  An empty `end` is the end of the table.  The sizes of
  // small ranges may be rough. Deleted or moved cells count until their space is given back.
  virtual absl::StatusOr<std::vector<uint64_t>> Measure(TableId table, const std::vector<std::string>& starts,
                                                        const std::string& end,
                                                        absl::Time deadline = absl::InfiniteFuture()) = 0;

  // Divides `ranges` (normal form) by what is stored of the family.  One part: it is little, or nobody can
  // tell.  Costs a microsecond a part and page.
  virtual absl::StatusOr<DividedRanges> Divide(TableId table, FamilyId family,
                                               const std::vector<RowRange>& ranges) = 0;

 protected:
  ~RangeSizes() = default;
};

}  // namespace sonde
