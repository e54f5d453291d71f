// The samples and labels of known series, as Prometheus sees them (metric_scan.h): for remote read and PromQL.
//
// Two fields may be one metric: `usage` of series `pg`, and `value` of series `pg_usage`.  Where their labels
// are the same, too, they are one series, as Prometheus has it for two storages.  It has one sample of a
// time: that of the series with the longer name, here the one that was written as this metric.
//
// Threads: the functions may be called at once.
// Errors: INVALID_ARGUMENT: a pattern that RunQuery refuses; RESOURCE_EXHAUSTED: more samples or series than were
// allowed; those of `interrupted`, `hold` and the tables.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "promql/samples/labels.h"
#include "promql/samples/samples.h"
#include "series/known/declarations.h"
#include "series/metric/metric_read.h"

namespace sonde::series {

struct MetricSamples {
  std::vector<promql::SampleSeries> series;  // sorted by labels, each once; times rise
  int64_t held_bytes = 0;  // of what `hold` was told, for these; to be given back by the caller
};

absl::StatusOr<MetricSamples> ReadMetrics(const std::vector<KnownSeriesRef>& known, const MetricRead& read,
                                          TableAccess* tables);

// The labels of the series that have samples in the time, sorted, each once: from the index of an open series where it has all of it and
// nothing was deleted (metric_index.h), else from their points, which costs what these cost to be read.
absl::StatusOr<std::vector<promql::Labels>> ListMetrics(const std::vector<KnownSeriesRef>& known,
                                                        const MetricRead& read, TableAccess* tables);
// Gives each of them to `take`, in any order, and keeps none; what two known series have alike comes twice.  An error of `take` ends it.
absl::Status ForEachMetric(const std::vector<KnownSeriesRef>& known, const MetricRead& read,
                           TableAccess* tables,
                           const std::function<absl::Status(promql::Labels labels)>& take);

}  // namespace sonde::series
