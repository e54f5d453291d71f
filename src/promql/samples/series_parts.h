// Work over many series that are in memory, in parts.
#pragma once

#include <cstddef>
#include <vector>

#include "absl/status/status.h"
#include "promql/samples/samples.h"

namespace sonde::promql {

// Gives series to sinks, in their order, in parts that take some milliseconds each; the visit's idle workers help.
// Errors: those of the sinks and of visit.take.
absl::Status VisitInParts(std::vector<SampleSeries> all, const SeriesVisit& visit);

}  // namespace sonde::promql
