// The scans that answer a query: of the series' own tables, version by version, or of copies that narrow it more.
#pragma once

#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/known/known_series.h"
#include "series/query/query_plan.h"
#include "series/query/series_scan.h"
#include "series/schema/schema.h"

namespace sonde::series {

// `open`: not null where `schema` is that of an open series.  `open`, `plan` and `tables` must outlive the scans.  Errors:
// those of SeriesScan::Plan and ChooseCopies.
absl::StatusOr<Scans> PlanScans(const SeriesSchema& schema, const KnownSeries* open, const QueryPlan& plan,
                                TableAccess* tables);

}  // namespace sonde::series
