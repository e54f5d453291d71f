#include "bench/data/data_model.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace sonde::bench {
namespace {

Field Walk(std::string name, int64_t high, int64_t step, int decimals = 0, int64_t low = 0) {
  return {.name = std::move(name), .decimals = decimals, .low = low, .high = high, .step = step};
}
Field Counter(std::string name, int64_t step, int64_t high = 1'000'000'000) {
  return {.name = std::move(name), .motion = FieldMotion::kCounter, .high = high, .step = step};
}
Field Constant(std::string name, int64_t high) {
  return {.name = std::move(name), .motion = FieldMotion::kConstant, .high = high};
}
Field Draw(std::string name, int64_t low, int64_t high) {
  return {.name = std::move(name), .motion = FieldMotion::kDraw, .low = low, .high = high};
}
Field Of(std::string name, FieldMotion motion, int first, int second = 0) {
  return {.name = std::move(name), .motion = motion, .first = first, .second = second};
}

std::vector<Field> CpuFields(int count) {
  std::vector<Field> fields;
  for (int metric = 0; metric < count; ++metric) fields.push_back(Walk(MetricName(metric), 100, 1));
  return fields;
}

template <typename... Names>
std::vector<Field> Counters(int64_t step, Names... names) {
  return {Counter(names, step)...};
}

std::vector<Field> RedisFields() {
  std::vector<Field> fields = Counters(20, "total_connections_received", "expired_keys", "evicted_keys",
                                       "keyspace_hits", "keyspace_misses", "rdb_changes_since_last_save");
  fields.push_back(Counter("uptime_in_seconds", 5, 1'000'000));
  for (const char* const name :
       {"instantaneous_ops_per_sec", "instantaneous_input_kbps", "instantaneous_output_kbps",
        "connected_clients", "sync_full", "sync_partial_ok", "sync_partial_err", "pubsub_channels",
        "pubsub_patterns", "latest_fork_usec", "connected_slaves"}) {
    fields.push_back(Walk(name, 1'000, 1));
  }
  for (const char* const name : {"used_memory", "used_memory_rss", "used_memory_peak", "used_memory_lua"}) {
    fields.push_back(Walk(name, int64_t{16} << 30, 50));
  }
  fields.push_back(Counter("master_repl_offset", 50));
  fields.push_back(Constant("repl_backlog_active", 1));
  fields.push_back(Constant("repl_backlog_size", 1 << 20));
  fields.push_back(Walk("repl_backlog_histlen", 100, 1));
  fields.push_back(Walk("mem_fragmentation_ratio", 10'000, 3, 2));
  for (const char* const name :
       {"used_cpu_sys", "used_cpu_user", "used_cpu_sys_children", "used_cpu_user_children"}) {
    Field field = Counter(name, 30, 1'000'000);
    field.decimals = 2;
    fields.push_back(field);
  }
  return fields;
}

std::vector<FieldGroup> DevopsGroups() {
  using enum FieldMotion;
  return {
      {"cpu", CpuFields(10)},
      {"diskio",
       Counters(50, "reads", "writes", "read_bytes", "write_bytes", "read_time", "write_time", "io_time")},
      {"disk",
       {Constant("total", int64_t{1} << 40), Walk("free", int64_t{1} << 38, 4096), Of("used", kRest, 0, 1),
        Of("used_percent", kPercent, 2, 0), Constant("inodes_total", 1 << 28),
        Walk("inodes_free", 1 << 26, 3), Of("inodes_used", kRest, 4, 5)}},
      {"kernel",
       {Constant("boot_time", 1'451'606'400), Counter("interrupts", 500), Counter("context_switches", 500),
        Counter("processes_forked", 5), Counter("disk_pages_in", 50), Counter("disk_pages_out", 50)}},
      {"mem",
       {Constant("total", int64_t{64} << 30), Walk("used", int64_t{32} << 30, 1 << 20),
        Of("available", kRest, 0, 1), Of("free", kSame, 2), Walk("cached", int64_t{16} << 30, 1 << 20),
        Walk("buffered", int64_t{1} << 30, 1 << 16), Of("used_percent", kPercent, 1, 0),
        Of("available_percent", kPercent, 2, 0), Of("buffered_percent", kPercent, 5, 0)}},
      {"net", Counters(50, "bytes_sent", "bytes_recv", "packets_sent", "packets_recv", "err_in", "err_out",
                       "drop_in", "drop_out")},
      {"nginx",
       {Counter("accepts", 5), Walk("active", 100, 1), Counter("handled", 5), Walk("reading", 100, 1),
        Counter("requests", 5), Walk("waiting", 100, 1), Walk("writing", 100, 1)}},
      {"postgresl",
       Counters(5, "numbackends", "xact_commit", "xact_rollback", "blks_read", "blks_hit", "tup_returned",
                "tup_fetched", "tup_inserted", "tup_updated", "tup_deleted", "conflicts", "temp_files",
                "temp_bytes", "deadlocks", "blk_read_time", "blk_write_time")},
      {"redis", RedisFields()},
  };
}

std::vector<FieldGroup> IotGroups() {
  return {
      {"readings",
       {Walk("elevation", 3'000, 20), Walk("fuel_consumption", 500, 10, 1), Walk("grade", 100, 1),
        Walk("heading", 360, 5), Walk("latitude", 9'000'000, 500, 5), Walk("longitude", 18'000'000, 500, 5),
        Walk("velocity", 100, 10)}},
      {"diagnostics", {Walk("current_load", 5'000, 25), Walk("fuel_state", 10, 1, 1), Walk("status", 5, 1)}}};
}

std::vector<FieldGroup> MachinesGroups() {
  std::vector<Field> fields;
  for (int i = 0; i < 40; ++i) fields.push_back(Walk(fmt::format("gauge_{:02}", i), 100, 1));
  for (int i = 0; i < 30; ++i) fields.push_back(Counter(fmt::format("counter_{:02}", i), 1 << (i / 2)));
  for (int i = 0; i < 30; ++i) fields.push_back(Walk(fmt::format("level_{:02}", i), 100'000, 20, 2));
  return {{"", std::move(fields)}};
}

}  // namespace

std::optional<DataKind> DataKindOf(std::string_view name) {
  const auto* const found = std::find(std::begin(kDataKindNames), std::end(kDataKindNames), name);
  if (found == std::end(kDataKindNames)) return std::nullopt;
  return static_cast<DataKind>(found - std::begin(kDataKindNames));
}

DataModel ModelOf(const DataShape& shape) {
  DataModel model;
  switch (shape.kind) {
    case DataKind::kCpu:
      model = {.entity = "host", .groups = {{"", CpuFields(shape.cells_per_row)}}};
      break;
    case DataKind::kDevops:
      model = {.entity = "host", .groups = DevopsGroups()};
      break;
    case DataKind::kIot:
      model = {.entity = "truck", .regular = false, .groups = IotGroups()};
      break;
    case DataKind::kMachines:
      model = {.entity = "machine", .step_seconds = 5, .groups = MachinesGroups()};
      break;
    case DataKind::kMeters:
      model = {
          .entity = "meter",
          .step_seconds = 900,
          .bucket_seconds = 86'400,
          .groups = {{"", {Counter("energy_wh", 120, 10'000'000), Walk("voltage", 2'400, 8, 1, 2'200)}}}};
      break;
    case DataKind::kMarket:
      model = {.entity = "ticker",
               .step_seconds = 1,
               .keys_in_millis = true,
               .regular = false,
               .groups = {{"",
                           {Walk("price", 100'000, 2, 2, 100), Draw("size", 1, 1'000),
                            Walk("bid", 100'000, 2, 2, 100), Walk("ask", 100'000, 2, 2, 100)}}}};
      break;
  }
  for (const FieldGroup& group : model.groups)
    model.cells_per_step += static_cast<double>(group.fields.size());
  if (shape.kind == DataKind::kIot) model.cells_per_step *= kIotSent;
  if (shape.kind == DataKind::kMarket) model.cells_per_step *= kMarketSent;
  return model;
}

std::string MetricName(int metric) {
  static constexpr std::string_view kNames[] = {
      "usage_user", "usage_system",  "usage_idle",  "usage_nice",  "usage_iowait",
      "usage_irq",  "usage_softirq", "usage_steal", "usage_guest", "usage_guest_nice"};
  if (metric < static_cast<int>(std::size(kNames))) return std::string(kNames[metric]);
  return fmt::format("usage_{:04}", metric);
}

}  // namespace sonde::bench
