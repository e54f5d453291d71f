// What the index of an open series tells of its metrics without their points: by days (UTC), and of fields that an entity ever had.
//
// Threads: the functions may be called at once.
#pragma once

#include <cstddef>
#include <optional>

#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/index/entity_index.h"
#include "series/index/position_set.h"
#include "series/metric/metric_read.h"
#include "series/metric/metric_scan.h"

namespace sonde::series {

// The entities that have the metrics of a scan.  Nothing: the points must be asked, as the index has not all of the series, or points of it
// were deleted.  Prepares scan->query.  Errors: those of the tables and of read.interrupted.
absl::StatusOr<std::optional<EntityAnswer>> AskIndex(MetricScan* scan, const MetricRead& read,
                                                     TableAccess* tables);
// Those of a part that have one metric.
PositionSet PositionsOf(const MetricScan& scan, const EntityAnswer::Part& part, size_t metric);

}  // namespace sonde::series
