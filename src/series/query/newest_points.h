// The newest points of each series.
#pragma once

#include <functional>

#include "absl/status/status.h"
#include "series/query/query.h"
#include "series/query/series_scan.h"

namespace sonde::series {

// Calls `emit` with the newest `count` points of each series, the newest first, until it answers false.
absl::Status ReadNewestPoints(SeriesScan* scan, int64_t count,
                              const std::function<bool(const ResultRow&)>& emit);

// The same, count 1, of a table of newest values: each value is the newest of its field.
absl::Status ReadNewestValues(SeriesScan* scan, const std::function<bool(const ResultRow&)>& emit);

}  // namespace sonde::series
