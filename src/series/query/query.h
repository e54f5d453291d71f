// Questions to a declared series: points of some tags and a range of time, raw, the newest, or aggregated.
//
// Rows are read as a stream.  Raw points go out as they come, in the order of the row keys and, within a row,
// by time.  The newest N keep N points a series.  Aggregates keep the buckets of one group where a group's
// rows lie one behind the other, and else all buckets, but never the points themselves (percentiles keep the
// values of the buckets that are kept).  What is kept is bounded (query_words.h, rows::FoldLimits).
//
// A query is a plan over the operators of `rows`: scans give batches of points (series_scan.h), and what a
// declared series needs on top, tags, versions, copies and tables of newest values, is decided before.
//
// The order of what is done: points are selected; changes (rate, ...) take the place of values, series by
// series; aggregates are made, over buckets and groups; windows join buckets; gaps are filled; the top rows
// are picked; rows_max ends the answer.
#pragma once

#include <functional>

#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "rows/batch.h"
#include "series/known/declarations.h"
#include "series/query/part_fold.h"
#include "series/query/query_header.h"
#include "series/query/query_words.h"

namespace sonde::series {

// Calls `row` for each result; false ends the query early.  Raw points come version of the declaration by
// version, the oldest first.  Where a complete order or period table narrows the query more (table_choice.h),
// it is read instead, and raw points come in the order of its keys; QueryStats::tables names it.
// INVALID_ARGUMENT as PlanScan and HeaderOf, and for a pattern that is no regular expression or longer than
// kPatternBytesMax, and for more than may be held (asking again is no cure); DATA_LOSS: a row or cell that
// this declaration never writes; else what `tables` answers.
// The newest point of each series (latest = 1, all times) comes from a table of newest values where that
// gives the same answer (table_choice.h).
absl::StatusOr<QueryStats> RunQuery(const SeriesSchema& schema, const Query& query, TableAccess* tables,
                                    const std::function<bool(const ResultRow&)>& row);

// The same of a known series: of an open one, the tags of the query are those of LabelsAsTags.
absl::StatusOr<QueryStats> RunQuery(const KnownSeries& series, const Query& query, TableAccess* tables,
                                    const std::function<bool(const ResultRow&)>& row);

// The same in batches, whose columns are those of the header: tags (kBytes), the time (kTime), values (ints that left 64
// bits are kInt128).  A batch holds until `take` returns; false ends the query early.  The query has no top, no
// rows_max and no fill.
using TakeAnswer = std::function<absl::StatusOr<bool>(const rows::Batch& batch)>;
absl::StatusOr<QueryStats> RunQueryInBatches(const KnownSeries& series, const Query& query,
                                             TableAccess* tables, const TakeAnswer& take);

// The points of a query that takes_numbers and has no conditions on values, for a caller that folds them by itself: where idle
// processors read parts, `take_part` gets those of `make`, one after the other.  The other points go to `take`, as above.  Points come
// in the order of RunQueryInBatches, whoever gets them.  The columns of a part's batches are those that `take` sees.
absl::StatusOr<QueryStats> RunQueryInParts(const KnownSeries& series, const Query& query, TableAccess* tables,
                                           const MakeFold& make, const TakePart& take_part,
                                           const TakeAnswer& take);

}  // namespace sonde::series
