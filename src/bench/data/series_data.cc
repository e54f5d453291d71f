#include "bench/data/series_data.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <numbers>

namespace sonde::bench {
namespace {

// Levels are whole numbers of 1/kUnit, so that the walk is the same on every machine.
constexpr auto kUnit = static_cast<int32_t>(kWalkUnit);
constexpr int32_t kLevelMax = 100 * kUnit;

// A random step is one of 2^kStepBits quantiles of N(0, 1), each equally likely.
constexpr int kStepBits = kWalkBits;
constexpr int kStepsPerDraw = 64 / kStepBits;

std::array<int16_t, 1 << kStepBits> MakeSteps() {
  std::array<int16_t, 1 << kStepBits> steps{};
  for (size_t i = 0; i < steps.size(); ++i) {
    const double wanted = (static_cast<double>(i) + 0.5) / static_cast<double>(steps.size());
    double low = -8;
    double high = 8;
    for (int round = 0; round < 60; ++round) {
      const double middle = (low + high) / 2;
      (0.5 * std::erfc(-middle / std::numbers::sqrt2) < wanted ? low : high) = middle;
    }
    steps[i] = static_cast<int16_t>(std::lround(low * kUnit));
  }
  return steps;
}

const std::array<int16_t, 1 << kStepBits>& Steps() {
  static const auto steps = MakeSteps();
  return steps;
}

}  // namespace

std::string RowKeys::EntityPrefix(int entity) const {
  return fmt::format("{}_{:05}#", model_.entity, entity);
}

std::string RowKeys::GroupPrefix(int entity, int group) const {
  const std::string& name = model_.groups[group].name;
  return name.empty() ? EntityPrefix(entity) : EntityPrefix(entity) + name + '#';
}

std::string RowKeys::KeyTime(int64_t micros) const {
  const int64_t unit = schema_ == Schema::kBucket ? model_.bucket_seconds * 1'000'000
                       : model_.keys_in_millis    ? 1'000
                                                  : 1'000'000;
  const int64_t time = micros - micros % unit;
  return model_.keys_in_millis ? fmt::format("{:013}", time / 1'000)
                               : fmt::format("{:010}", time / 1'000'000);
}

int64_t StepsFor(const DataShape& shape, int64_t cells) {
  const double cells_per_step = shape.hosts * ModelOf(shape).cells_per_step;
  // Whole steps stay whole, though fractions of them are not exact.
  return std::max<int64_t>(1, std::llround(std::ceil(static_cast<double>(cells) / cells_per_step - 1e-9)));
}

int64_t WalkStep(uint64_t bits) {
  const auto& steps = Steps();
  return steps[bits & (steps.size() - 1)];
}

HostWalk::HostWalk(const DataShape& shape, int host)
    : random_(SeededRandom(shape.seed * 1'000'003 + static_cast<uint64_t>(host)).Next()),
      levels_(shape.cells_per_row) {
  for (int32_t& level : levels_) level = static_cast<int32_t>(random_.Uniform(kLevelMax + 1));
}

void HostWalk::Next(std::vector<uint8_t>* values) {
  values->resize(levels_.size());
  if (started_) {
    const auto& steps = Steps();
    uint64_t bits = 0;
    for (size_t i = 0; i < levels_.size(); ++i) {
      bits = i % kStepsPerDraw == 0 ? random_.Next() : bits >> kStepBits;
      levels_[i] = std::clamp(levels_[i] + steps[bits & (steps.size() - 1)], 0, kLevelMax);
    }
  }
  started_ = true;
  for (size_t i = 0; i < levels_.size(); ++i) (*values)[i] = static_cast<uint8_t>(levels_[i] / kUnit);
}

uint64_t CellSum::Hash(std::string_view bytes) {
  uint64_t hash = bytes.size();
  while (bytes.size() >= 8) {
    uint64_t word;
    std::memcpy(&word, bytes.data(), 8);
    hash = Mix(hash, word);
    bytes.remove_prefix(8);
  }
  uint64_t rest = 0;
  std::memcpy(&rest, bytes.data(), bytes.size());
  return Mix(hash, rest);
}

}  // namespace sonde::bench
