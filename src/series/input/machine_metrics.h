// The metrics of a machine's processors and memory, from the texts of Linux's /proc/stat, /proc/meminfo and
// /proc/loadavg.  Pure: the caller reads the files.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace sonde::series {

// Ticks since the machine started, summed over the processors (the line `cpu` of /proc/stat).
struct CpuTicks {
  uint64_t user = 0;
  uint64_t nice = 0;
  uint64_t system = 0;
  uint64_t idle = 0;
  uint64_t iowait = 0;
  uint64_t irq = 0;
  uint64_t softirq = 0;
  uint64_t steal = 0;

  uint64_t Total() const { return user + nice + system + idle + iowait + irq + softirq + steal; }
};

// DATA_LOSS: no such line.
absl::StatusOr<CpuTicks> ParseCpuTicks(std::string_view proc_stat);

// cpu_user (with nice), cpu_system (with interrupts), cpu_idle, cpu_iowait, cpu_steal: percent of the time
// between the two, to 2 digits.  Nothing is added when no tick lies between them.
void AddCpuMetrics(const CpuTicks& before, const CpuTicks& after,
                   std::map<std::string, std::string>* metrics);

// mem_total, mem_used (total - available), mem_free, mem_available, mem_cached, mem_buffers, swap_used:
// bytes. DATA_LOSS: a line is missing or is no number.
absl::Status AddMemoryMetrics(std::string_view proc_meminfo, std::map<std::string, std::string>* metrics);

// load1, load5, load15.
absl::Status AddLoadMetrics(std::string_view proc_loadavg, std::map<std::string, std::string>* metrics);

}  // namespace sonde::series
