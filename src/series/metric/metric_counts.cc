#include "series/metric/metric_counts.h"

#include <optional>
#include <string>

#include "absl/status/statusor.h"
#include "promql/samples/labels.h"
#include "series/metric/metric_batch.h"
#include "series/metric/metric_index.h"
#include "series/metric/metric_reader.h"
#include "series/metric/metric_scan.h"

namespace sonde::series {
namespace {

bool IsWanted(const TakeCounts& take, std::string_view label) { return !take.label || *take.label == label; }

absl::Status CountPart(const MetricScan& scan, const EntityAnswer::Part& part, const TakeCounts& take) {
  const EntityBlock& block = *part.block;
  PositionSet any;                                  // the entities that have one of the metrics
  std::vector<uint32_t> metrics_of(block.count());  // by position
  uint64_t series = 0;
  for (size_t i = 0; i < scan.metrics.size(); ++i) {
    const PositionSet positions = PositionsOf(scan, part, i);
    positions.ForEach([&](size_t position) { ++metrics_of[position - block.base()]; });
    any.Or(positions);
    const size_t count = positions.Count();
    series += count;
    if (count == 0 || !IsWanted(take, kNameLabel)) continue;
    if (absl::Status status = take.value(kNameLabel, scan.metrics[i], count); !status.ok()) return status;
  }
  for (const std::string& label : block.names()) {
    if (label == kNameLabel || !IsWanted(take, label)) continue;
    const LabelColumn& column = *block.Find(label);
    std::vector<uint64_t> series_of(column.values_count() + 1);  // by code
    any.ForEach([&](size_t position) {
      series_of[column.codes()[position - block.base()]] += metrics_of[position - block.base()];
    });
    for (size_t place = 0; place < column.values_count(); ++place) {
      if (series_of[place + 1] == 0) continue;
      absl::Status status = take.value(label, column.value(place), series_of[place + 1]);
      if (!status.ok()) return status;
    }
  }
  return take.series(series);
}

}  // namespace

absl::Status CountMetrics(const std::vector<KnownSeriesRef>& known, const MetricRead& read,
                          TableAccess* tables, const TakeCounts& take) {
  for (const KnownSeriesRef& series : known) {
    if (read.interrupted) {
      if (absl::Status status = read.interrupted(); !status.ok()) return status;
    }
    bool is_counted = series->is_open();
    absl::Status status = ForEachMetricScan({series}, read.matchers, [&](MetricScan scan) -> absl::Status {
      if (!is_counted) return absl::OkStatus();
      const absl::StatusOr<std::optional<EntityAnswer>> answer = AskIndex(&scan, read, tables);
      if (!answer.ok()) return answer.status();
      is_counted = answer->has_value();
      if (!is_counted) return absl::OkStatus();
      for (const EntityAnswer::Part& part : (*answer)->parts) {
        if (absl::Status counted = CountPart(scan, part, take); !counted.ok()) return counted;
      }
      return absl::OkStatus();
    });
    if (!status.ok()) return status;
    if (is_counted) continue;
    status = ForEachMetric({series}, read, tables, [&take](const promql::Labels& labels) -> absl::Status {
      for (const auto& [label, value] : labels) {
        if (!IsWanted(take, label)) continue;
        if (absl::Status told = take.value(label, value, 1); !told.ok()) return told;
      }
      return take.series(1);
    });
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

}  // namespace sonde::series
