// The data of the benchmarks, made from a seed: what data_model.h describes, as Bigtable rows.
//
// An entity (a host, a truck, ...) has a seed of its own, so the data does not depend on how entities are
// shared among clients.  Values are decimal text.  TSBS's cpu-only, which is the default: each metric walks;
// it starts anywhere in 0 to 100, moves by N(0, 1) a step, is held within 0 to 100, and is reported rounded
// down.
//
// All cells are of family kFamily, one column a field; the cell's timestamp is the time of the reading:
//   tall    one row per entity, group and time    host_00042#1451606410, host_00042#mem#1451606410
//   bucket  one row per entity, group and bucket  host_00042#1451606400, to which each step adds its cells
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "bench/data/data_model.h"

namespace sonde::bench {

inline constexpr std::string_view kFamily = "m";
inline constexpr int64_t kFirstSecond = 1'451'606'400;  // 2016-01-01T00:00:00Z
inline constexpr int64_t kStepSeconds = 10;
inline constexpr int64_t kBucketSeconds = 3'600;
inline constexpr int kHostsMax = 100'000;  // what five digits hold
inline constexpr int kCellsPerRowMax = 10'000;

// The row keys of a shape.
class RowKeys {
 public:
  explicit RowKeys(const DataShape& shape) : schema_(shape.schema), model_(ModelOf(shape)) {}
  const DataModel& model() const { return model_; }
  // "host_00042#": the common start of all keys of an entity.
  std::string EntityPrefix(int entity) const;
  // "host_00042#mem#": of those of a group of it; the same when the group has no name.
  std::string GroupPrefix(int entity, int group) const;
  // The rest of the key of the row that holds this time.
  std::string KeyTime(int64_t micros) const;
  std::string RowKey(int entity, int group, int64_t micros) const {
    return GroupPrefix(entity, group) + KeyTime(micros);
  }
  // When a step begins.
  int64_t StepMicros(int64_t step) const { return (kFirstSecond + step * model_.step_seconds) * 1'000'000; }

 private:
  const Schema schema_;
  const DataModel model_;
};

// The time of a step of cpu.
inline int64_t StepMicros(int64_t step) { return (kFirstSecond + step * kStepSeconds) * 1'000'000; }
// The steps that make at least `cells` cells, over all entities; about so many if the data is not regular.
int64_t StepsFor(const DataShape& shape, int64_t cells);

// 4,096 steps of N(0, 1), each as likely, in 1/kWalkUnit.
inline constexpr int64_t kWalkUnit = 1024;
inline constexpr int kWalkBits = 12;
int64_t WalkStep(uint64_t bits);

// The values of one host of cpu, step by step.  Not for several threads.
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
