#include "series/metric/metric_reader.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "absl/status/status.h"
#include "rows/aggregate.h"
#include "rows/batch.h"
#include "rows/value.h"
#include "series/metric/found_samples.h"
#include "series/metric/metric_batch.h"
#include "series/metric/metric_index.h"
#include "series/metric/metric_scan.h"
#include "series/metric/sample_collector.h"
#include "series/query/query.h"

namespace sonde::series {
namespace {

using promql::Labels;

absl::Status Run(const MetricScan& scan, TableAccess* tables, const TakeAnswer& take) {
  const absl::Status status = RunQueryInBatches(scan.series, scan.query, tables, take).status();
  return absl::IsNotFound(status) ? absl::OkStatus() : status;  // no point has come yet
}

// The samples of a part of a scan.
class PartSamples final : public PartFold {
 public:
  PartSamples(const MetricRead& read, const MetricScan& scan) : scan_(scan), collector_(read) {}
  ~PartSamples() override { Clear(); }
  PartSamples(const PartSamples&) = delete;
  PartSamples& operator=(const PartSamples&) = delete;

  absl::Status Add(const rows::Batch& batch) override { return collector_.Add(scan_, batch); }
  void Clear() override { collector_.Clear(); }
  SampleCollector* collector() { return &collector_; }

 private:
  const MetricScan& scan_;
  SampleCollector collector_;
};

absl::Status CollectScan(MetricScan scan, const MetricRead& read, TableAccess* tables,
                         SampleCollector* collector) {
  PrepareForSamples(read, &scan);
  collector->ForgetPlaces();
  const auto go_on = [](absl::Status status) -> absl::StatusOr<bool> {
    if (!status.ok()) return status;
    return true;
  };
  const absl::Status status =
      RunQueryInParts(
          scan.series, scan.query, tables,
          [&](const rows::Interrupted& /*interrupted*/) { return std::make_unique<PartSamples>(read, scan); },
          [&](PartFold* part) {
            return go_on(collector->Join(static_cast<PartSamples*>(part)->collector()));
          },
          [&](const rows::Batch& batch) { return go_on(collector->Add(scan, batch)); })
          .status();
  return absl::IsNotFound(status) ? absl::OkStatus() : status;  // no point has come yet
}

}  // namespace

absl::StatusOr<MetricSamples> ReadMetrics(const std::vector<KnownSeriesRef>& known, const MetricRead& read,
                                          TableAccess* tables) {
  SampleCollector collector(read);
  const absl::Status status = ForEachMetricScan(known, read.matchers, [&](MetricScan scan) {
    return CollectScan(std::move(scan), read, tables, &collector);
  });
  if (!status.ok()) {
    collector.Clear();
    return status;
  }
  return MetricSamples{collector.Take(), collector.told_bytes()};
}

absl::Status ForEachMetric(const std::vector<KnownSeriesRef>& known, const MetricRead& read,
                           TableAccess* tables, const std::function<absl::Status(Labels labels)>& take) {
  return ForEachMetricScan(known, read.matchers, [&](MetricScan scan) -> absl::Status {
    PrepareQuery(read, &scan.query);
    scan.query.aggregates = {rows::Aggregate::kCount};
    if (scan.stale) scan.query.fields.push_back(scan.stale->second);
    const size_t tags = scan.view.tags.size();
    return Run(scan, tables, [&](const rows::Batch& batch) -> absl::StatusOr<bool> {
      const auto has_points = [&](size_t field, size_t row) {
        return rows::NumberOf(batch.columns[tags + 1 + field], row).value_or(0) > 0;
      };
      for (size_t row = 0; row < batch.rows; ++row) {
        for (size_t i = 0; i < scan.metrics.size(); ++i) {
          const bool has_marks = scan.stale && scan.stale->first == i;
          if (!has_points(i, row) && !(has_marks && has_points(scan.metrics.size(), row))) continue;
          if (absl::Status status = take(LabelsOf(scan, i, batch, row)); !status.ok()) return status;
        }
      }
      return true;
    });
  });
}

namespace {

// The labels of an entity with a metric.
Labels LabelsOf(const MetricScan& scan, const EntityBlock& block, size_t position, size_t metric) {
  Labels labels = {{kNameLabel, scan.metrics[metric]}};
  block.ForEachLabel(position, [&](std::string_view name, std::string_view value) {
    if (name != kNameLabel) labels.emplace_back(name, value);
  });
  std::sort(labels.begin(), labels.end());
  return labels;
}

// Gives the labels of the metrics of one series to `take`, as its index has them.  False: it has not all; what was given may come again.
absl::StatusOr<bool> ListFromIndex(const KnownSeriesRef& series, const MetricRead& read, TableAccess* tables,
                                   const std::function<absl::Status(Labels labels)>& take) {
  bool is_listed = series->is_open();
  const absl::Status status =
      ForEachMetricScan({series}, read.matchers, [&](MetricScan scan) -> absl::Status {
        if (!is_listed) return absl::OkStatus();
        const absl::StatusOr<std::optional<EntityAnswer>> answer = AskIndex(&scan, read, tables);
        if (!answer.ok()) return answer.status();
        is_listed = answer->has_value();
        if (!is_listed) return absl::OkStatus();
        absl::Status given;
        for (const EntityAnswer::Part& part : (*answer)->parts) {
          for (size_t metric = 0; metric < scan.metrics.size(); ++metric) {
            PositionsOf(scan, part, metric).ForEach([&](size_t position) {
              if (given.ok()) given = take(LabelsOf(scan, *part.block, position, metric));
            });
          }
          if (!given.ok()) return given;
        }
        return absl::OkStatus();
      });
  if (!status.ok()) return status;
  return is_listed;
}

}  // namespace

absl::StatusOr<std::vector<Labels>> ListMetrics(const std::vector<KnownSeriesRef>& known,
                                                const MetricRead& read, TableAccess* tables) {
  std::vector<Labels> all;
  rows::HeldMemory memory(read.hold);
  const auto take = [&](Labels labels) -> absl::Status {
    if (static_cast<int64_t>(all.size()) >= read.series_max) return TooManySeries(read.series_max);
    all.push_back(std::move(labels));
    return memory.Add(BytesOf(all.back()));
  };
  for (const KnownSeriesRef& series : known) {
    const absl::StatusOr<bool> is_listed = ListFromIndex(series, read, tables, take);
    if (!is_listed.ok()) return is_listed.status();
    if (*is_listed) continue;
    if (absl::Status status = ForEachMetric({series}, read, tables, take); !status.ok()) return status;
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

}  // namespace sonde::series
