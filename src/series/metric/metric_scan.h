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
#include <string_view>
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
  // Each metric is asked for by itself: limits of samples and series are those of each.
  bool is_of_several = false;
};

// Calls `take` for each series of `known` with metrics that the matchers of names let through, and that has no label
// which the others refuse.  A derived table is asked where a matcher names one of its metrics whole: a pattern means
// the series, not their copies.  Errors: those of `take`.
absl::Status ForEachMetricScan(const std::vector<KnownSeriesRef>& known,
                               const std::vector<promql::Matcher>& matchers,
                               const std::function<absl::Status(MetricScan scan)>& take);

// The open series that alone may have this metric, and whose rows can be visited (metric_visit.h).  Null: there is none, or others may have
// the metric, too.
const KnownSeries* FindOnlyOpen(const std::vector<KnownSeriesRef>& known, std::string_view metric);

// One question for several metrics of an open series; `matchers`: of labels but for the name.  Nothing: no series of theirs is let through.
std::optional<MetricScan> ScanOfSeveral(const KnownSeries& open, const std::vector<std::string>& metrics,
                                        const std::vector<promql::Matcher>& matchers);

// The names of the metrics of `known` that all matchers of names let through, sorted, whether they have points or not.
std::vector<std::string> MetricNames(const std::vector<KnownSeriesRef>& known,
                                     const std::vector<promql::Matcher>& matchers);

}  // namespace sonde::series
