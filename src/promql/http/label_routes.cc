// Series, names of labels and their values.
//
// Series have points in the time, and names and values are those of such series; but what their index tells goes by days, and
// what the known series themselves tell is of all time: names of labels and of metrics without conditions on other labels.  These have the names of series whose points are
// all forgotten, too, as Prometheus' have those of its blocks.
#include <algorithm>
#include <functional>
#include <iterator>
#include <memory>
#include <set>
#include <utility>

#include "absl/time/clock.h"
#include "promql/http/api_answer.h"
#include "promql/http/prometheus_api.h"
#include "promql/syntax/words.h"
#include "rows/held_memory.h"
#include "series/metric/metric_counts.h"
#include "series/metric/metric_scan.h"

namespace sonde::promql {
namespace {

using Matchers = std::vector<Matcher>;

struct TimeSpan {
  int64_t start_millis = 0;
  int64_t end_millis = 0;
};

absl::StatusOr<TimeSpan> ReadSpan(const ApiForm& form) {
  const absl::StatusOr<int64_t> start = form.TimeOr("start", -kApiMillisMax);
  if (!start.ok()) return start.status();
  const absl::StatusOr<int64_t> end = form.TimeOr("end", kApiMillisMax);
  if (!end.ok()) return end.status();
  return TimeSpan{*start, *end};
}

// The labels of all series that fulfil one of `sets`, sorted, each once.
absl::StatusOr<std::vector<Labels>> ListAll(const std::vector<series::KnownSeriesRef>& known,
                                            const std::vector<Matchers>& sets, const TimeSpan& span,
                                            series::MetricRead read, TableAccess* tables) {
  std::vector<Labels> all;
  if (span.start_millis > span.end_millis) return all;
  read.start_millis = span.start_millis;
  read.end_millis = span.end_millis;
  for (const Matchers& matchers : sets) {
    read.matchers = matchers;
    absl::StatusOr<std::vector<Labels>> more = series::ListMetrics(known, read, tables);
    // What is wrong with a pattern that parses is a limit.
    if (absl::IsInvalidArgument(more.status())) return absl::FailedPreconditionError(more.status().message());
    if (!more.ok()) return more;
    std::vector<Labels> both;
    std::set_union(all.begin(), all.end(), more->begin(), more->end(), std::back_inserter(both));
    all = std::move(both);
  }
  return all;
}

// Gives the labels of all series that fulfil one of `sets` to `take`.
absl::Status CountAll(const std::vector<series::KnownSeriesRef>& known, const std::vector<Matchers>& sets,
                      const TimeSpan& span, series::MetricRead read, TableAccess* tables,
                      const series::TakeCounts& take) {
  if (span.start_millis > span.end_millis) return absl::OkStatus();
  read.start_millis = span.start_millis;
  read.end_millis = span.end_millis;
  for (const Matchers& matchers : sets) {
    read.matchers = matchers;
    const absl::Status status = series::CountMetrics(known, read, tables, take);
    // What is wrong with a pattern that parses is a limit.
    if (absl::IsInvalidArgument(status)) return absl::FailedPreconditionError(status.message());
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

bool AreOfName(const std::vector<Matchers>& sets) {
  return std::all_of(sets.begin(), sets.end(), [](const Matchers& matchers) {
    return std::all_of(matchers.begin(), matchers.end(),
                       [](const Matcher& matcher) { return matcher.name() == kMetricLabel; });
  });
}

void AnswerTexts(const std::set<std::string, std::less<>>& texts, size_t limit, HttpResponse* response) {
  std::string data = "[";
  size_t count = 0;
  for (const std::string& text : texts) {
    if (limit > 0 && count == limit) break;
    if (count++ > 0) data.push_back(',');
    AppendJsonText(text, &data);
  }
  data.push_back(']');
  Notices notices;
  if (count < texts.size()) notices.warnings.emplace_back(kTruncated);
  Answer(data, notices, response);
}

std::set<std::string, std::less<>> KnownLabelNames(const std::vector<series::KnownSeriesRef>& known) {
  std::set<std::string, std::less<>> names;
  for (const series::KnownSeriesRef& series : known) {
    if (series::MetricNames({series}, {}).empty()) continue;
    names.insert(kMetricLabel);
    for (const series::Tag& tag : series::LabelsAsTags(*series).tags) names.insert(tag.name);
  }
  return names;
}

}  // namespace

absl::Status PrometheusApi::Series(const HttpRequest& request, const ApiForm& form,
                                   HttpResponse* response) const {
  const std::vector<std::string> texts = form.All("match[]");
  if (texts.empty()) return absl::InvalidArgumentError("no match[] parameter provided");
  const absl::StatusOr<size_t> limit = form.Limit();
  if (!limit.ok()) return limit.status();
  const absl::StatusOr<TimeSpan> span = ReadSpan(form);
  if (!span.ok()) return span.status();
  const absl::StatusOr<std::vector<Matchers>> sets = ParseMatchers(texts);
  if (!sets.ok()) return InvalidParameter("match[]", sets.status());
  const auto memory = std::make_shared<series::QueryMemory>(&service_->admission());
  const absl::StatusOr<std::vector<Labels>> all =
      ListAll(service_->declarations().List(), *sets, *span,
              NewRead(InterruptedBy(request, absl::Now() + kQueryTimeMax), memory),
              service_->TablesFor(request).get());
  if (!all.ok()) return all.status();
  std::string data = "[";
  size_t count = 0;
  for (const Labels& labels : *all) {
    if (*limit > 0 && count == *limit) break;
    if (count++ > 0) data.push_back(',');
    AppendLabels(labels, &data);
  }
  data.push_back(']');
  Notices notices;
  if (count < all->size()) notices.warnings.emplace_back(kTruncated);
  Answer(data, notices, response);
  return absl::OkStatus();
}

absl::Status PrometheusApi::LabelNames(const HttpRequest& request, const ApiForm& form,
                                       HttpResponse* response) const {
  const absl::StatusOr<size_t> limit = form.Limit();
  if (!limit.ok()) return limit.status();
  const absl::StatusOr<TimeSpan> span = ReadSpan(form);
  if (!span.ok()) return span.status();
  const absl::StatusOr<std::vector<Matchers>> sets = ParseMatchers(form.All("match[]"));
  if (!sets.ok()) return sets.status();
  const std::vector<series::KnownSeriesRef> known = service_->declarations().List();
  std::set<std::string, std::less<>> names;
  if (sets->empty()) {
    if (span->start_millis <= span->end_millis) names = KnownLabelNames(known);
  } else {
    const auto memory = std::make_shared<series::QueryMemory>(&service_->admission());
    const series::TakeCounts take = {.value =
                                         [&names](std::string_view label, std::string_view, uint64_t) {
                                           if (!names.contains(label)) names.emplace(label);
                                           return absl::OkStatus();
                                         },
                                     .series = [](uint64_t) { return absl::OkStatus(); }};
    const absl::Status status =
        CountAll(known, *sets, *span, NewRead(InterruptedBy(request, absl::Now() + kQueryTimeMax), memory),
                 service_->TablesFor(request).get(), take);
    if (!status.ok()) return status;
  }
  AnswerTexts(names, *limit, response);
  return absl::OkStatus();
}

absl::Status PrometheusApi::LabelValues(const HttpRequest& request, const ApiForm& form,
                                        HttpResponse* response) const {
  const std::string name = UnescapeLabelName(request.parts.at("name"));
  if (name.empty() || !IsUtf8(name)) {
    return absl::InvalidArgumentError("invalid label name: " + Quoted(name));
  }
  const absl::StatusOr<size_t> limit = form.Limit();
  if (!limit.ok()) return limit.status();
  const absl::StatusOr<TimeSpan> span = ReadSpan(form);
  if (!span.ok()) return span.status();
  absl::StatusOr<std::vector<Matchers>> sets = ParseMatchers(form.All("match[]"));
  if (!sets.ok()) return sets.status();
  const std::vector<series::KnownSeriesRef> known = service_->declarations().List();
  std::set<std::string, std::less<>> values;
  if (name == kMetricLabel && AreOfName(*sets)) {
    if (sets->empty()) sets->emplace_back();
    for (const Matchers& matchers : *sets) {
      if (span->start_millis > span->end_millis) break;
      for (std::string& metric : series::MetricNames(known, matchers)) values.insert(std::move(metric));
    }
  } else {
    if (sets->empty()) sets->emplace_back();
    for (Matchers& matchers : *sets) {
      matchers.push_back(Matcher::Create(MatchKind::kNotEqual, name, "").value());
    }
    const auto memory = std::make_shared<series::QueryMemory>(&service_->admission());
    series::MetricRead read = NewRead(InterruptedBy(request, absl::Now() + kQueryTimeMax), memory);
    rows::HeldMemory held(read.hold);
    const series::TakeCounts take = {
        .value = [&](std::string_view, std::string_view value, uint64_t) -> absl::Status {
          if (values.contains(value)) return absl::OkStatus();
          values.emplace(value);
          return held.Add(static_cast<int64_t>(2 * sizeof(std::string) + 2 * value.size()));
        },
        .series = [](uint64_t) { return absl::OkStatus(); },
        .label = name};
    const absl::Status status = CountAll(known, *sets, *span, read, service_->TablesFor(request).get(), take);
    if (!status.ok()) return status;
  }
  AnswerTexts(values, *limit, response);
  return absl::OkStatus();
}

}  // namespace sonde::promql
