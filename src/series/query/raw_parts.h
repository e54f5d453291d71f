// Points one by one, read in parts by idle processors: those that a filter leaves of many.
#pragma once

#include "absl/status/status.h"
#include "series/query/query_words.h"
#include "series/query/series_scan.h"

namespace sonde::series {

// Gives the points of a scan that pass the query's conditions on values, in the order of one thread that reads them as
// numbers by time.  `query` has idle workers; scan->CanDivide(), and its order().times_of_field() ascend.  Each part's points
// wait, at most 8 MiB of them, until those before them are given.
// False: `take` has enough.  Errors: those of the scan and of `take`.
absl::StatusOr<bool> ReadRawInParts(const Query& query, SeriesScan* scan, const SeriesScan::TakeBatch& take);

}  // namespace sonde::series
