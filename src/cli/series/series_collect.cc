// `sonde series collect`: this machine's processors and memory, from /proc, into a declared series.
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <chrono>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>
#include <thread>

#include "base/clock.h"
#include "cli/series/series_commands.h"
#include "series/input/machine_metrics.h"
#include "series/known/series_tables.h"
#include "series/schema/calendar.h"
#include "series/schema/status_text.h"
#include "series/write/point_writer.h"

namespace sonde {
namespace {

struct CollectOptions {
  std::string declaration;
  double seconds = 10;
  std::string interval = "1s";
  std::string host;
  bool is_json = false;
  AccessFlags access;
};

using Metrics = std::map<std::string, std::string>;

absl::StatusOr<std::string> ReadWhole(const char* file) {
  std::ifstream stream(file);
  if (!stream) return absl::UnavailableError(fmt::format("can't read {}: this command needs Linux", file));
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

absl::StatusOr<series::CpuTicks> ReadCpuTicks() {
  const absl::StatusOr<std::string> text = ReadWhole("/proc/stat");
  return text.ok() ? series::ParseCpuTicks(*text) : text.status();
}

// Everything that there is to know; `before`: the ticks of the last time, replaced by those of now.
absl::StatusOr<Metrics> ReadMetrics(series::CpuTicks* before) {
  Metrics metrics;
  const absl::StatusOr<series::CpuTicks> now = ReadCpuTicks();
  if (!now.ok()) return now.status();
  series::AddCpuMetrics(*before, *now, &metrics);
  *before = *now;
  const absl::StatusOr<std::string> memory = ReadWhole("/proc/meminfo");
  if (!memory.ok()) return memory.status();
  if (absl::Status status = series::AddMemoryMetrics(*memory, &metrics); !status.ok()) return status;
  const absl::StatusOr<std::string> load = ReadWhole("/proc/loadavg");
  if (!load.ok()) return load.status();
  if (absl::Status status = series::AddLoadMetrics(*load, &metrics); !status.ok()) return status;
  return metrics;
}

constexpr std::array kMetricNames = {"cpu_user",    "cpu_system", "cpu_idle", "cpu_iowait",    "cpu_steal",
                                     "mem_total",   "mem_used",   "mem_free", "mem_available", "mem_cached",
                                     "mem_buffers", "swap_used",  "load1",    "load5",         "load15"};

absl::Status CheckFits(const series::SeriesSchema& schema) {
  if (schema.tags.size() != 1 || schema.tags[0].name != "host") {
    return absl::InvalidArgumentError(
        fmt::format("{}: 'collect' fills series with exactly one tag, 'host'", schema.file));
  }
  for (const series::Field& field : schema.fields) {
    if (std::find(kMetricNames.begin(), kMetricNames.end(), field.name) == kMetricNames.end()) {
      return absl::InvalidArgumentError(
          fmt::format("{}:{}: field '{}' is nothing that 'collect' measures; allowed: {}", schema.file,
                      field.line, field.name, fmt::join(kMetricNames, ", ")));
    }
  }
  return absl::OkStatus();
}

absl::Status WritePoint(const Metrics& metrics, const std::string& host, int64_t now_micros,
                        series::PointWriter* writer) {
  std::vector<std::string_view> fields;
  for (const series::Field& field : writer->codec().schema().fields) {
    const auto metric = metrics.find(field.name);
    fields.push_back(metric == metrics.end() ? std::string_view() : std::string_view(metric->second));
  }
  const std::string_view tag = host;
  if (absl::Status status = writer->Add({{&tag, 1}, now_micros, fields}); !status.ok()) return status;
  return writer->Flush();
}

absl::Status Collect(const CollectOptions& options) {
  using SteadyClock = std::chrono::steady_clock;
  const absl::StatusOr<int64_t> interval_micros = series::ParseDurationMicros(options.interval);
  if (!interval_micros.ok()) {
    return absl::InvalidArgumentError(
        fmt::format("--interval: {}", series::TextOfStatus(interval_micros.status())));
  }
  absl::StatusOr<OpenSeries> opened =
      OpenDeclaredSeries(options.declaration, options.access, DataDir::kMayBeMade);
  if (!opened.ok()) return opened.status();
  if (absl::Status status = CheckFits(opened->schema); !status.ok()) return status;
  std::string host = options.host;
  if (host.empty()) {
    std::array<char, 256> name{};
    if (gethostname(name.data(), name.size() - 1) != 0)
      return absl::UnavailableError("this machine has no name; say --host");
    host = name.data();
  }
  if (absl::Status status = series::EnsureSeriesTables(opened->schema, opened->tables.get()); !status.ok()) {
    return status;
  }
  series::PointWriter writer(opened->schema, opened->tables.get());
  absl::StatusOr<series::CpuTicks> ticks = ReadCpuTicks();
  if (!ticks.ok()) return ticks.status();
  const SystemClock clock;
  const auto start = SteadyClock::now();
  const auto end = start + std::chrono::duration_cast<SteadyClock::duration>(
                               std::chrono::duration<double>(options.seconds));
  auto next = start;
  do {
    next += std::chrono::microseconds(*interval_micros);
    std::this_thread::sleep_until(next);
    const absl::StatusOr<Metrics> metrics = ReadMetrics(&*ticks);
    if (!metrics.ok()) return metrics.status();
    if (absl::Status status = WritePoint(*metrics, host, clock.NowMicros(), &writer); !status.ok())
      return status;
  } while (next + std::chrono::microseconds(*interval_micros) <= end);
  fmt::print(stderr, "{} points ({} cells) of host '{}' written into table '{}'\n", writer.totals().points,
             writer.totals().cells, host, opened->schema.table);
  if (options.is_json) {
    const nlohmann::ordered_json result = {{"points", writer.totals().points},
                                           {"cells", writer.totals().cells},
                                           {"host", host},
                                           {"table", opened->schema.table}};
    fmt::print("{}\n", result.dump());
  }
  return absl::OkStatus();
}

}  // namespace

void AddSeriesCollect(CLI::App& series, int* exit_status) {
  CLI::App* command =
      series.add_subcommand("collect", "Write this machine's CPU and memory metrics for some seconds");
  auto options = std::make_shared<CollectOptions>();
  AddDeclarationArgument(*command, &options->declaration);
  command->add_option("--seconds", options->seconds, "how long; at least one point is written")
      ->check(CLI::Range(0.0, 1e9))
      ->capture_default_str();
  command->add_option("--interval", options->interval, "between two points")->capture_default_str();
  command->add_option("--host", options->host, "the tag 'host' (this machine's name)");
  command->add_flag("--json", options->is_json, "print the counts as JSON");
  AddAccessFlags(*command, &options->access);
  command->footer("The declaration has the tag 'host', and fields of these names, as many as are wanted:\n" +
                  fmt::format("  {}\n\n", fmt::join(kMetricNames, ", ")) +
                  "Example:\n  sonde series collect examples/metrics.yaml --seconds 60 --interval 5s "
                  "--endpoint 127.0.0.1:8086");
  command->callback([options, exit_status] { *exit_status = ReportStatus("collect", Collect(*options)); });
}

}  // namespace sonde
