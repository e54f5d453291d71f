// How many series there are, and which labels they have: from the index of open series where it is whole and nothing was deleted by
// matchers, else from their points.
//
// From the index, series count that had points on one of the days (UTC) of the time, and ever had the field.
//
// Threads: the function may be called at once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "model/table_access.h"
#include "series/known/declarations.h"
#include "series/metric/metric_read.h"

namespace sonde::series {

struct TakeCounts {
  // So many series have this label with this value; it may be told of one value several times.  Comes before `series`.
  std::function<absl::Status(std::string_view label, std::string_view value, uint64_t series)> value;
  std::function<absl::Status(uint64_t series)> series;  // so many more
  std::optional<std::string> label = std::nullopt;      // `value` is told of this one only
};

// What two known series have alike counts twice.  Errors: those of ForEachMetric, and of `take`.
absl::Status CountMetrics(const std::vector<KnownSeriesRef>& known, const MetricRead& read,
                          TableAccess* tables, const TakeCounts& take);

}  // namespace sonde::series
