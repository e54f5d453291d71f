// What there is of series: status/tsdb; what senders say about metrics: metadata.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>
#include <memory>
#include <optional>
#include <utility>

#include "absl/time/clock.h"
#include "base/format.h"
#include "promql/http/api_answer.h"
#include "promql/http/prometheus_api.h"
#include "promql/http/series_counts.h"
#include "promql/syntax/words.h"
#include "series/http/metric_metadata.h"
#include "series/metric/metric_counts.h"

namespace sonde::promql {
namespace {

// Labels of series that are counted before it is asked whether the time is over.
constexpr uint64_t kValuesALook = 8'192;

// Nothing: the text is no number.
std::optional<int64_t> NumberOf(std::string_view text) {
  int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

absl::StatusOr<size_t> ReadStatusLimit(const ApiForm& form) {
  const std::string text = form.Text("limit");
  if (text.empty()) return kStatusLimitUsual;
  const std::optional<int64_t> limit = NumberOf(text);
  if (!limit || *limit < 1) return absl::InvalidArgumentError("limit must be a positive number");
  if (*limit > kStatusLimitMax) {
    return absl::InvalidArgumentError(fmt::format("limit must not exceed {}", kStatusLimitMax));
  }
  return *limit;
}

void AppendCounts(std::string_view name, const std::vector<NamedCount>& counts, std::string* out) {
  fmt::format_to(std::back_inserter(*out), ",\"{}\":[", name);
  for (size_t i = 0; i < counts.size(); ++i) {
    out->append(i > 0 ? ",{\"name\":" : "{\"name\":");
    AppendJsonText(counts[i].name, out);
    fmt::format_to(std::back_inserter(*out), ",\"value\":{}}}", counts[i].count);
  }
  out->push_back(']');
}

// Whether what was counted until then is worth an answer.
bool IsCut(const absl::Status& status) {
  return absl::IsResourceExhausted(status) || absl::IsUnavailable(status) || absl::IsDeadlineExceeded(status);
}

}  // namespace

absl::Status PrometheusApi::TsdbStatus(const HttpRequest& request, const ApiForm& form,
                                       HttpResponse* response) const {
  const absl::StatusOr<size_t> limit = ReadStatusLimit(form);
  if (!limit.ok()) return limit.status();
  const absl::StatusOr<int64_t> end = form.TimeOr("end", now_millis());
  if (!end.ok()) return end.status();
  const absl::StatusOr<int64_t> start = form.TimeOr("start", *end - kStatusSpanMillis);
  if (!start.ok()) return start.status();
  if (*end < *start) return absl::InvalidArgumentError("end timestamp must not be before start timestamp");
  absl::Duration time_max = kQueryTimeMax;
  if (const std::string text = form.Text("timeout"); !text.empty()) {
    const absl::StatusOr<int64_t> nanos = ParseApiDuration(text);
    if (!nanos.ok()) return InvalidParameter("timeout", nanos.status());
    time_max = std::min(time_max, absl::Nanoseconds(*nanos));
  }
  const auto memory = std::make_shared<series::QueryMemory>(&service_->admission());
  series::MetricRead read = NewRead(InterruptedBy(request, absl::Now() + time_max), memory);
  read.start_millis = *start;
  read.end_millis = *end;
  SeriesCounts counts(read.hold);
  uint64_t told = 0;
  const series::TakeCounts take = {
      .value =
          [&](std::string_view label, std::string_view value, uint64_t series) {
            const absl::Status goes_on = told++ % kValuesALook == 0 ? read.interrupted() : absl::OkStatus();
            return goes_on.ok() ? counts.AddValue(label, value, series) : goes_on;
          },
      .series =
          [&](uint64_t series) {
            counts.AddSeries(series);
            return absl::OkStatus();
          }};
  const absl::Status status =
      series::CountMetrics(service_->declarations().List(), read, service_->TablesFor(request).get(), take);
  if (!status.ok() && !IsCut(status)) return status;
  std::string data = fmt::format(
      R"({{"headStats":{{"numSeries":{},"numLabelPairs":{},"chunkCount":0,"minTime":{},"maxTime":{}}})",
      counts.series(), counts.label_pairs(), *start, *end);
  AppendCounts("seriesCountByMetricName", counts.SeriesByMetric(*limit), &data);
  AppendCounts("labelValueCountByLabelName", counts.ValuesByLabel(*limit), &data);
  AppendCounts("memoryInBytesByLabelName", counts.BytesByLabel(*limit), &data);
  AppendCounts("seriesCountByLabelValuePair", counts.SeriesByPair(*limit), &data);
  data.push_back('}');
  Notices notices;
  if (!status.ok()) {
    notices.warnings.push_back(fmt::format(
        "only {} series were counted, there are more: {}; ask for a shorter time with start and end",
        counts.series(), TextOfError(status)));
  }
  Answer(data, notices, response);
  return absl::OkStatus();
}

absl::Status PrometheusApi::Metadata(const HttpRequest& request, const ApiForm& form,
                                     HttpResponse* response) const {
  int64_t limit = -1;
  for (const char* const name : {"limit", "limit_per_metric"}) {
    const std::string text = form.Text(name);
    if (text.empty()) continue;
    const std::optional<int64_t> number = NumberOf(text);
    if (!number) return absl::InvalidArgumentError(fmt::format("{} must be a number", name));
    // A metric has one at most.
    if (std::string_view(name) == "limit") limit = *number;
  }
  const absl::StatusOr<std::map<std::string, series::MetricMetadata>> all =
      series::ReadMetadata(form.Text("metric"), service_->TablesFor(request).get());
  if (!all.ok()) return all.status();
  std::string data = "{";
  int64_t count = 0;
  for (const auto& [metric, metadata] : *all) {
    if (limit >= 0 && count == limit) break;
    if (count++ > 0) data.push_back(',');
    AppendJsonText(metric, &data);
    data.append(":[{\"type\":");
    AppendJsonText(metadata.type, &data);
    data.append(",\"help\":");
    AppendJsonText(metadata.help, &data);
    data.append(",\"unit\":");
    AppendJsonText(metadata.unit, &data);
    data.append("}]");
  }
  data.push_back('}');
  Answer(data, {}, response);
  return absl::OkStatus();
}

}  // namespace sonde::promql
