// The batches of points that a MetricScan gives, by series of Prometheus': their columns are tags, the time, and the fields of the query.
//
// Threads: the functions are pure.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "promql/samples/labels.h"
#include "rows/batch.h"
#include "series/metric/metric_read.h"
#include "series/metric/metric_scan.h"

namespace sonde::series {

// Sets times and limits of the query of a scan: what is the same for all series that are asked.
void PrepareQuery(const MetricRead& read, Query* query);

// The same for the samples themselves; the field of marks is then the last one.
void PrepareForSamples(const MetricRead& read, MetricScan* scan);

// The value of a tag; empty: there is none.
std::string_view TagOf(const ColumnView& column, size_t row);
// The first row from `begin` on with other tags.
size_t EndOfTags(const rows::Batch& batch, size_t tags, size_t begin);
// The values of all tags, each behind its length: two rows have the same where their tags are the same.
std::string TagsText(const rows::Batch& batch, size_t tags, size_t row);
// Of the metric at this place among scan.metrics.
promql::Labels LabelsOf(const MetricScan& scan, size_t metric, const rows::Batch& batch, size_t row);

}  // namespace sonde::series
