// Series of a MetricScan, given to sinks as they are read: their samples are in memory one entity at a time.
//
// An entity is a set of tags; each of its fields is a series.  Idle processors read parts of the rows.  The first and the last entity
// of a part may have rows in the parts beside it: these two are joined on the thread of the visit, the others go to the part's sink.
//
// Threads: the function may be called at once.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "model/table_access.h"
#include "promql/samples/samples.h"
#include "series/metric/metric_read.h"
#include "series/metric/metric_scan.h"

namespace sonde::series {

// Whether these scans can be visited so: there is one, the rows of each of its entities lie one behind the other, and no two entities
// have the same labels of Prometheus'.
bool CanVisit(const std::vector<MetricScan>& scans);

// CanVisit.  Errors: as ReadMetrics; those of the sinks and of visit.take.
absl::Status VisitMetrics(MetricScan scan, const MetricRead& read, TableAccess* tables,
                          const promql::SeriesVisit& visit);

}  // namespace sonde::series
