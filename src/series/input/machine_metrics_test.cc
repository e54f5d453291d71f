#include "series/input/machine_metrics.h"

#include <gtest/gtest.h>

namespace sonde::series {
namespace {

using Metrics = std::map<std::string, std::string>;

TEST(MachineMetrics, CpuIsTheShareOfTheTicksBetween) {
  const auto before = ParseCpuTicks("cpu  100 0 50 800 50 0 0 0 0 0\ncpu0 1 2 3\n");
  const auto after = ParseCpuTicks("cpu  130 10 60 890 40 5 5 0 0 0\ncpu0 1 2 3\n");
  ASSERT_TRUE(before.ok() && after.ok());
  Metrics metrics;
  AddCpuMetrics(*before, *after, &metrics);
  EXPECT_EQ(metrics, (Metrics{{"cpu_user", "28.57"},
                              {"cpu_system", "14.29"},
                              {"cpu_idle", "64.29"},
                              {"cpu_iowait", "0.00"},
                              {"cpu_steal", "0.00"}}));
  metrics.clear();
  AddCpuMetrics(*before, *before, &metrics);
  EXPECT_TRUE(metrics.empty());
}

TEST(MachineMetrics, MemoryIsBytes) {
  Metrics metrics;
  ASSERT_TRUE(AddMemoryMetrics("MemTotal:       1000 kB\nMemFree:         100 kB\nMemAvailable:    600 kB\n"
                               "Buffers:          10 kB\nCached:          300 kB\nSwapTotal:        50 kB\n"
                               "SwapFree:         40 kB\nHugePages_Total:  0\n",
                               &metrics)
                  .ok());
  EXPECT_EQ(metrics["mem_used"], "409600");
  EXPECT_EQ(metrics["swap_used"], "10240");
  EXPECT_EQ(AddMemoryMetrics("MemTotal: 1 kB\n", &metrics).message(), "/proc/meminfo: no line 'MemFree'");
}

TEST(MachineMetrics, LoadIsThreeNumbers) {
  Metrics metrics;
  ASSERT_TRUE(AddLoadMetrics("0.52 1.04 2.00 3/123 4567\n", &metrics).ok());
  EXPECT_EQ(metrics, (Metrics{{"load1", "0.52"}, {"load5", "1.04"}, {"load15", "2.00"}}));
  EXPECT_EQ(AddLoadMetrics("a b c", &metrics).message(), "/proc/loadavg: 'a' is not a number");
}

TEST(MachineMetrics, SaysWhatIsMissing) {
  EXPECT_EQ(ParseCpuTicks("cpu0 1 2\n").status().message(), "/proc/stat: no line 'cpu'");
  EXPECT_EQ(ParseCpuTicks("cpu 1 2\n").status().message(),
            "/proc/stat: the line 'cpu' has fewer than 8 numbers");
}

}  // namespace
}  // namespace sonde::series
