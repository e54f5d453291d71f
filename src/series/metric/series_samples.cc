#include "series/metric/series_samples.h"

#include <utility>

#include "absl/status/status.h"
#include "series/metric/metric_scan.h"
#include "series/metric/metric_visit.h"

namespace sonde::series {

void SeriesSamples::Begin(const std::vector<promql::Matcher>& matchers, int64_t start_millis,
                          int64_t end_millis) {
  GiveBack();
  read_.matchers = matchers;
  read_.start_millis = start_millis;
  read_.end_millis = end_millis;
}

absl::StatusOr<std::vector<promql::SampleSeries>> SeriesSamples::Select(
    const std::vector<promql::Matcher>& matchers, int64_t start_millis, int64_t end_millis) {
  Begin(matchers, start_millis, end_millis);
  absl::StatusOr<MetricSamples> samples = ReadMetrics(known_, read_, tables_);
  if (absl::IsInvalidArgument(samples.status()))
    return absl::FailedPreconditionError(samples.status().message());
  if (!samples.ok()) return samples.status();
  held_bytes_ = samples->held_bytes;
  return std::move(samples->series);
}

absl::Status SeriesSamples::ForEach(const std::vector<promql::Matcher>& matchers, int64_t start_millis,
                                    int64_t end_millis, const promql::SeriesVisit& visit) {
  Begin(matchers, start_millis, end_millis);
  std::vector<MetricScan> scans;
  absl::Status status = ForEachMetricScan(known_, matchers, [&](MetricScan scan) {
    scans.push_back(std::move(scan));
    return absl::OkStatus();
  });
  if (!status.ok()) return status;
  if (!CanVisit(scans)) return SampleSource::ForEach(matchers, start_millis, end_millis, visit);
  status = VisitMetrics(std::move(scans[0]), read_, tables_, visit);
  return absl::IsInvalidArgument(status) ? absl::FailedPreconditionError(status.message()) : status;
}

std::optional<std::string> SeriesSamples::RowsOf(std::string_view metric) {
  const KnownSeries* const open = FindOnlyOpen(known_, metric);
  return open == nullptr ? std::nullopt : std::optional<std::string>(open->schema.name);
}

absl::Status SeriesSamples::ForEachOf(const std::vector<std::string>& metrics,
                                      const std::vector<promql::Matcher>& matchers, int64_t start_millis,
                                      int64_t end_millis, const promql::SeriesVisit& visit) {
  Begin(matchers, start_millis, end_millis);
  const KnownSeries* const open = FindOnlyOpen(known_, metrics.front());
  if (open == nullptr) return absl::InternalError("no series has these metrics alone");
  std::optional<MetricScan> scan = ScanOfSeveral(*open, metrics, matchers);
  if (!scan) return absl::OkStatus();
  const absl::Status status = VisitMetrics(*std::move(scan), read_, tables_, visit);
  return absl::IsInvalidArgument(status) ? absl::FailedPreconditionError(status.message()) : status;
}

void SeriesSamples::GiveBack() {
  if (held_bytes_ > 0) read_.hold(-held_bytes_).IgnoreError();
  held_bytes_ = 0;
}

}  // namespace sonde::series
