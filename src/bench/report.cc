#include "bench/report.h"

#include <fmt/format.h>
#include <sched.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>

namespace sonde::bench {
namespace {

std::string CpuModel() {
  std::ifstream file("/proc/cpuinfo");
  std::string line;
  while (std::getline(file, line)) {
    const size_t colon = line.find(": ");
    if (line.compare(0, 10, "model name") == 0 && colon != std::string::npos) return line.substr(colon + 2);
  }
  return "unknown";
}

int UsableCores() {
  cpu_set_t cores;
  return sched_getaffinity(0, sizeof(cores), &cores) == 0 ? CPU_COUNT(&cores) : 0;
}

const char* SchemaName(Schema schema) { return schema == Schema::kTall ? "tall" : "bucket"; }

double PerSecond(uint64_t count, const Result& result) {
  return result.seconds > 0 ? static_cast<double>(count) / result.seconds : 0;
}

std::string HashText(const Result& result) {
  return result.hash.has_value() ? fmt::format("{:016x}", *result.hash) : "-";
}

}  // namespace

Machine DescribeMachine() {
  Machine machine;
  machine.cpu = CpuModel();
  machine.cores = UsableCores();
  machine.memory_gib =
      static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGESIZE)) / (1u << 30);
  utsname system{};
  if (uname(&system) == 0) machine.kernel = fmt::format("{} {}", system.sysname, system.release);
  machine.build_type = SONDE_BUILD_TYPE;
  machine.version = SONDE_VERSION;
  return machine;
}

std::string TextReport(const Machine& machine, const Options& options, const std::vector<Result>& results) {
  std::string text = fmt::format("machine     {}, {} cores, {:.1f} GiB, {}\n", machine.cpu, machine.cores,
                                 machine.memory_gib, machine.kernel);
  text += fmt::format("client      sonde {} ({}), {} clients, server at {}, durability {}\n", machine.version,
                      machine.build_type, options.clients, options.endpoint, options.durability);
  text +=
      fmt::format("data        {}, {} rows, {} entities, {} cells a step, {} steps a request, seed {}\n\n",
                  kDataKindNames[static_cast<size_t>(options.shape.kind)], SchemaName(options.shape.schema),
                  options.shape.hosts, ModelOf(options.shape).cells_per_step, options.rows_per_request,
                  options.shape.seed);
  text += fmt::format("{:<17}{:>10}{:>9}{:>12}{:>12}{:>12}{:>8}{:>9}{:>9}{:>9}{:>8}{:>8}  {}\n", "",
                      "requests", "seconds", "requests/s", "rows/s", "cells/s", "MB/s", "p50 us", "p99 us",
                      "max us", "client", "B/cell", "hash");
  for (const Result& result : results) {
    const std::string disk = result.disk_bytes_per_cell.has_value()
                                 ? fmt::format("{:.3f}", *result.disk_bytes_per_cell)
                                 : std::string("-");
    text += fmt::format(
        "{:<17}{:>10}{:>9.2f}{:>12.0f}{:>12.0f}{:>12.0f}{:>8.1f}{:>9}{:>9}{:>9}{:>7.0f}%{:>8}  {}\n",
        result.name, result.requests, result.seconds, PerSecond(result.requests, result),
        PerSecond(result.rows, result), PerSecond(result.cells, result),
        PerSecond(result.bytes, result) * 1e-6, result.latency_us.Quantile(0.5),
        result.latency_us.Quantile(0.99), result.latency_us.max(),
        result.seconds > 0 ? 100 * result.client_cpu_seconds / result.seconds : 0, disk, HashText(result));
  }
  for (const Result& result : results) {
    if (result.refused == 0) continue;
    text += fmt::format("\n{}: refused {} times for now (UNAVAILABLE) and made again\n", result.name,
                        result.refused);
  }
  return text;
}

std::string JsonReport(const Machine& machine, const Options& options, const std::vector<Result>& results) {
  nlohmann::ordered_json json;
  json["machine"] = {
      {"cpu", machine.cpu},       {"cores", machine.cores},           {"memory_gib", machine.memory_gib},
      {"kernel", machine.kernel}, {"build_type", machine.build_type}, {"version", machine.version}};
  json["options"] = {{"endpoint", options.endpoint},
                     {"durability", options.durability},
                     {"data", kDataKindNames[static_cast<size_t>(options.shape.kind)]},
                     {"schema", SchemaName(options.shape.schema)},
                     {"hosts", options.shape.hosts},
                     {"cells_per_step", ModelOf(options.shape).cells_per_step},
                     {"seed", options.shape.seed},
                     {"clients", options.clients},
                     {"rows_per_request", options.rows_per_request}};
  json["results"] = nlohmann::ordered_json::array();
  for (const Result& result : results) {
    nlohmann::ordered_json line = {{"name", result.name},
                                   {"requests", result.requests},
                                   {"rows", result.rows},
                                   {"cells", result.cells},
                                   {"bytes", result.bytes},
                                   {"cell_bytes", result.cell_bytes},
                                   {"seconds", result.seconds},
                                   {"client_cpu_seconds", result.client_cpu_seconds},
                                   {"requests_per_second", PerSecond(result.requests, result)},
                                   {"rows_per_second", PerSecond(result.rows, result)},
                                   {"cells_per_second", PerSecond(result.cells, result)},
                                   {"p50_us", result.latency_us.Quantile(0.5)},
                                   {"p99_us", result.latency_us.Quantile(0.99)},
                                   {"max_us", result.latency_us.max()},
                                   {"refused", result.refused},
                                   {"hash", HashText(result)}};
    line["disk_bytes_per_cell"] = nullptr;
    if (result.disk_bytes_per_cell.has_value()) line["disk_bytes_per_cell"] = *result.disk_bytes_per_cell;
    json["results"].push_back(std::move(line));
  }
  return json.dump(2) + "\n";
}

}  // namespace sonde::bench
