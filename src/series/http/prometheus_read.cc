#include "series/http/prometheus_read.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "base/bytes.h"
#include "series/query/query.h"
#include "series/query/tag_conditions.h"

namespace sonde::series {
namespace {

using prometheus::RemoteMatcher;
using prometheus::RemoteSample;
using prometheus::RemoteSeries;

std::string MetricOf(const SeriesSchema& schema, const Field& field) {
  return field.name == kMetricField ? schema.name : schema.name + "_" + field.name;
}

// A condition over one value, with names of its own.
absl::StatusOr<TagConditions> ConditionsOf(const std::vector<RemoteMatcher>& matchers,
                                           const SeriesSchema& view) {
  std::vector<TagCondition> conditions;
  for (const RemoteMatcher& matcher : matchers) {
    const std::optional<size_t> tag = view.FindTag(matcher.name);
    const bool is_pattern =
        matcher.type == RemoteMatcher::Type::kMatches || matcher.type == RemoteMatcher::Type::kMatchesNot;
    const bool is_negated =
        matcher.type == RemoteMatcher::Type::kNotEqual || matcher.type == RemoteMatcher::Type::kMatchesNot;
    if (tag)
      conditions.push_back(
          {*tag, is_pattern ? matcher.value : re2::RE2::QuoteMeta(matcher.value), is_negated});
  }
  return TagConditions::Compile(view, conditions);
}

// One tag that is the metric's name, or a label that a series does not have.
absl::StatusOr<bool> Matches(const std::vector<RemoteMatcher>& matchers, const std::string& name,
                             const std::string& value) {
  SeriesSchema view;
  view.tags.emplace_back().name = name;
  const absl::StatusOr<TagConditions> conditions = ConditionsOf(matchers, view);
  if (!conditions.ok()) return conditions.status();
  return conditions->Match({value});
}

class Reader {
 public:
  Reader(TableAccess* tables, int64_t now_micros, const prometheus::RemoteQuery& query,
         std::function<absl::Status()> interrupted, std::function<absl::Status(int64_t)> hold)
      : tables_(tables),
        now_micros_(now_micros),
        query_(query),
        interrupted_(std::move(interrupted)),
        hold_(std::move(hold)) {}

  absl::Status ReadSeries(const KnownSeries& series);
  // Its derived tables, each under the name SERIES_TABLE.
  absl::Status ReadDerived(const KnownSeries& series);
  std::vector<RemoteSeries> TakeSeries();

 private:
  bool HasMetricNamed(const SeriesSchema& schema) const;
  absl::StatusOr<bool> MatchesAbsentLabels(const SeriesSchema& view) const;
  void AddQueryConditions(const SeriesSchema& view, Query* query) const;
  void AddSamples(const SeriesSchema& view, const std::vector<std::string>& metrics, const ResultRow& row);
  absl::Status HoldSamples();

  TableAccess* const tables_;
  const int64_t now_micros_;
  const prometheus::RemoteQuery& query_;
  const std::function<absl::Status()> interrupted_;
  const std::function<absl::Status(int64_t)> hold_;
  std::map<std::vector<std::pair<std::string, std::string>>, std::vector<RemoteSample>> samples_;
  size_t count_ = 0;
  size_t held_count_ = 0;  // of these
};

absl::StatusOr<bool> Reader::MatchesAbsentLabels(const SeriesSchema& view) const {
  for (const RemoteMatcher& matcher : query_.matchers) {
    if (matcher.name == kNameLabel || view.FindTag(matcher.name)) continue;
    const absl::StatusOr<bool> matches = Matches({matcher}, matcher.name, "");
    if (!matches.ok() || !*matches) return matches;
  }
  return true;
}

void Reader::AddQueryConditions(const SeriesSchema& view, Query* query) const {
  query->selection.tags.resize(view.tags.size());
  for (const RemoteMatcher& matcher : query_.matchers) {
    const std::optional<size_t> tag = view.FindTag(matcher.name);
    if (!tag || matcher.name == kNameLabel) continue;
    switch (matcher.type) {
      case RemoteMatcher::Type::kEqual:
        query->conditions.push_back({*tag, re2::RE2::QuoteMeta(matcher.value), false});
        if (!matcher.value.empty()) query->selection.tags[*tag].values = {matcher.value};
        break;
      case RemoteMatcher::Type::kNotEqual:
        query->conditions.push_back({*tag, re2::RE2::QuoteMeta(matcher.value), true});
        break;
      case RemoteMatcher::Type::kMatches:
      case RemoteMatcher::Type::kMatchesNot:
        query->conditions.push_back({*tag, matcher.value, matcher.type == RemoteMatcher::Type::kMatchesNot});
        break;
    }
  }
}

void Reader::AddSamples(const SeriesSchema& view, const std::vector<std::string>& metrics,
                        const ResultRow& row) {
  for (size_t i = 0; i < metrics.size(); ++i) {
    const std::optional<double> value = NumberOf(row.values[i]);
    if (!value) continue;
    std::vector<std::pair<std::string, std::string>> labels = {{kNameLabel, metrics[i]}};
    for (size_t tag = 0; tag < view.tags.size(); ++tag) {
      const std::string& name = view.tags[tag].name;
      if (!row.tags[tag].empty() && name != kNameLabel) labels.emplace_back(name, row.tags[tag]);
    }
    std::sort(labels.begin(), labels.end());
    samples_[std::move(labels)].push_back({*value, FloorMicros(row.time_micros, 1'000) / 1'000});
    ++count_;
  }
}

// The memory of samples stays counted until the answer is encoded.
absl::Status Reader::HoldSamples() {
  constexpr size_t kSamplesAtOnce = 16'384;
  // In a vector that may be twice as long as it has to be, in the message, and packed.
  constexpr size_t kSampleBytes = 6 * sizeof(RemoteSample);
  if (!hold_ || count_ < held_count_ + kSamplesAtOnce) return absl::OkStatus();
  const size_t more = count_ - held_count_;
  held_count_ = count_;
  return hold_(static_cast<int64_t>(more * kSampleBytes));
}

absl::Status Reader::ReadSeries(const KnownSeries& series) {
  const SeriesSchema view = LabelsAsTags(series);
  Query query;
  query.now_micros = now_micros_;
  query.interrupted = interrupted_;
  query.hold = hold_;
  std::vector<std::string> metrics;
  for (size_t i = 0; i < view.fields.size(); ++i) {
    if (view.fields[i].type == FieldType::kString) continue;
    std::string metric = MetricOf(view, view.fields[i]);
    std::vector<RemoteMatcher> of_name;
    for (const RemoteMatcher& matcher : query_.matchers) {
      if (matcher.name == kNameLabel) of_name.push_back(matcher);
    }
    const absl::StatusOr<bool> matches = Matches(of_name, kNameLabel, metric);
    if (!matches.ok()) return matches.status();
    if (!*matches) continue;
    query.fields.push_back(i);
    metrics.push_back(std::move(metric));
  }
  if (query.fields.empty()) return absl::OkStatus();
  const absl::StatusOr<bool> matches_absent = MatchesAbsentLabels(view);
  if (!matches_absent.ok() || !*matches_absent) return matches_absent.status();
  AddQueryConditions(view, &query);
  constexpr int64_t kBeginMillis = kTimeBeginMicros / 1'000;
  constexpr int64_t kEndMillis = kTimeEndMicros / 1'000;
  query.selection.from_micros = std::clamp(query_.start_millis, kBeginMillis, kEndMillis) * 1'000;
  query.selection.to_micros = std::clamp(query_.end_millis, kBeginMillis - 1, kEndMillis - 1) * 1'000 + 1'000;
  absl::Status held;
  const absl::StatusOr<QueryStats> stats = RunQuery(series, query, tables_, [&](const ResultRow& row) {
    AddSamples(view, metrics, row);
    held = HoldSamples();
    return held.ok() && count_ <= kRemoteSamplesMax;
  });
  if (!held.ok()) return held;
  if (absl::IsNotFound(stats.status())) return absl::OkStatus();  // no point has come yet
  if (!stats.ok()) return stats.status();
  if (count_ <= kRemoteSamplesMax) return absl::OkStatus();
  return absl::InvalidArgumentError(fmt::format(
      "the query asks for more than {} samples; ask for a shorter time or fewer series", kRemoteSamplesMax));
}

// Whether the query names a metric of it, whole: a pattern means the series, not their copies.
bool Reader::HasMetricNamed(const SeriesSchema& schema) const {
  for (const RemoteMatcher& matcher : query_.matchers) {
    if (matcher.name != kNameLabel || matcher.type != RemoteMatcher::Type::kEqual) continue;
    return std::any_of(schema.fields.begin(), schema.fields.end(),
                       [&](const Field& field) { return MetricOf(schema, field) == matcher.value; });
  }
  return false;
}

absl::Status Reader::ReadDerived(const KnownSeries& series) {
  if (series.is_open()) return absl::OkStatus();
  const SeriesSchema& schema = series.schema;
  for (SeriesSchema& table : MakeDerivedSchemas(schema)) {
    table.name = schema.name + "_" + table.table;
    if (!HasMetricNamed(table)) continue;
    const absl::Status status = ReadSeries({std::move(table), series.yaml, {}});
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

std::vector<RemoteSeries> Reader::TakeSeries() {
  std::vector<RemoteSeries> result;
  for (auto& [labels, samples] : samples_) {
    // Rows of several keys of one series may come in another order than time.
    std::stable_sort(samples.begin(), samples.end(), [](const RemoteSample& a, const RemoteSample& b) {
      return a.timestamp_millis < b.timestamp_millis;
    });
    // If several samples have one time, the last one counts: series come by name, so its name has the most of
    // the metric's.
    const auto is_of_one_time = [](const RemoteSample& a, const RemoteSample& b) {
      return a.timestamp_millis == b.timestamp_millis;
    };
    samples.erase(samples.begin(), std::unique(samples.rbegin(), samples.rend(), is_of_one_time).base());
    result.push_back({labels, std::move(samples)});
  }
  return result;
}

}  // namespace

absl::StatusOr<std::vector<RemoteSeries>> ReadForPrometheus(IngestService* service, TableAccess* tables,
                                                            const prometheus::RemoteQuery& query,
                                                            std::function<absl::Status()> interrupted,
                                                            std::function<absl::Status(int64_t)> hold) {
  Reader reader(tables, service->clock().NowMicros(), query, std::move(interrupted), std::move(hold));
  for (const KnownSeriesRef& series : service->declarations().List()) {
    if (absl::Status status = reader.ReadSeries(*series); !status.ok()) return status;
    if (absl::Status status = reader.ReadDerived(*series); !status.ok()) return status;
  }
  return reader.TakeSeries();
}

}  // namespace sonde::series
