#include "series/metric/metric_scan.h"

#include <re2/re2.h>

#include <algorithm>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

namespace sonde::series {
namespace {

using promql::Matcher;
using promql::MatchKind;

std::string MetricOf(const SeriesSchema& schema, const Field& field) {
  return field.name == kMetricField ? schema.name : schema.name + "_" + field.name;
}

bool IsMetric(const Field& field) { return field.type != FieldType::kString && field.name != kStaleField; }

std::optional<size_t> FindField(const std::vector<Field>& fields, std::string_view name) {
  const auto found =
      std::find_if(fields.begin(), fields.end(), [name](const Field& field) { return field.name == name; });
  return found == fields.end() ? std::nullopt : std::optional<size_t>(found - fields.begin());
}

bool IsOfName(const Matcher& matcher) { return matcher.name() == kNameLabel; }

bool MatchName(const std::vector<Matcher>& matchers, std::string_view metric) {
  return std::all_of(matchers.begin(), matchers.end(), [metric](const Matcher& matcher) {
    return !IsOfName(matcher) || matcher.Matches(metric);
  });
}

// False: no metric of a series of this name can have the name that is asked for.
bool MayHaveMetric(const std::vector<Matcher>& matchers, std::string_view series) {
  return std::all_of(matchers.begin(), matchers.end(), [series](const Matcher& matcher) {
    return !IsOfName(matcher) || matcher.kind() != MatchKind::kEqual || matcher.value().starts_with(series);
  });
}

bool MatchAbsentLabels(const std::vector<Matcher>& matchers, const SeriesSchema& view) {
  return std::all_of(matchers.begin(), matchers.end(), [&view](const Matcher& matcher) {
    return IsOfName(matcher) || view.FindTag(matcher.name()) || matcher.Matches("");
  });
}

void AddConditions(const std::vector<Matcher>& matchers, const SeriesSchema& view, Query* query) {
  query->selection.tags.resize(view.tags.size());
  query->takes_any_value = true;
  for (const Matcher& matcher : matchers) {
    const std::optional<size_t> tag = view.FindTag(matcher.name());
    if (!tag || IsOfName(matcher)) continue;
    const bool is_negated =
        matcher.kind() == MatchKind::kNotEqual || matcher.kind() == MatchKind::kMatchesNot;
    query->conditions.push_back({*tag, matcher.Pattern(), is_negated});
    if (matcher.kind() == MatchKind::kEqual && !matcher.value().empty()) {
      query->selection.tags[*tag].values = {matcher.value()};
    }
  }
}

// Nothing: no series is let through.  `matchers`: those of names are passed over, and `is_wanted` says which metrics are meant.
std::optional<MetricScan> MakeScan(const KnownSeries& series, const std::vector<Matcher>& matchers,
                                   const std::function<bool(std::string_view metric)>& is_wanted) {
  MetricScan scan;
  const std::vector<Field>& fields = series.schema.fields;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!IsMetric(fields[i])) continue;
    std::string metric = MetricOf(series.schema, fields[i]);
    if (!is_wanted(metric)) continue;
    const std::optional<size_t> stale =
        fields[i].name == kMetricField ? FindField(fields, kStaleField) : std::nullopt;
    if (stale && fields[*stale].type != FieldType::kString) scan.stale = {scan.metrics.size(), *stale};
    scan.query.fields.push_back(i);
    scan.metrics.push_back(std::move(metric));
  }
  if (scan.metrics.empty()) return std::nullopt;
  scan.view = LabelsAsTags(series);
  if (!MatchAbsentLabels(matchers, scan.view)) return std::nullopt;
  AddConditions(matchers, scan.view, &scan.query);
  scan.series = series;
  return scan;
}

absl::Status ScanSeries(const KnownSeries& series, const std::vector<Matcher>& matchers,
                        const std::function<absl::Status(MetricScan scan)>& take) {
  std::optional<MetricScan> scan = MakeScan(
      series, matchers, [&matchers](std::string_view metric) { return MatchName(matchers, metric); });
  return scan ? take(*std::move(scan)) : absl::OkStatus();
}

// Whether a matcher names a metric of it, whole.
bool HasMetricNamed(const std::vector<Matcher>& matchers, const SeriesSchema& schema) {
  for (const Matcher& matcher : matchers) {
    if (!IsOfName(matcher) || matcher.kind() != MatchKind::kEqual) continue;
    return std::any_of(schema.fields.begin(), schema.fields.end(),
                       [&](const Field& field) { return MetricOf(schema, field) == matcher.value(); });
  }
  return false;
}

absl::Status ScanDerived(const KnownSeries& series, const std::vector<Matcher>& matchers,
                         const std::function<absl::Status(MetricScan scan)>& take) {
  if (series.is_open()) return absl::OkStatus();
  for (SeriesSchema& table : MakeDerivedSchemas(series.schema)) {
    table.name = series.schema.name + "_" + table.table;
    if (!HasMetricNamed(matchers, table)) continue;
    absl::Status status = ScanSeries({std::move(table), series.yaml, {}}, matchers, take);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status ForEachMetricScan(const std::vector<KnownSeriesRef>& known, const std::vector<Matcher>& matchers,
                               const std::function<absl::Status(MetricScan scan)>& take) {
  for (const KnownSeriesRef& series : known) {
    if (!MayHaveMetric(matchers, series->schema.name)) continue;
    if (absl::Status status = ScanSeries(*series, matchers, take); !status.ok()) return status;
    if (absl::Status status = ScanDerived(*series, matchers, take); !status.ok()) return status;
  }
  return absl::OkStatus();
}

const KnownSeries* FindOnlyOpen(const std::vector<KnownSeriesRef>& known, std::string_view metric) {
  const KnownSeries* found = nullptr;
  for (const KnownSeriesRef& series : known) {
    const SeriesSchema& schema = series->schema;
    if (!metric.starts_with(schema.name)) continue;
    // Tables of a declared series have metrics, too.
    if (!series->is_open()) return nullptr;
    const bool has_metric = std::any_of(schema.fields.begin(), schema.fields.end(), [&](const Field& field) {
      return IsMetric(field) && MetricOf(schema, field) == metric;
    });
    if (!has_metric) continue;
    if (found != nullptr) return nullptr;
    found = series.get();
  }
  if (found == nullptr ||
      std::find(found->labels.begin(), found->labels.end(), kNameLabel) != found->labels.end()) {
    return nullptr;
  }
  return found;
}

std::optional<MetricScan> ScanOfSeveral(const KnownSeries& open, const std::vector<std::string>& metrics,
                                        const std::vector<Matcher>& matchers) {
  std::optional<MetricScan> scan = MakeScan(open, matchers, [&metrics](std::string_view metric) {
    return std::find(metrics.begin(), metrics.end(), metric) != metrics.end();
  });
  if (scan) scan->is_of_several = true;
  return scan;
}

std::vector<std::string> MetricNames(const std::vector<KnownSeriesRef>& known,
                                     const std::vector<Matcher>& matchers) {
  std::set<std::string> names;
  for (const KnownSeriesRef& series : known) {
    for (const Field& field : series->schema.fields) {
      if (!IsMetric(field)) continue;
      std::string metric = MetricOf(series->schema, field);
      if (MatchName(matchers, metric)) names.insert(std::move(metric));
    }
  }
  return {names.begin(), names.end()};
}

}  // namespace sonde::series
