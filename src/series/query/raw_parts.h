// Points one by one, read in parts by idle processors: those that a filter leaves of many.
#pragma once

#include "absl/status/status.h"
#include "series/query/part_fold.h"
#include "series/query/query_words.h"
#include "series/query/series_scan.h"

namespace sonde::series {

// Gives the points of a scan that pass the query's conditions on values, in the order of one thread that reads them as
// numbers by time.  `query` has idle workers; scan->CanDivide(), and its order().times_of_field() ascend.  Each part's points
// wait, at most 8 MiB of them, until those before them are given.
// False: `take` has enough.  Errors: those of the scan and of `take`.
absl::StatusOr<bool> ReadRawInParts(const Query& query, SeriesScan* scan, const SeriesScan::TakeBatch& take);

// The same for a caller that folds parts by itself: `take_part` gets those of `make`, and `take` the points that are left
// behind them.  The query has no conditions on values.
absl::StatusOr<bool> FoldRawInParts(const Query& query, SeriesScan* scan, const MakeFold& make,
                                    const TakePart& take_part, const SeriesScan::TakeBatch& take);

}  // namespace sonde::series
