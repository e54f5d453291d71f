// Random numbers, behind an interface that a test can seed.
//
// Threads: a source is not for several threads.
#pragma once

#include <cstdint>
#include <random>

#include "base/check.h"

namespace sonde {

class RandomSource {
 public:
  virtual ~RandomSource() = default;
  // 64 bits, each equally likely.
  virtual uint64_t Next() = 0;
  // A number in [0, bound); bound must not be 0.  The bias is below 2^-32 for the bounds that Sonde uses.
  uint64_t Uniform(uint64_t bound) {
    DCHECK(bound != 0);
    return static_cast<uint64_t>((static_cast<unsigned __int128>(Next()) * bound) >> 64);
  }
  // A number in [0, 1).
  double UniformReal() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }
};

// The same seed gives the same numbers, on every machine (SplitMix64: Steele, Lea, Flood, 2014).
class SeededRandom final : public RandomSource {
 public:
  explicit SeededRandom(uint64_t seed) : state_(seed) {}
  uint64_t Next() override {
    uint64_t z = (state_ += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
  }

 private:
  uint64_t state_;
};

// Seeded from the operating system.
class SystemRandom final : public RandomSource {
 public:
  SystemRandom() : generator_(Seed()) {}
  uint64_t Next() override { return generator_.Next(); }

 private:
  static uint64_t Seed() {
    std::random_device device;
    return (static_cast<uint64_t>(device()) << 32) | device();
  }
  SeededRandom generator_;
};

}  // namespace sonde
