#include "keyviz/heat_map.h"

#include <algorithm>
#include <array>
#include <utility>

namespace sonde {
namespace {

constexpr std::array<std::pair<HeatMetric, std::string_view>, 9> kNames = {{
    {HeatMetric::kOps, "ops"},
    {HeatMetric::kReads, "reads"},
    {HeatMetric::kWrites, "writes"},
    {HeatMetric::kBytes, "bytes"},
    {HeatMetric::kReadBytes, "read_bytes"},
    {HeatMetric::kWriteBytes, "write_bytes"},
    {HeatMetric::kLatency, "latency"},
    {HeatMetric::kLatencyMax, "latency_max"},
    {HeatMetric::kErrors, "errors"},
}};

// Grace for "the last hour" and "until now", which were said some seconds ago.
constexpr int64_t kGraceSeconds = 60;

// The starts of the map's rows: those of `axis` inside of the keys, thinned out to rows_max.
std::vector<std::string> RowStarts(const Partition& axis, const HeatMapRequest& request) {
  std::vector<std::string> inside;
  for (size_t i = axis.FirstFrom(request.keys.start); i < axis.size(); ++i) {
    const std::string& start = axis.start(i);
    if (!request.keys.end.empty() && start >= request.keys.end) break;
    if (start != request.keys.start) inside.push_back(start);
  }
  std::vector<std::string> starts = {request.keys.start};
  const size_t rows = std::min(inside.size() + 1, request.rows_max);
  for (size_t i = 1; i < rows; ++i)
    starts.push_back(inside[(i - 1) * inside.size() / std::max<size_t>(rows - 1, 1)]);
  return starts;
}

std::vector<double> CountKeys(const HeatMap& map, const KeySample& keys) {
  std::vector<double> counts(map.rows());
  const Partition rows([&] {
    std::vector<std::string> starts = map.row_starts;
    starts[0] = "";
    return starts;
  }());
  for (const auto& [hash, entry] : keys.entries()) {
    if (entry.key < map.row_starts[0] || (!map.keys_end.empty() && entry.key >= map.keys_end)) continue;
    ++counts[rows.Find(entry.key)];
  }
  const double each = keys.size() == 0 ? 0 : keys.KeyCount() / static_cast<double>(keys.size());
  for (double& count : counts) count *= each;
  return counts;
}

// Raises the map's numbers of keys to what its rows had under an earlier division.
void RaiseKeys(const Partition& partition, const Partition& rows, bool has_before, HeatMap* map) {
  std::vector<AccessCounts> keys(partition.size()), sums(rows.size());
  for (size_t i = 0; i < partition.keys().size(); ++i) keys[i].reads = partition.keys()[i];
  Project(partition, keys, rows, &sums);
  for (size_t row = 0; row < map->rows(); ++row) {
    map->row_keys[row] =
        std::max(map->row_keys[row], static_cast<double>(sums[row + (has_before ? 1 : 0)].reads));
  }
}

// The buckets of the columns' partitions fall into the map's rows, those before and after the keys into two
// of their own.
Partition Target(const HeatMap& map, bool* has_before, bool* has_after) {
  std::vector<std::string> starts;
  *has_before = !map.row_starts[0].empty();
  if (*has_before) starts.emplace_back();
  starts.insert(starts.end(), map.row_starts.begin(), map.row_starts.end());
  *has_after = !map.keys_end.empty();
  if (*has_after) starts.push_back(map.keys_end);
  return Partition(std::move(starts));
}

}  // namespace

size_t TierFrom(int64_t start_seconds, int64_t now_seconds) {
  for (size_t tier = 0; tier + 1 < kTiers.size(); ++tier) {
    if (now_seconds - start_seconds <= kTiers[tier].kept_seconds + kGraceSeconds) return tier;
  }
  return kTiers.size() - 1;
}

std::optional<HeatMetric> HeatMetricOf(std::string_view name) {
  for (const auto& [metric, its_name] : kNames) {
    if (its_name == name) return metric;
  }
  return std::nullopt;
}

std::string_view NameOf(HeatMetric metric) { return kNames[static_cast<size_t>(metric)].second; }

const std::vector<HeatMetric>& AllHeatMetrics() {
  static const std::vector<HeatMetric> all = [] {
    std::vector<HeatMetric> metrics;
    for (const auto& [metric, name] : kNames) metrics.push_back(metric);
    return metrics;
  }();
  return all;
}

double ValueOf(const AccessCounts& counts, HeatMetric metric) {
  switch (metric) {
    case HeatMetric::kOps:
      return static_cast<double>(counts.ops());
    case HeatMetric::kReads:
      return static_cast<double>(counts.reads);
    case HeatMetric::kWrites:
      return static_cast<double>(counts.writes);
    case HeatMetric::kBytes:
      return static_cast<double>(counts.read_bytes + counts.write_bytes);
    case HeatMetric::kReadBytes:
      return static_cast<double>(counts.read_bytes);
    case HeatMetric::kWriteBytes:
      return static_cast<double>(counts.write_bytes);
    case HeatMetric::kLatency:
      return counts.requests == 0
                 ? 0
                 : static_cast<double>(counts.latency_micros) / static_cast<double>(counts.requests);
    case HeatMetric::kLatencyMax:
      return static_cast<double>(counts.latency_micros_max);
    case HeatMetric::kErrors:
      return static_cast<double>(counts.errors);
  }
  return 0;
}

absl::StatusOr<HeatMap> BuildHeatMap(const AccessHistory& history, const HeatMapRequest& request,
                                     int64_t now_seconds, const Partition& axis, const KeySample& keys) {
  const size_t tier = TierFrom(request.start_seconds, now_seconds);
  HeatMap map;
  const int64_t span = std::max<int64_t>(request.end_seconds - request.start_seconds, 1);
  const auto columns_max = static_cast<int64_t>(request.columns_max);
  const int64_t step = kTiers[tier].seconds;
  map.column_seconds = ((span + columns_max * step - 1) / (columns_max * step)) * step;
  map.start_seconds = request.start_seconds - request.start_seconds % map.column_seconds;
  map.columns = static_cast<size_t>((request.end_seconds - map.start_seconds + map.column_seconds - 1) /
                                    map.column_seconds);
  if (map.columns > request.columns_max) {
    // The first one is cut off by rounding: as well without it.
    map.start_seconds += map.column_seconds * static_cast<int64_t>(map.columns - request.columns_max);
    map.columns = request.columns_max;
  }
  const int64_t end_seconds = map.start_seconds + map.column_seconds * static_cast<int64_t>(map.columns);
  const bool is_past = request.end_seconds < now_seconds - kGraceSeconds;
  PartitionRef axis_then;
  if (is_past && request.row_starts.empty()) {
    absl::StatusOr<PartitionRef> last =
        history.LastPartition(tier, request.table, map.start_seconds, end_seconds);
    if (!last.ok()) return last.status();
    axis_then = *std::move(last);
  }
  map.row_starts = request.row_starts;
  if (map.row_starts.empty()) map.row_starts = RowStarts(axis_then != nullptr ? *axis_then : axis, request);
  map.keys_end = request.keys.end;
  map.row_keys = CountKeys(map, is_past ? KeySample() : keys);
  // The sample has all keys that are still in use.
  const bool sample_has_all =
      !is_past && request.start_seconds >= now_seconds - KeySample::kForgottenAfterSeconds;
  map.counts.resize(map.columns * map.rows());

  bool has_before = false, has_after = false;
  const Partition target = Target(map, &has_before, &has_after);
  std::vector<AccessCounts> sums(target.size());
  PartitionRef before;
  const absl::Status status =
      history.Read(tier, request.table, map.start_seconds, end_seconds, [&](const Column& column) {
        if (!sample_has_all && column.partition != before)
          RaiseKeys(*column.partition, target, has_before, &map);
        before = column.partition;
        std::fill(sums.begin(), sums.end(), AccessCounts());
        Project(*column.partition, column.counts, target, &sums);
        const size_t at = (column.start_seconds - map.start_seconds) / map.column_seconds;
        for (size_t row = 0; row < map.rows(); ++row) {
          map.counts[at * map.rows() + row].Add(sums[row + (has_before ? 1 : 0)]);
        }
      });
  if (!status.ok()) return status;
  return map;
}

}  // namespace sonde
