#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "base/lanes.h"
#include "sql/aggregate/aggregator_states.h"
#include "sql/aggregate/double_sum.h"
#include "sql/function/aggregates.h"

namespace sonde::sql {
namespace {

struct CountState {
  int64_t count = 0;

  absl::Status Merge(const CountState& other) {
    count += other.count;
    return absl::OkStatus();
  }
  static constexpr size_t HeldBytes() { return 0; }
  void Save(std::string* bytes) const { SaveNumber(count, bytes); }
  bool Load(std::string_view* bytes) { return LoadCount(bytes, &count); }
};

class CountBase : public StatesOf<CountState> {
 public:
  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    return ColumnOfResults<int64_t>(
        count, arena, [this, first](size_t i) { return std::optional(states_[first + i].count); });
  }
};

class CountAggregator : public CountBase {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    const uint8_t* const there = arguments.empty() ? nullptr : arguments[0].there();
    if (there == nullptr) {
      for (const uint32_t group : groups) ++states_[group].count;
    } else if (!arguments[0].is_constant()) {
      for (size_t row = 0; row < groups.size(); ++row) states_[groups[row]].count += there[row] != 0 ? 1 : 0;
    } else if (there[0] != 0) {
      for (const uint32_t group : groups) ++states_[group].count;
    }
    return absl::OkStatus();
  }

  absl::Status AddRun(absl::Span<const ColumnView> arguments, size_t rows, uint32_t group) override {
    const size_t count = arguments.empty() ? rows : CountThere(arguments[0], rows);
    states_[group].count += static_cast<int64_t>(count);
    return absl::OkStatus();
  }
};

class CountIfAggregator : public CountBase {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    ForEachThere<int64_t>(arguments[0], groups.size(), [&](size_t row, int64_t value) {
      states_[groups[row]].count += value != 0 ? 1 : 0;
    });
    return absl::OkStatus();
  }

  absl::Status AddRun(absl::Span<const ColumnView> arguments, size_t rows, uint32_t group) override {
    int64_t count = 0;
    ForEachThere<int64_t>(arguments[0], rows, [&](size_t, int64_t value) { count += value != 0 ? 1 : 0; });
    states_[group].count += count;
    return absl::OkStatus();
  }
};

// Sums of integers do not overflow in between: 2^63 values of 64 bits are of 127 bits.
struct IntSumState {
  absl::int128 sum = 0;
  int64_t count = 0;

  void Add(int64_t value) {
    sum += value;
    ++count;
  }
  void AddAll(const int64_t* values, size_t size);

  absl::Status Merge(const IntSumState& other) {
    sum += other.sum;
    count += other.count;
    return absl::OkStatus();
  }
  static constexpr size_t HeldBytes() { return 0; }
  void Save(std::string* bytes) const {
    SaveNumber(count, bytes);
    SaveNumber(absl::Int128Low64(sum), bytes);
    SaveNumber(absl::Int128High64(sum), bytes);
  }
  bool Load(std::string_view* bytes) {
    uint64_t low = 0;
    int64_t high = 0;
    if (!LoadCount(bytes, &count) || !LoadNumber(bytes, &low) || !LoadNumber(bytes, &high)) return false;
    sum = absl::MakeInt128(high, low);
    // No sum of so many values is further from 0.
    const absl::int128 bound = absl::int128(count) << 63;
    return sum >= -bound && sum <= bound;
  }

  absl::StatusOr<std::optional<int64_t>> Total() const {
    if (count == 0) return std::nullopt;
    if (sum < std::numeric_limits<int64_t>::min() || sum > std::numeric_limits<int64_t>::max()) {
      return absl::OutOfRangeError("int64 overflow");
    }
    return static_cast<int64_t>(sum);
  }
  absl::StatusOr<std::optional<double>> Mean() const;
};

// The halves of the values, moved by 2^63 so that they have no sign, are summed apart: these sums do not overflow.
void IntSumState::AddAll(const int64_t* values, size_t size) {
  constexpr size_t kLanes = 4;
  constexpr size_t kBlock = size_t{1} << 30;
  constexpr uint64_t kSign = uint64_t{1} << 63;
  constexpr uint64_t kLowHalf = 0xffffffff;
  size_t at = 0;
  while (size - at >= kLanes) {
    const size_t end = at + std::min(kBlock, size - at) / kLanes * kLanes;
    UintPair low[2] = {};
    UintPair high[2] = {};
    const size_t first = at;
    for (; at < end; at += kLanes) {
      for (size_t p = 0; p < 2; ++p) {
        UintPair value;
        std::memcpy(&value, values + at + 2 * p, sizeof(value));
        value ^= kSign;
        low[p] += value & kLowHalf;
        high[p] += value >> 32;
      }
    }
    const UintPair lows = low[0] + low[1];
    const UintPair highs = high[0] + high[1];
    sum += absl::int128(lows[0] + lows[1]) + (absl::int128(highs[0] + highs[1]) << 32) -
           (absl::int128(end - first) << 63);
  }
  for (; at < size; ++at) sum += values[at];
  count += static_cast<int64_t>(size);
}

// The double that is nearest to the quotient.
absl::StatusOr<std::optional<double>> IntSumState::Mean() const {
  constexpr int64_t kExact = int64_t{1} << 53;
  if (count == 0) return std::nullopt;
  if (sum >= -kExact && sum <= kExact && count <= kExact) {
    return static_cast<double>(static_cast<int64_t>(sum)) / static_cast<double>(count);
  }
  const bool negative = sum < 0;
  absl::uint128 size = negative ? -static_cast<absl::uint128>(sum) : static_cast<absl::uint128>(sum);
  // Moved as far up as it goes, the quotient has at least 64 bits.
  const uint64_t top = absl::Uint128High64(size);
  const int zeros = top != 0 ? std::countl_zero(top) : 64 + std::countl_zero(absl::Uint128Low64(size));
  size <<= zeros;
  absl::uint128 quotient = size / static_cast<uint64_t>(count);
  bool has_more = quotient * static_cast<uint64_t>(count) != size;
  int exponent = -zeros;
  while (absl::Uint128High64(quotient) != 0) {
    const int bits = 64 - std::countl_zero(absl::Uint128High64(quotient));
    has_more |= (quotient & ((absl::uint128(1) << bits) - 1)) != 0;
    quotient >>= bits;
    exponent += bits;
  }
  const double mean =
      std::ldexp(static_cast<double>(absl::Uint128Low64(quotient) | (has_more ? 1 : 0)), exponent);
  return negative ? -mean : mean;
}

struct DoubleSumState {
  DoubleSum sum;
  int64_t count = 0;

  void Add(double value) {
    sum.Add(value);
    ++count;
  }
  void AddAll(const double* values, size_t size) {
    sum.AddAll(values, size);
    count += static_cast<int64_t>(size);
  }
  absl::Status Merge(const DoubleSumState& other) {
    sum.Add(other.sum);
    count += other.count;
    return absl::OkStatus();
  }
  size_t HeldBytes() const { return sum.HeldBytes(); }
  void Save(std::string* bytes) const {
    SaveNumber(count, bytes);
    sum.Save(bytes);
  }
  bool Load(std::string_view* bytes) { return LoadCount(bytes, &count) && sum.Load(bytes); }

  absl::StatusOr<std::optional<double>> Total() const {
    if (count == 0) return std::nullopt;
    const absl::StatusOr<double> total = sum.Total();
    if (!total.ok()) return total.status();
    return *total;
  }
  absl::StatusOr<std::optional<double>> Mean() const {
    if (count == 0) return std::nullopt;
    return sum.Mean(static_cast<uint64_t>(count));
  }
};

// SUM and AVG of T, by a state that adds values of T.
template <typename T, typename State, bool kIsMean>
class SumOrMean : public StatesOf<State> {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    // Sums that hold more than themselves are few, and counted once a batch.
    ForEachThere<T>(arguments[0], groups.size(), [&](size_t row, T value) {
      State& state = this->states_[groups[row]];
      const size_t before = state.HeldBytes();
      state.Add(value);
      this->held_bytes_ += state.HeldBytes() - before;
    });
    return absl::OkStatus();
  }

  absl::Status AddRun(absl::Span<const ColumnView> arguments, size_t rows, uint32_t group) override {
    State& state = this->states_[group];
    const size_t before = state.HeldBytes();
    ForPieces<T>(arguments[0], rows, [&](const T* values, size_t count) { state.AddAll(values, count); });
    this->held_bytes_ += state.HeldBytes() - before;
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    using Result = std::conditional_t<kIsMean, double, T>;
    absl::Status failed;
    const ColumnView column = ColumnOfResults<Result>(count, arena, [&](size_t i) {
      const State& state = this->states_[first + i];
      absl::StatusOr<std::optional<Result>> result;
      if constexpr (kIsMean) {
        result = state.Mean();
      } else {
        result = state.Total();
      }
      if (!result.ok() && failed.ok()) failed = result.status();
      return result.ok() ? *result : std::nullopt;
    });
    if (!failed.ok()) return failed;
    return column;
  }
};

template <bool kIsMean>
std::unique_ptr<Aggregator> MakeSumOrMean(const AggregateSite& site) {
  if (site.argument_types[0].Is(TypeKind::kInt64)) {
    return std::make_unique<SumOrMean<int64_t, IntSumState, kIsMean>>();
  }
  return std::make_unique<SumOrMean<double, DoubleSumState, kIsMean>>();
}

}  // namespace

std::unique_ptr<Aggregator> MakeCount(const AggregateSite& /*site*/) {
  return std::make_unique<CountAggregator>();
}
std::unique_ptr<Aggregator> MakeCountIf(const AggregateSite& /*site*/) {
  return std::make_unique<CountIfAggregator>();
}
std::unique_ptr<Aggregator> MakeSum(const AggregateSite& site) { return MakeSumOrMean<false>(site); }
std::unique_ptr<Aggregator> MakeAvg(const AggregateSite& site) { return MakeSumOrMean<true>(site); }

}  // namespace sonde::sql
