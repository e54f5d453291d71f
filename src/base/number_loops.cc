#include "base/number_loops.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/lanes.h"

namespace sonde {
namespace {

#define SONDE_INLINE [[gnu::always_inline]] inline

constexpr size_t kFour = 4;
constexpr size_t kEight = 8;  // numbers a turn: two registers, so that one does not wait for itself

template <typename Four, typename Number>
SONDE_INLINE void LoadFour(const Number* from, Four* to) {
  std::memcpy(to, from, sizeof(*to));
}

SONDE_INLINE SumWithLoss SumDoublesInLanes(const double* values, size_t count) {
  FourDoubles sums[2] = {};
  FourDoubles losses[2] = {};
  size_t i = 0;
  for (; i + kEight <= count; i += kEight) {
    for (size_t half = 0; half < 2; ++half) {
      FourDoubles value;
      LoadFour(values + i + half * kFour, &value);
      // As SumWithLoss::Add.
      const FourDoubles before = sums[half];
      const FourDoubles sum = before + value;
      const FourDoubles added = sum - before;
      losses[half] += (before - (sum - added)) + (value - added);
      sums[half] = sum;
    }
  }
  SumWithLoss all;
  for (size_t half = 0; half < 2 && i > 0; ++half) {
    for (size_t lane = 0; lane < kFour; ++lane) all += SumWithLoss{sums[half][lane], losses[half][lane]};
  }
  for (; i < count; ++i) all.Add(values[i]);
  return all;
}

// The halves of the words apart: of fewer than 2^31 values, neither sum leaves 64 bits.  Negative ones are moved by 2^63.
constexpr size_t kIntsAtOnce = size_t{1} << 30;

SONDE_INLINE absl::int128 SumIntsInLanes(const int64_t* values, size_t count) {
  constexpr uint64_t kMove = uint64_t{1} << 63;
  FourUints low[2] = {};
  FourUints high[2] = {};
  size_t i = 0;
  for (; i + kEight <= count; i += kEight) {
    for (size_t half = 0; half < 2; ++half) {
      FourUints value;
      LoadFour(values + i + half * kFour, &value);
      low[half] += value & UINT32_MAX;
      high[half] += (value ^ kMove) >> 32;
    }
  }
  uint64_t lows = 0;
  uint64_t highs = 0;
  for (size_t lane = 0; lane < kFour; ++lane) {
    lows += low[0][lane] + low[1][lane];
    highs += high[0][lane] + high[1][lane];
  }
  absl::int128 sum = (absl::int128(highs) << 32) + absl::int128(lows) - (absl::int128(i) << 63);
  for (; i < count; ++i) sum += values[i];
  return sum;
}

// The lanes of LeastAndMostInLanes as registers, and one by one: registers of two compare no integers.
template <typename Number, typename Four>
struct LanesByFour {
  Four least[2], most[2];
  FourInts unlike = {};  // itself: NaN

  SONDE_INLINE explicit LanesByFour(const Number* values) {
    for (size_t half = 0; half < 2; ++half) {
      LoadFour(values + half * kFour, &least[half]);
      most[half] = least[half];
    }
  }
  SONDE_INLINE void Take(const Number* values) {
    for (size_t half = 0; half < 2; ++half) {
      Four value;
      LoadFour(values + half * kFour, &value);
      least[half] = value < least[half] ? value : least[half];
      most[half] = most[half] < value ? value : most[half];
      unlike |= value != value;
    }
  }
  SONDE_INLINE LeastAndMost<Number> Lane(size_t lane) const {
    return {least[lane / kFour][lane % kFour], most[lane / kFour][lane % kFour]};
  }
  SONDE_INLINE bool AreNumbers() const { return (unlike[0] | unlike[1] | unlike[2] | unlike[3]) == 0; }
};

template <typename Number>
struct LanesByOne {
  Number least[kEight], most[kEight];
  bool are_numbers = true;

  SONDE_INLINE explicit LanesByOne(const Number* values) {
    std::copy_n(values, kEight, least);
    std::copy_n(values, kEight, most);
  }
  SONDE_INLINE void Take(const Number* values) {
    for (size_t lane = 0; lane < kEight; ++lane) {
      least[lane] = std::min(least[lane], values[lane]);
      most[lane] = std::max(most[lane], values[lane]);
      are_numbers &= values[lane] == values[lane];
    }
  }
  SONDE_INLINE LeastAndMost<Number> Lane(size_t lane) const { return {least[lane], most[lane]}; }
  SONDE_INLINE bool AreNumbers() const { return are_numbers; }
};

// False: one of them is NaN.
template <typename Lanes, typename Number>
SONDE_INLINE bool LeastAndMostInLanes(const Number* values, size_t count, LeastAndMost<Number>* found) {
  *found = {values[0], values[0]};
  const auto take = [found](Number least, Number most) {
    found->least = std::min(found->least, least);
    found->most = std::max(found->most, most);
  };
  bool are_numbers = true;
  size_t i = 0;
  if (count >= kEight) {
    Lanes lanes(values);
    for (; i + kEight <= count; i += kEight) lanes.Take(values + i);
    for (size_t lane = 0; lane < kEight; ++lane) take(lanes.Lane(lane).least, lanes.Lane(lane).most);
    are_numbers = lanes.AreNumbers();
  }
  for (; i < count; ++i) {
    take(values[i], values[i]);
    are_numbers &= values[i] == values[i];
  }
  return are_numbers;
}

// Below 2^51, an integer that is added to the bits of kOne makes them the double that is greater by as much.
constexpr uint64_t kOneBits = 0x4338000000000000;
constexpr double kOne = 0x1.8p52;
constexpr int kNearBits = 51;

SONDE_INLINE bool NearToDoublesInLanes(const int64_t* values, size_t count, double* out) {
  FourUints seen = {};
  size_t i = 0;
  for (; i + kFour <= count; i += kFour) {
    FourUints value;
    LoadFour(values + i, &value);
    seen |= value + (uint64_t{1} << kNearBits);  // what is not near sets a bit above
    const FourUints bits = value + kOneBits;
    FourDoubles number;
    std::memcpy(&number, &bits, sizeof(number));
    number -= kOne;
    std::memcpy(out + i, &number, sizeof(number));
  }
  uint64_t all = seen[0] | seen[1] | seen[2] | seen[3];
  for (; i < count; ++i) {
    all |= static_cast<uint64_t>(values[i]) + (uint64_t{1} << kNearBits);
    out[i] = static_cast<double>(values[i]);
  }
  return all >> (kNearBits + 1) == 0;
}

SONDE_INLINE bool AreNearZeroInLanes(const int64_t* values, size_t count) {
  FourUints seen = {};
  size_t i = 0;
  for (; i + kFour <= count; i += kFour) {
    FourUints value;
    LoadFour(values + i, &value);
    seen |= value + (uint64_t{1} << kNearBits);
  }
  uint64_t all = seen[0] | seen[1] | seen[2] | seen[3];
  for (; i < count; ++i) all |= static_cast<uint64_t>(values[i]) + (uint64_t{1} << kNearBits);
  return all >> (kNearBits + 1) == 0;
}

SONDE_INLINE bool AreFiniteInLanes(const double* values, size_t count) {
  constexpr uint64_t kExponent = uint64_t{0x7ff} << 52;
  constexpr uint64_t kNext = uint64_t{1} << 52;  // carries an exponent of ones into the sign
  FourUints problems = {};
  size_t i = 0;
  for (; i + kFour <= count; i += kFour) {
    FourUints bits;
    LoadFour(values + i, &bits);
    problems |= (bits & kExponent) + kNext;
  }
  uint64_t all = problems[0] | problems[1] | problems[2] | problems[3];
  for (; i < count; ++i) all |= (std::bit_cast<uint64_t>(values[i]) & kExponent) + kNext;
  return all >> 63 == 0;
}

SONDE_INLINE void DivideInLanes(double* values, size_t count, double divisor) {
  size_t i = 0;
  for (; i + kFour <= count; i += kFour) {
    FourDoubles value;
    LoadFour(values + i, &value);
    value /= divisor;
    std::memcpy(values + i, &value, sizeof(value));
  }
  for (; i < count; ++i) values[i] /= divisor;
}

SONDE_BY_AVX2 SumWithLoss SumDoublesByAvx2(const double* values, size_t count) {
  return SumDoublesInLanes(values, count);
}
SONDE_BY_AVX2 absl::int128 SumIntsByAvx2(const int64_t* values, size_t count) {
  return SumIntsInLanes(values, count);
}
SONDE_BY_AVX2 bool LeastAndMostByAvx2(const double* values, size_t count, LeastAndMost<double>* found) {
  return LeastAndMostInLanes<LanesByFour<double, FourDoubles>>(values, count, found);
}
SONDE_BY_AVX2 bool LeastAndMostByAvx2(const int64_t* values, size_t count, LeastAndMost<int64_t>* found) {
  return LeastAndMostInLanes<LanesByFour<int64_t, FourInts>>(values, count, found);
}
SONDE_BY_AVX2 bool NearToDoublesByAvx2(const int64_t* values, size_t count, double* out) {
  return NearToDoublesInLanes(values, count, out);
}
SONDE_BY_AVX2 bool AreNearZeroByAvx2(const int64_t* values, size_t count) {
  return AreNearZeroInLanes(values, count);
}
SONDE_BY_AVX2 bool AreFiniteByAvx2(const double* values, size_t count) {
  return AreFiniteInLanes(values, count);
}
SONDE_BY_AVX2 void DivideByAvx2(double* values, size_t count, double divisor) {
  DivideInLanes(values, count, divisor);
}

}  // namespace

// Without branches.
void SumWithLoss::Add(double value) {
  const double before = sum;
  sum += value;
  const double added = sum - before;
  loss += (before - (sum - added)) + (value - added);
}

SumWithLoss& SumWithLoss::operator+=(const SumWithLoss& other) {
  Add(other.sum);
  loss += other.loss;
  return *this;
}

// Of a sum that is not finite, the loss is none.
double SumWithLoss::Value() const { return std::isfinite(sum) ? sum + loss : sum; }

SumWithLoss SumOf(absl::Span<const double> values) {
  return HasAvx2() ? SumDoublesByAvx2(values.data(), values.size())
                   : SumDoublesInLanes(values.data(), values.size());
}

absl::int128 SumOf(absl::Span<const int64_t> values) {
  absl::int128 sum = 0;
  while (!values.empty()) {
    const absl::Span<const int64_t> some = values.first(std::min(values.size(), kIntsAtOnce));
    sum += HasAvx2() ? SumIntsByAvx2(some.data(), some.size()) : SumIntsInLanes(some.data(), some.size());
    values.remove_prefix(some.size());
  }
  return sum;
}

LeastAndMost<double> LeastAndMostOf(absl::Span<const double> values) {
  LeastAndMost<double> found;
  const bool are_numbers =
      HasAvx2() ? LeastAndMostByAvx2(values.data(), values.size(), &found)
                : LeastAndMostInLanes<LanesByOne<double>>(values.data(), values.size(), &found);
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return are_numbers ? found : LeastAndMost<double>{kNaN, kNaN};
}

LeastAndMost<int64_t> LeastAndMostOf(absl::Span<const int64_t> values) {
  LeastAndMost<int64_t> found;
  if (HasAvx2()) {
    LeastAndMostByAvx2(values.data(), values.size(), &found);
  } else {
    LeastAndMostInLanes<LanesByOne<int64_t>>(values.data(), values.size(), &found);
  }
  return found;
}

bool ToDoubles(absl::Span<const int64_t> values, double* out) {
  // Registers of two take longer than one after the other.
  if (HasAvx2() && NearToDoublesByAvx2(values.data(), values.size(), out)) return true;
  constexpr int64_t kMost = int64_t{1} << 53;
  bool are_exact = true;
  for (size_t i = 0; i < values.size(); ++i) {
    out[i] = static_cast<double>(values[i]);
    are_exact &= values[i] >= -kMost && values[i] <= kMost;
  }
  return are_exact;
}

bool AreNearZero(absl::Span<const int64_t> values) {
  return HasAvx2() ? AreNearZeroByAvx2(values.data(), values.size())
                   : AreNearZeroInLanes(values.data(), values.size());
}

bool AreFinite(absl::Span<const double> values) {
  return HasAvx2() ? AreFiniteByAvx2(values.data(), values.size())
                   : AreFiniteInLanes(values.data(), values.size());
}

void DivideAll(absl::Span<double> values, double divisor) {
  if (HasAvx2()) return DivideByAvx2(values.data(), values.size(), divisor);
  DivideInLanes(values.data(), values.size(), divisor);
}

}  // namespace sonde
