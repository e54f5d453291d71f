#include "series/metric/series_samples.h"

#include <utility>

#include "absl/status/status.h"

namespace sonde::series {

absl::StatusOr<std::vector<promql::SampleSeries>> SeriesSamples::Select(
    const std::vector<promql::Matcher>& matchers, int64_t start_millis, int64_t end_millis) {
  GiveBack();
  read_.matchers = matchers;
  read_.start_millis = start_millis;
  read_.end_millis = end_millis;
  absl::StatusOr<MetricSamples> samples = ReadMetrics(known_, read_, tables_);
  if (absl::IsInvalidArgument(samples.status()))
    return absl::FailedPreconditionError(samples.status().message());
  if (!samples.ok()) return samples.status();
  held_bytes_ = samples->held_bytes;
  return std::move(samples->series);
}

void SeriesSamples::GiveBack() {
  if (held_bytes_ > 0) read_.hold(-held_bytes_).IgnoreError();
  held_bytes_ = 0;
}

}  // namespace sonde::series
