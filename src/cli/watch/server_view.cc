#include "cli/watch/server_view.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <map>
#include <optional>
#include <utility>

#include "metrics/health.h"

namespace sonde {
namespace {

// Sums by the value of a label, of now less those of before.
std::map<std::string, double> Growth(const MetricSamples* before, const MetricSamples& now,
                                     std::string_view name, std::string_view label, auto is_wanted) {
  std::map<std::string, double> sums;
  for (const MetricSample* const sample : now.Find(name)) {
    if (is_wanted(*sample)) sums[std::string(sample->Label(label))] += sample->value;
  }
  if (before == nullptr) return sums;
  for (const MetricSample* const sample : before->Find(name)) {
    if (is_wanted(*sample)) sums[std::string(sample->Label(label))] -= sample->value;
  }
  // A server that was started again meanwhile has counted from zero.
  for (auto& [value, sum] : sums) sum = std::max(sum, 0.0);
  return sums;
}

double BoundOf(std::string_view text) {
  return text == "+Inf" ? std::numeric_limits<double>::infinity()
                        : std::strtod(std::string(text).c_str(), nullptr);
}

// The calls of a method by how long they took, as QuantileOf wants them.
void SetQuantiles(const MetricSamples* before, const MetricSamples& now, ServerView::Method* method) {
  const std::map<std::string, double> sums =
      Growth(before, now, "sonde_request_duration_seconds_bucket", "le",
             [&](const MetricSample& sample) { return sample.Label("method") == method->name; });
  std::vector<std::pair<double, double>> buckets;
  for (const auto& [bound, sum] : sums) buckets.emplace_back(BoundOf(bound), sum);
  std::sort(buckets.begin(), buckets.end());
  std::vector<double> bounds, counts;
  double below = 0;
  for (const auto& [bound, sum] : buckets) {
    bounds.push_back(bound);
    counts.push_back(std::max(sum - below, 0.0));
    below = std::max(below, sum);
  }
  method->p50_seconds = QuantileOf(bounds, counts, 0.5);
  method->p99_seconds = QuantileOf(bounds, counts, 0.99);
}

std::vector<ServerView::Method> Methods(const MetricSamples* before, const MetricSamples& now,
                                        double seconds) {
  const auto all = [](const MetricSample&) { return true; };
  const auto failed = [](const MetricSample& sample) { return sample.Label("code") != "OK"; };
  std::map<std::string, double> errors = Growth(before, now, "sonde_requests_total", "method", failed);
  std::vector<ServerView::Method> methods;
  for (const auto& [name, calls] : Growth(before, now, "sonde_requests_total", "method", all)) {
    if (calls == 0) continue;
    ServerView::Method& method = methods.emplace_back();
    method.name = name;
    method.per_second = calls / seconds;
    method.errors_per_second = errors[name] / seconds;
    SetQuantiles(before, now, &method);
  }
  std::stable_sort(methods.begin(), methods.end(),
                   [](const auto& a, const auto& b) { return a.per_second > b.per_second; });
  return methods;
}

std::vector<ServerView::Table> Tables(const MetricSamples* before, const MetricSamples& now, double seconds) {
  const auto of_kind = [](std::string_view kind) {
    return [kind](const MetricSample& sample) { return sample.Label("kind") == kind; };
  };
  std::map<std::string, double> read, written;
  if (before != nullptr) {
    read = Growth(before, now, "sonde_table_rows_total", "table", of_kind("read"));
    written = Growth(before, now, "sonde_table_rows_total", "table", of_kind("write"));
  }
  std::vector<ServerView::Table> tables;
  for (const MetricSample* const sample : now.Find("sonde_table_bytes")) {
    const std::string name(sample->Label("table"));
    tables.push_back({.name = name,
                      .bytes = sample->value,
                      .rows_read_per_second = read[name] / seconds,
                      .rows_written_per_second = written[name] / seconds});
  }
  const auto busy = [](const ServerView::Table& table) {
    return table.rows_read_per_second + table.rows_written_per_second;
  };
  std::stable_sort(tables.begin(), tables.end(), [&](const auto& a, const auto& b) {
    return std::pair(busy(a), a.bytes) > std::pair(busy(b), b.bytes);
  });
  return tables;
}

std::vector<std::string> Warnings(const MetricSamples& now, double now_seconds) {
  const auto largest = [&](std::string_view name) {
    std::optional<double> most;
    for (const MetricSample* const sample : now.Find(name))
      most = std::max(most.value_or(sample->value), sample->value);
    return most;
  };
  std::vector<std::string> warnings;
  for (HealthReason& reason : FindHealthReasons(largest, now_seconds))
    warnings.push_back(std::move(reason.text));
  return warnings;
}

}  // namespace

double QuantileOf(const std::vector<double>& bounds, const std::vector<double>& counts, double q) {
  double all = 0;
  for (const double count : counts) all += count;
  if (all == 0) return 0;
  const double rank = q * all;
  double below = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0 || below + counts[i] < rank) {
      below += counts[i];
      continue;
    }
    const double low = i == 0 ? 0 : bounds[i - 1];
    return std::isinf(bounds[i]) ? low : low + (bounds[i] - low) * (rank - below) / counts[i];
  }
  return 0;
}

ServerView ViewServer(const MetricSamples* before, const MetricSamples& now, double seconds,
                      double now_seconds) {
  ServerView view;
  if (const auto found = now.Find("sonde_build_info"); !found.empty())
    view.version = found.front()->Label("version");
  view.uptime_seconds = std::max(now_seconds - now.Value("process_start_time_seconds", now_seconds), 0.0);
  if (before == nullptr) seconds = std::max(view.uptime_seconds, 1.0);
  const auto rate = [&](std::string_view name) {
    const double earlier = before == nullptr ? 0 : before->Sum(name);
    return std::max(now.Sum(name) - earlier, 0.0) / seconds;
  };
  view.processors = rate("process_cpu_seconds_total");
  view.resident_bytes = now.Value("process_resident_memory_bytes");
  view.budget_bytes = now.Value("sonde_memory_budget_bytes");
  view.disk_free_bytes = now.Value("sonde_disk_free_bytes");
  view.disk_size_bytes = now.Value("sonde_disk_size_bytes");
  view.settling_waiting_bytes = now.Sum("sonde_settling_waiting_bytes");
  view.settling_cells_per_second = rate("sonde_settling_cells_total");
  view.connections = now.Value("sonde_grpc_connections") + now.Value("sonde_http_connections");
  view.backups = now.Value("sonde_backups");
  if (const double last = now.Value("sonde_backup_last_seconds"); last > 0)
    view.backup_age_seconds = std::max(now_seconds - last, 0.0);
  view.warnings = Warnings(now, now_seconds);
  for (const MetricSample* const sample : now.Find("sonde_requests_load"))
    view.loads.push_back({std::string(sample->Label("kind")), sample->value});
  view.methods = Methods(before, now, seconds);
  view.tables = Tables(before, now, seconds);
  return view;
}

}  // namespace sonde
