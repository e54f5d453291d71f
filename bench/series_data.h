// The data of the benchmarks: what TSBS calls cpu-only, made here from a seed.
//
// `hosts` machines report `cells_per_row` integer metrics every kStepSeconds, as decimal text.  Each metric
// walks: it starts anywhere in 0 to 100, moves by N(0, 1) a step, is held within 0 to 100, and is reported
// rounded down. Every host has a seed of its own, so the data does not depend on how hosts are shared among
// clients.
//
// As Bigtable rows, all in family kFamily, one column a metric, the cell's timestamp being the time of the
// step:
//   tall    one row per host and step     host_00042#1451606410
//   bucket  one row per host and hour     host_00042#1451606400, to which each step adds its cells
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"

namespace sonde::bench {

inline constexpr std::string_view kFamily = "m";
inline constexpr int64_t kFirstSecond = 1'451'606'400;  // 2016-01-01T00:00:00Z
inline constexpr int64_t kStepSeconds = 10;
inline constexpr int64_t kBucketSeconds = 3'600;
inline constexpr int kHostsMax = 100'000;  // what five digits hold
inline constexpr int kCellsPerRowMax = 10'000;

enum class Schema : uint8_t { kTall, kBucket };

struct DataShape {
  Schema schema = Schema::kBucket;
  int hosts = 100;
  int cells_per_row = 10;
  uint64_t seed = 1;
};

// The name of a metric: TSBS's for the first ten.
std::string MetricName(int metric);
// "host_00042#": the common start of all keys of a host.
std::string HostPrefix(int host);
// The rest of the key of the row that holds this step.
std::string KeyTime(const DataShape& shape, int64_t step);
// The row that holds this step of this host: HostPrefix, KeyTime.
std::string RowKey(const DataShape& shape, int host, int64_t step);
inline int64_t StepMicros(int64_t step) { return (kFirstSecond + step * kStepSeconds) * 1'000'000; }
// The steps that make at least `cells` cells, over all hosts.
int64_t StepsFor(const DataShape& shape, int64_t cells);
// The rows that these steps make in the table.
int64_t RowsFor(const DataShape& shape, int64_t steps);

// The values of one host, step by step.  Not for several threads.
class HostWalk {
 public:
  HostWalk(const DataShape& shape, int host);
  // Each metric's value at the next step, 0 to 100.
  void Next(std::vector<uint8_t>* values);

 private:
  SeededRandom random_;
  std::vector<int32_t> levels_;  // in 1/kUnit
  bool started_ = false;
};

// A sum over cells that does not depend on their order: the same data has the same sum, whoever adds it up.
class CellSum {
 public:
  static uint64_t Hash(std::string_view bytes);
  // `row`, `qualifier` and `value` are Hash of them.
  void Add(uint64_t row, uint64_t qualifier, int64_t timestamp_micros, uint64_t value) {
    sum_ += Mix(Mix(row, qualifier), static_cast<uint64_t>(timestamp_micros) ^ value);
    ++cells_;
  }
  void Merge(const CellSum& other) {
    sum_ += other.sum_;
    cells_ += other.cells_;
  }
  uint64_t cells() const { return cells_; }
  uint64_t sum() const { return sum_; }

 private:
  static uint64_t Mix(uint64_t a, uint64_t b) {
    const auto product = static_cast<unsigned __int128>(a ^ 0x9E3779B97F4A7C15u) * (b ^ 0xD6E8FEB86659FD93u);
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  uint64_t sum_ = 0;
  uint64_t cells_ = 0;
};

}  // namespace sonde::bench
