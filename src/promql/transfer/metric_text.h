// Samples of a series as text that is exported: as lines of JSON, and as OpenMetrics.
//
//   {"metric":{"__name__":"up","job":"x"},"values":[1,0],"timestamps":[1700000000000,1700000015000]}
//
//   # TYPE up gauge
//   up{job="x"} 1 1700000000
//   # EOF
//
// Threads: the functions are pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "promql/samples/labels.h"
#include "series/http/metric_metadata.h"

namespace sonde::promql {

// How lines of JSON write the NaN by which Prometheus says that a series has ended.
constexpr std::string_view kStaleText = "stale";
constexpr std::string_view kCounterEnding = "_total";
constexpr std::string_view kOpenMetricsEnd = "# EOF";

// Milliseconds since 1970, and a value for each.
struct SampleRun {
  std::vector<int64_t> times;
  std::vector<double> values;
};

// Appends a line.
void AppendJsonLine(const Labels& labels, const SampleRun& run, std::string* out);

// Appends a line a sample; marks of series that have ended have no form there, and are left out.
void AppendOpenMetrics(const Labels& labels, const SampleRun& run, std::string* out);
// The lines in front of those of a metric.  Types other than counter and gauge are "unknown": their parts are metrics of their own here.
// `metadata`: null: nothing is known.
void AppendOpenMetricsHead(std::string_view metric, const series::MetricMetadata* metadata, std::string* out);

}  // namespace sonde::promql
