// A series that a store knows: one that somebody declared, or an open one, which came in by a protocol that
// declares nothing (line protocol, Prometheus).
//
// An open series is as if declared like this, with all labels in one tag and a field for each that has come:
//   series: cpu
//   table: timeseries
//   tags: { labels: string }          # host=a,region=b
//   fields: { usage: double, ... }
//   key: [{ const: cpu }, labels, bucket]
//   bucket: hour
//   retention: { max_versions: all }
// Labels stand in the order in which they first came, absent ones left out; so the text of a set of labels
// never changes when new ones come, and a query that fixes the first of them reads only those rows.  In names
// and values, and in the series' own name, the bytes below 0x21, 0x7F and , = % # are written as %XX.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "series/schema/schema.h"

namespace sonde::series {

constexpr char kOpenSeriesTable[] = "timeseries";
// Where Prometheus has the name of a metric; no label of a series.
constexpr char kNameLabel[] = "__name__";
// The field that is the metric of the series' own name.
constexpr char kMetricField[] = "value";
// A field whose points are values of the metric that no field of numbers holds (metric/metric_mark.h), such as that by which Prometheus
// says that it has ended; it is no metric.
constexpr char kStaleField[] = "__stale__";

struct KnownSeries {
  SeriesSchema schema;
  std::string yaml;                 // as declared; empty: an open series
  std::vector<std::string> labels;  // of an open series, in the order of its keys

  bool is_open() const { return yaml.empty(); }
};
// Never changes; a new one takes its place.
using KnownSeriesRef = std::shared_ptr<const KnownSeries>;

// int, double, string.
std::string_view FieldTypeName(FieldType type);

// An open series without labels and fields.
KnownSeries NewOpenSeries(std::string_view name);
void AddOpenField(std::string_view name, FieldType type, KnownSeries* series);
// The record of an open series, as JSON: {"labels": ["host", ...], "fields": {"usage": "double", ...}}.
std::string OpenRecord(const KnownSeries& series);
// DATA_LOSS: OpenRecord never writes this.
absl::StatusOr<KnownSeries> ParseOpenRecord(std::string_view name, std::string_view record);

// The schema of a known series as queries see it: of an open one, each label is a tag.
SeriesSchema LabelsAsTags(const KnownSeries& series);

// Appends `name` or a value of an open series, as keys have it.
void AppendEscaped(std::string_view text, std::string* out);
constexpr char kNoLabelsText[] = ",";  // a tag is never empty
// Appends what the tag `labels` of an open series holds; labels with empty values are absent.  False: a
// label is not known, or a name comes twice, and what was appended is not whole.
bool AppendLabelsText(const KnownSeries& series,
                      const std::vector<std::pair<std::string_view, std::string_view>>& labels,
                      std::string* out);
// The labels that are there, in the order of the text.  DATA_LOSS: AppendLabelsText never writes this.
absl::Status ParseLabelPairs(std::string_view text, std::vector<std::pair<std::string, std::string>>* labels);
// The values of the known labels, "" for absent ones.  DATA_LOSS: AppendLabelsText never writes this.
absl::Status ParseLabelsText(const KnownSeries& series, std::string_view text,
                             std::vector<std::string>* values);

}  // namespace sonde::series
