#include "series/input/machine_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/bytes.h"

namespace sonde::series {
namespace {

std::string_view TakeLine(std::string_view* text) {
  const size_t end = text->find('\n');
  const std::string_view line = text->substr(0, end);
  text->remove_prefix(end == std::string_view::npos ? text->size() : end + 1);
  return line;
}

std::string_view TakeWord(std::string_view* text) {
  const size_t begin = text->find_first_not_of(' ');
  text->remove_prefix(begin == std::string_view::npos ? text->size() : begin);
  const size_t end = std::min(text->find(' '), text->size());
  const std::string_view word = text->substr(0, end);
  text->remove_prefix(end);
  return word;
}

std::optional<uint64_t> ParseCount(std::string_view word) {
  uint64_t count = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), count);
  if (error != std::errc() || end != word.data() + word.size() || word.empty()) return std::nullopt;
  return count;
}

}  // namespace

absl::StatusOr<CpuTicks> ParseCpuTicks(std::string_view proc_stat) {
  while (!proc_stat.empty()) {
    std::string_view line = TakeLine(&proc_stat);
    if (TakeWord(&line) != "cpu") continue;
    CpuTicks ticks;
    for (uint64_t* part : {&ticks.user, &ticks.nice, &ticks.system, &ticks.idle, &ticks.iowait, &ticks.irq,
                           &ticks.softirq, &ticks.steal}) {
      const std::optional<uint64_t> count = ParseCount(TakeWord(&line));
      if (!count) return absl::DataLossError("/proc/stat: the line 'cpu' has fewer than 8 numbers");
      *part = *count;
    }
    return ticks;
  }
  return absl::DataLossError("/proc/stat: no line 'cpu'");
}

void AddCpuMetrics(const CpuTicks& before, const CpuTicks& after,
                   std::map<std::string, std::string>* metrics) {
  if (after.Total() <= before.Total()) return;
  const double total = static_cast<double>(after.Total() - before.Total());
  const auto add = [&](const char* name, uint64_t from, uint64_t to) {
    // iowait may go back on some machines.
    (*metrics)[name] = fmt::format("{:.2f}", to > from ? static_cast<double>(to - from) * 100 / total : 0.0);
  };
  add("cpu_user", before.user + before.nice, after.user + after.nice);
  add("cpu_system", before.system + before.irq + before.softirq, after.system + after.irq + after.softirq);
  add("cpu_idle", before.idle, after.idle);
  add("cpu_iowait", before.iowait, after.iowait);
  add("cpu_steal", before.steal, after.steal);
}

absl::Status AddMemoryMetrics(std::string_view proc_meminfo, std::map<std::string, std::string>* metrics) {
  constexpr uint64_t kBytesPerKilobyte = 1024;
  std::map<std::string, uint64_t, std::less<>> bytes;
  while (!proc_meminfo.empty()) {
    std::string_view line = TakeLine(&proc_meminfo);
    std::string_view name = TakeWord(&line);
    if (!name.empty()) name.remove_suffix(1);  // the colon
    if (const std::optional<uint64_t> kilobytes = ParseCount(TakeWord(&line))) {
      bytes.emplace(name, *kilobytes * kBytesPerKilobyte);
    }
  }
  for (const char* name :
       {"MemTotal", "MemFree", "MemAvailable", "Buffers", "Cached", "SwapTotal", "SwapFree"}) {
    if (!bytes.contains(name)) return absl::DataLossError(fmt::format("/proc/meminfo: no line '{}'", name));
  }
  const auto add = [&](const char* name, uint64_t count) { (*metrics)[name] = fmt::format("{}", count); };
  add("mem_total", bytes["MemTotal"]);
  add("mem_used", bytes["MemTotal"] - bytes["MemAvailable"]);
  add("mem_free", bytes["MemFree"]);
  add("mem_available", bytes["MemAvailable"]);
  add("mem_cached", bytes["Cached"]);
  add("mem_buffers", bytes["Buffers"]);
  add("swap_used", bytes["SwapTotal"] - bytes["SwapFree"]);
  return absl::OkStatus();
}

absl::Status AddLoadMetrics(std::string_view proc_loadavg, std::map<std::string, std::string>* metrics) {
  for (const char* name : {"load1", "load5", "load15"}) {
    const std::string_view word = TakeWord(&proc_loadavg);
    double load = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), load);
    if (error != std::errc() || end != word.data() + word.size()) {
      return absl::DataLossError(fmt::format("/proc/loadavg: '{}' is not a number", Printable(word)));
    }
    (*metrics)[name] = std::string(word);
  }
  return absl::OkStatus();
}

}  // namespace sonde::series
