#include "web/overview_api.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>

#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "metrics/disk_parts.h"
#include "metrics/health.h"
#include "model/names.h"
#include "web/growth_api.h"
#include "web/http/query_reader.h"

namespace sonde {
namespace {

using Json = nlohmann::ordered_json;

uint64_t ResidentBytes() {
  std::ifstream file("/proc/self/statm");
  uint64_t pages = 0, resident_pages = 0;
  file >> pages >> resident_pages;
  return resident_pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
}

double CpuSeconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

// Bytes of the table's ranges; 0 where it is being dropped.
uint64_t BytesOf(Tables* tables, TableId table) {
  const absl::StatusOr<std::vector<RangeStats>> ranges = tables->engine().Ranges(table);
  uint64_t bytes = 0;
  if (ranges.ok()) {
    for (const RangeStats& range : *ranges) bytes += range.bytes;
  }
  return bytes;
}

// The engine's figures, and of requests under way: their memory and number.
std::vector<Figure> EngineFigures(const ServerFacts& facts) {
  std::vector<Figure> figures = facts.tables->engine().Figures();
  Figure used = Figure::Gauge("sonde_memory_used_bytes", "Memory that each user of the budget takes.");
  Figure limit = Figure::Gauge("sonde_memory_limit_bytes", "Memory that each user of the budget may take.");
  Figure requests = Figure::Gauge("sonde_requests_under_way", "Requests under way that hold data.");
  Figure requests_max =
      Figure::Gauge("sonde_requests_under_way_limit", "Requests that may be under way at once.");
  for (const ServerFacts::UnderWay& one : facts.under_way) {
    const Admission::Limits taken = one.admission->Taken(), most = one.admission->limits();
    used.Add(static_cast<double>(taken.bytes), {{"user", one.kind}});
    limit.Add(static_cast<double>(most.bytes), {{"user", one.kind}});
    requests.Add(static_cast<double>(taken.requests), {{"kind", one.kind}});
    requests_max.Add(static_cast<double>(most.requests), {{"kind", one.kind}});
  }
  if (facts.large_room != nullptr) {
    used.Add(static_cast<double>(facts.large_room->taken_bytes()), {{"user", "large"}});
    limit.Add(static_cast<double>(facts.large_room->bytes_max()), {{"user", "large"}});
  }
  if (facts.allocator_bytes) {
    Figure allocator = Figure::Gauge("sonde_allocator_bytes",
                                     "Memory that the allocator holds: allocated by the program, resident "
                                     "with what it keeps for the next.");
    for (const auto& [state, bytes] : facts.allocator_bytes())
      allocator.Add(static_cast<double>(bytes), {{"state", state}});
    MergeFigures({std::move(allocator)}, &figures);
  }
  if (facts.transport_figures) MergeFigures(facts.transport_figures(), &figures);
  MergeFigures(facts.http_counts->Figures(), &figures);
  if (facts.queries != nullptr) MergeFigures(facts.queries->Figures(), &figures);
  MergeFigures({std::move(used), std::move(limit), std::move(requests), std::move(requests_max)}, &figures);
  return figures;
}

std::vector<Figure> ChangeStreamFigures(const ServerFacts& facts) {
  Figure frontier = Figure::Gauge("sonde_change_stream_frontier_age_seconds",
                                  "For how long the log has not been complete: a write is under way.");
  Figure last = Figure::Gauge("sonde_change_stream_last_record_seconds",
                              "When the last change was logged, since 1970; 0: none is known.");
  Figure readers = Figure::Gauge("sonde_change_stream_readers", "Streams that are being read.");
  Figure lag = Figure::Gauge("sonde_change_stream_lag_seconds",
                             "How far the reader that has come least is behind; 0: it has read all.");
  for (const ChangeStreams::Progress& one : facts.change_streams->ListProgress()) {
    const Figure::Labels labels = {{"table", one.table_name}};
    const auto seconds = [](int64_t micros) { return static_cast<double>(micros) * 1e-6; };
    frontier.Add(seconds(std::max<int64_t>(one.now_micros - one.frontier_micros, 0)), labels);
    last.Add(seconds(one.last_record_micros), labels);
    readers.Add(static_cast<double>(one.readers), labels);
    if (one.readers > 0) lag.Add(seconds(one.LagMicros()), labels);
  }
  return {std::move(frontier), std::move(last), std::move(readers), std::move(lag)};
}

Json FiguresToJson(const std::vector<Figure>& figures) {
  Json json = Json::object();
  for (const Figure& figure : figures) {
    Json samples = Json::array();
    for (const Figure::Sample& sample : figure.samples) {
      Json labels = Json::object();
      for (const auto& [label, value] : sample.labels) labels[label] = value;
      samples.push_back({{"labels", std::move(labels)}, {"value", sample.value}});
    }
    json[figure.name] = {{"help", figure.help}, {"samples", std::move(samples)}};
  }
  return json;
}

Json Methods(const RequestMetrics& requests) {
  Json methods = Json::array();
  const auto by_code = [](const RequestMetrics::Method& method) {
    Json codes = Json::object();
    for (size_t code = 1; code < method.by_code.size(); ++code) {
      if (method.by_code[code] == 0) continue;
      codes[std::string(absl::StatusCodeToString(static_cast<absl::StatusCode>(code)))] =
          method.by_code[code];
    }
    return codes;
  };
  for (const RequestMetrics::Method& method : requests.Snapshot()) {
    const uint64_t all = method.requests();
    if (all == 0) continue;
    const auto millis = [&](double q) { return std::round(method.QuantileSeconds(q) * 1e5) / 100; };
    methods.push_back({{"name", method.name},
                       {"requests", all},
                       {"errors", all - method.by_code[0]},
                       {"by_code", by_code(method)},
                       {"p50_ms", millis(0.5)},
                       {"p99_ms", millis(0.99)}});
  }
  return methods;
}

Json SlowQueries(const ServerFacts& facts) {
  Json slow = Json::array();
  if (facts.queries == nullptr) return slow;
  for (const EndedQuery& query : facts.queries->Slowest(absl::Now())) {
    slow.push_back({{"query", query.text},
                    {"method", query.method},
                    {"status", std::string(absl::StatusCodeToString(query.code))},
                    {"ended_seconds", absl::ToUnixSeconds(query.ended)},
                    {"took_ms", absl::ToInt64Milliseconds(query.took)},
                    {"rows", query.rows},
                    {"bytes", query.bytes},
                    {"rows_scanned", query.rows_scanned},
                    {"memory_bytes", query.memory_bytes}});
  }
  return slow;
}

// {"level": "well" | "warning" | "failing", "reasons": [texts, the worst first]}
Json Health(const ServerFacts& facts, const std::vector<Figure>& figures, int64_t now_seconds) {
  const auto largest = [&](std::string_view name) -> std::optional<double> {
    std::optional<double> most;
    const auto take = [&](double value) { most = std::max(most.value_or(value), value); };
    if (name == "sonde_requests_load") {
      for (const ServerFacts::UnderWay& kind : facts.under_way) take(kind.admission->Load());
    }
    for (const Figure& figure : figures) {
      if (figure.name != name) continue;
      for (const Figure::Sample& sample : figure.samples) take(sample.value);
    }
    return most;
  };
  Json texts = Json::array();
  const char* level = "well";
  for (const HealthReason& reason : FindHealthReasons(largest, static_cast<double>(now_seconds))) {
    if (texts.empty()) level = reason.level == HealthReason::Level::kFailing ? "failing" : "warning";
    texts.push_back(reason.text);
  }
  return {{"level", level}, {"reasons", std::move(texts)}};
}

Json KeptViews(const ServerFacts& facts) {
  Json views = Json::array();
  if (!facts.kept_views) return views;
  for (const ServerFacts::KeptView& view : facts.kept_views()) {
    views.push_back({{"name", view.name},
                     {"id", IdOfSqlView(view.name)},
                     {"lag_seconds", view.lag_seconds},
                     {"is_populating", view.is_populating},
                     {"rows", view.rows},
                     {"left_out", view.left_out},
                     {"finding", view.finding},
                     {"error", view.error}});
  }
  return views;
}

std::string OverviewJson(const ServerFacts& facts, DiskParts* disk) {
  const int64_t now = facts.tables->clock().NowMicros() / 1'000'000;
  uint64_t bytes = 0;
  const std::vector<TableSchemaRef> tables = facts.tables->catalog().ListAll();
  for (const TableSchemaRef& schema : tables) bytes += BytesOf(facts.tables, schema->id);
  Json seconds = Json::array();
  if (facts.key_visualizer != nullptr) {
    for (const KeyVisualizer::SecondOfAll& one : facts.key_visualizer->RecentTotals()) {
      seconds.push_back({one.second, one.counts.reads, one.counts.writes, one.counts.read_bytes,
                         one.counts.write_bytes, one.counts.requests, one.counts.latency_micros,
                         one.counts.errors});
    }
  }
  std::vector<Figure> figures = EngineFigures(facts);
  MergeFigures(ChangeStreamFigures(facts), &figures);
  MergeFigures(disk->Figures(absl::Now()), &figures);
  const Json json = {
      {"version", facts.version},
      {"now_seconds", now},
      {"started_seconds", facts.started_seconds},
      {"grpc_address", facts.grpc_address},
      {"data_dir", facts.data_dir},
      {"watches_keys", facts.key_visualizer != nullptr},
      {"tables", tables.size()},
      {"table_bytes", bytes},
      {"resident_bytes", ResidentBytes()},
      {"memory_bytes", facts.memory_bytes},
      {"cpu_seconds", CpuSeconds()},
      {"health", Health(facts, figures, now)},
      {"durability", facts.durability},
      {"figures", FiguresToJson(figures)},
      {"methods", Methods(*facts.requests)},
      {"slow_queries", SlowQueries(facts)},
      {"views", KeptViews(facts)},
      {"second_columns",
       {"second", "reads", "writes", "read_bytes", "write_bytes", "requests", "latency_micros", "errors"}},
      {"seconds", std::move(seconds)},
  };
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

struct TableMetrics {
  std::string name;
  uint64_t bytes = 0;
  double keys = 0;
  bool has_change_stream = false;
  size_t change_partitions = 0;
  size_t families_with_gc = 0;
  KeyVisualizer::TableSums sums;
};

std::vector<TableMetrics> CollectTables(const ServerFacts& facts) {
  std::map<TableId, KeyVisualizer::TableSums> sums;
  if (facts.key_visualizer != nullptr) {
    for (const KeyVisualizer::TableSums& one : facts.key_visualizer->Sums()) sums[one.table] = one;
  }
  std::vector<TableMetrics> all;
  for (const TableSchemaRef& schema : facts.tables->catalog().ListAll()) {
    TableMetrics table{
        .name = schema->name, .bytes = BytesOf(facts.tables, schema->id), .sums = sums[schema->id]};
    if (facts.key_visualizer != nullptr) table.keys = facts.key_visualizer->KeyCount(schema->id);
    table.has_change_stream = schema->change_stream.has_value();
    if (table.has_change_stream) table.change_partitions = schema->change_stream->partition_points.size() + 1;
    for (const FamilySchema& family : schema->families)
      table.families_with_gc += family.gc_rule.KeepsEverything() ? 0 : 1;
    all.push_back(std::move(table));
  }
  return all;
}

void WriteTables(const ServerFacts& facts, MetricText* text) {
  const std::vector<TableMetrics> tables = CollectTables(facts);
  const auto gauge = [&](std::string_view name, std::string_view help, auto value_of) {
    text->Begin(name, MetricKind::kGauge, help);
    for (const TableMetrics& table : tables)
      text->Sample(static_cast<double>(value_of(table)), {{"table", table.name}});
  };
  const auto counter = [&](std::string_view name, std::string_view help, auto read_of, auto written_of) {
    text->Begin(name, MetricKind::kCounter, help);
    for (const TableMetrics& table : tables) {
      text->Sample(static_cast<double>(read_of(table)), {{"table", table.name}, {"kind", "read"}});
      text->Sample(static_cast<double>(written_of(table)), {{"table", table.name}, {"kind", "write"}});
    }
  };
  gauge("sonde_table_bytes", "Bytes of a table on disk and in memory, about.",
        [](const auto& t) { return t.bytes; });
  gauge("sonde_change_stream_partitions", "Partitions of the change stream; 0: it has none.",
        [](const auto& t) { return t.change_partitions; });
  gauge("sonde_gc_families", "Families with a garbage-collection rule.",
        [](const auto& t) { return t.families_with_gc; });
  if (facts.key_visualizer == nullptr) return;
  gauge("sonde_table_keys_in_use", "Distinct row keys that were used in the last day, about.",
        [](const auto& t) { return std::round(t.keys); });
  counter(
      "sonde_table_rows_total", "Rows read and written.", [](const auto& t) { return t.sums.counts.reads; },
      [](const auto& t) { return t.sums.counts.writes; });
  counter(
      "sonde_table_cells_total", "Cells read, and mutations written.",
      [](const auto& t) { return t.sums.cells_read; }, [](const auto& t) { return t.sums.cells_written; });
  counter(
      "sonde_table_value_bytes_total", "Bytes of qualifiers and values read, about, and written.",
      [](const auto& t) { return t.sums.counts.read_bytes; },
      [](const auto& t) { return t.sums.counts.write_bytes; });
  text->Begin("sonde_table_errors_total", MetricKind::kCounter,
              "Rows that could not be written, and reads that failed.");
  for (const TableMetrics& table : tables) {
    text->Sample(static_cast<double>(table.sums.counts.errors), {{"table", table.name}});
  }
}

std::string MetricsText(const ServerFacts& facts, DiskParts* disk) {
  MetricText text;
  const auto one = [&](std::string_view name, MetricKind kind, std::string_view help, double value) {
    text.Begin(name, kind, help);
    text.Sample(value);
  };
  text.Begin("sonde_build_info", MetricKind::kGauge, "Always 1; its label says which version runs.");
  text.Sample(1, {{"version", facts.version}});
  one("process_start_time_seconds", MetricKind::kGauge, "When the process started, since 1970.",
      static_cast<double>(facts.started_seconds));
  one("process_cpu_seconds_total", MetricKind::kCounter, "Processor time so far.", CpuSeconds());
  one("process_resident_memory_bytes", MetricKind::kGauge, "Memory of the process.",
      static_cast<double>(ResidentBytes()));
  one("sonde_memory_budget_bytes", MetricKind::kGauge,
      "Memory that --memory allows the process, beside a constant.", static_cast<double>(facts.memory_bytes));
  text.Begin("sonde_requests_load", MetricKind::kGauge,
             "Requests under way, as a part of what is allowed: 1 is full, and more are refused.");
  for (const ServerFacts::UnderWay& kind : facts.under_way) {
    text.Sample(kind.admission->Load(), {{"kind", kind.kind}});
  }
  facts.requests->Write(&text);
  for (const Figure& figure : EngineFigures(facts)) text.Write(figure);
  for (const Figure& figure : ChangeStreamFigures(facts)) text.Write(figure);
  for (const Figure& figure : disk->Figures(absl::Now())) text.Write(figure);
  WriteTables(facts, &text);
  if (facts.key_visualizer != nullptr) {
    one("sonde_keyviz_bytes", MetricKind::kGauge, "Bytes that the key visualizer keeps on disk.",
        static_cast<double>(facts.key_visualizer->bytes_on_disk()));
    one("sonde_keyviz_dropped_total", MetricKind::kCounter, "Accesses not counted: too many tables in use.",
        static_cast<double>(facts.key_visualizer->dropped()));
  }
  return text.Take();
}

}  // namespace

void AddOverviewApi(ServerFacts facts, Router* router) {
  const auto shared = std::make_shared<const ServerFacts>(std::move(facts));
  const auto disk = std::make_shared<DiskParts>(shared->data_dir);
  AddGrowthApi(shared->tables, disk, shared->new_series, router);
  router->Add({"GET", "/api/v1/overview",
               [shared, disk](const HttpRequest& request, HttpBody*, HttpResponse* response) {
                 if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
                 response->body = OverviewJson(*shared, disk.get());
                 return absl::OkStatus();
               }});
  router->Add({.method = "GET",
               .path = "/metrics",
               .handler =
                   [shared, disk](const HttpRequest& request, HttpBody*, HttpResponse* response) {
                     if (absl::Status status = QueryReader(request).Finish(); !status.ok()) return status;
                     response->content_type = "text/plain; version=0.0.4; charset=utf-8";
                     response->body = MetricsText(*shared, disk.get());
                     return absl::OkStatus();
                   },
               .is_for_watchers = true});
}

}  // namespace sonde
