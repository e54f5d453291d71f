// The step of a query that makes aggregates of points, over buckets of time and groups of series.
//
// Where nothing depends on the order of the points, and the store gives numbers and can tell parts, idle
// processors read and fold parts of the rows (docs/decisions/0026-parallel-questions.md).
#pragma once

#include "absl/status/status.h"
#include "rows/bucket_fold.h"
#include "series/query/query_words.h"
#include "series/query/series_scan.h"
#include "series/schema/time_buckets.h"

namespace sonde::series {

// `every` must outlive what is returned, and may be read by several threads.
rows::Buckets BucketsOf(const TimeBuckets& every);

// Gives the rows of aggregates of what `scans` find, those of a group one behind the other.  Errors: those of
// the scans, of the fold (rows/bucket_fold.h) and of `take`.
absl::Status ReadAggregates(const Query& query, const Scans& scans, const SeriesScan::TakeBatch& take);

}  // namespace sonde::series
