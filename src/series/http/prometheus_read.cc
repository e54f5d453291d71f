#include "series/http/prometheus_read.h"

#include <utility>

#include "promql/samples/samples.h"
#include "promql/syntax/matcher.h"
#include "series/metric/metric_reader.h"
#include "series/metric/series_samples.h"

namespace sonde::series {
namespace {

using prometheus::RemoteMatcher;
using prometheus::RemoteSample;
using prometheus::RemoteSeries;

promql::MatchKind KindOf(RemoteMatcher::Type type) {
  switch (type) {
    case RemoteMatcher::Type::kEqual:
      return promql::MatchKind::kEqual;
    case RemoteMatcher::Type::kNotEqual:
      return promql::MatchKind::kNotEqual;
    case RemoteMatcher::Type::kMatches:
      return promql::MatchKind::kMatches;
    case RemoteMatcher::Type::kMatchesNot:
      return promql::MatchKind::kMatchesNot;
  }
  return promql::MatchKind::kEqual;
}

}  // namespace

absl::StatusOr<std::vector<RemoteSeries>> ReadForPrometheus(IngestService* service, TableAccess* tables,
                                                            const prometheus::RemoteQuery& query,
                                                            std::function<absl::Status()> interrupted,
                                                            std::function<absl::Status(int64_t)> hold) {
  MetricRead read;
  for (const RemoteMatcher& matcher : query.matchers) {
    absl::StatusOr<promql::Matcher> made =
        promql::Matcher::Create(KindOf(matcher.type), matcher.name, matcher.value);
    if (!made.ok()) return made.status();
    read.matchers.push_back(*std::move(made));
  }
  read.start_millis = query.start_millis;
  read.end_millis = query.end_millis;
  read.now_micros = service->clock().NowMicros();
  read.samples_max = kRemoteSamplesMax;
  read.series_max = kMetricSeriesMax;
  // In a vector that may be twice as long as it has to be, in the message, and packed.
  read.sample_bytes = 6 * static_cast<int64_t>(sizeof(RemoteSample));
  read.interrupted = std::move(interrupted);
  read.hold = std::move(hold);
  read.idle_workers = service->idle_workers();
  read.index = &service->index();
  absl::StatusOr<MetricSamples> samples = ReadMetrics(service->declarations().List(), read, tables);
  if (!samples.ok()) return samples.status();
  std::vector<RemoteSeries> result;
  result.reserve(samples->series.size());
  for (promql::SampleSeries& series : samples->series) {
    RemoteSeries& made = result.emplace_back();
    made.labels = std::move(series.labels);
    made.samples.reserve(series.times.size());
    for (size_t i = 0; i < series.times.size(); ++i) {
      made.samples.push_back({series.values[i], series.times[i]});
    }
    series = {};
  }
  return result;
}

}  // namespace sonde::series
