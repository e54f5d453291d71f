// Which questions to a known series find the metrics that a selector of Prometheus' means.
//
// A numeric field is a metric: `value` has the name of its series, other fields SERIES_FIELD, those of a
// derived table SERIES_TABLE_FIELD.  Tags are labels.  Names are as they were written, whatever signs they
// have.
// Threads: the functions are pure.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "promql/syntax/matcher.h"
#include "series/known/declarations.h"
#include "series/query/query_words.h"
#include "series/schema/schema.h"

namespace sonde::series {

// A question to one series, whose tags are labels.
struct MetricScan {
  KnownSeries series;                // or a derived table as a series
  SeriesSchema view;                 // as queries see it
  std::vector<std::string> metrics;  // of query.fields
  Query query;                       // tags and fields; times and limits are the caller's
  // The place of the metric that may have marks (metric_mark.h), among `metrics`, and their field.
  std::optional<std::pair<size_t, size_t>> stale;
};

// Calls `take` for each series of `known` with metrics that the matchers of names let through, and that has no label
// which the others refuse.  A derived table is asked where a matcher names one of its metrics whole: a pattern means
// the series, not their copies.  Errors: those of `take`.
absl::Status ForEachMetricScan(const std::vector<KnownSeriesRef>& known,
                               const std::vector<promql::Matcher>& matchers,
                               const std::function<absl::Status(MetricScan scan)>& take);

// The names of the metrics of `known` that all matchers of names let through, sorted, whether they have points or not.
std::vector<std::string> MetricNames(const std::vector<KnownSeriesRef>& known,
                                     const std::vector<promql::Matcher>& matchers);

}  // namespace sonde::series
