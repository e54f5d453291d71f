// The samples of one series as they are found in batches of points (metric_batch.h).
//
// Threads: as values have it.
#pragma once

#include <cstddef>
#include <cstdint>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "promql/samples/labels.h"
#include "promql/samples/samples.h"
#include "rows/batch.h"
#include "series/metric/metric_scan.h"

namespace sonde::series {

// RESOURCE_EXHAUSTED, with what to do.
absl::Status TooManySeries(int64_t series_max);
absl::Status TooManySamples(int64_t samples_max);

// About what labels take in memory.
int64_t BytesOf(const promql::Labels& labels);

struct FoundSamples {
  promql::SampleSeries series;  // of each time one sample, unless !is_sorted
  bool is_sorted = true;

  // Appends what rows [begin, end) of a batch have of the metric at this place of scan.metrics.  Returns how many
  // samples they have.  `rising`: empty, or the milliseconds of these rows, which rise; set where this has found them, for the other
  // metrics of the same rows, and viewed from here until samples are added.
  int64_t Add(const MetricScan& scan, size_t metric, const rows::Batch& batch, size_t begin, size_t end,
              absl::Span<const int64_t>* rising);
  // Of a time that has a sample already, the later call counts.
  void AddSample(int64_t millis, double value);
  // Appends samples of the same series that come behind these.
  void Append(const FoundSamples& more);
  // By time, once each: if several have one time, the last one counts.
  void Sort();
};

}  // namespace sonde::series
