// MIN and MAX: of numbers, which are held as they are, and of strings.
//
// A NaN among doubles is the result.  Of 0.0 and -0.0 the first is.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/lanes.h"
#include "sql/aggregate/aggregator_states.h"
#include "sql/function/aggregates.h"

namespace sonde::sql {
namespace {

template <bool kIsMax, typename T>
bool IsMoreExtreme(const T& value, const T& than) {
  return kIsMax ? than < value : value < than;
}

template <bool kIsMax>
struct ExtremeInt {
  int64_t value = kIsMax ? std::numeric_limits<int64_t>::min() : std::numeric_limits<int64_t>::max();
  bool is_there = false;

  void Add(int64_t next) {
    value = IsMoreExtreme<kIsMax>(next, value) ? next : value;
    is_there = true;
  }
  // Several lanes, so that no comparison waits for the one before.
  void AddAll(const int64_t* values, size_t size) {
    constexpr size_t kLanes = 4;
    int64_t lanes[kLanes] = {value, value, value, value};
    size_t at = 0;
    for (; at + kLanes <= size; at += kLanes) {
      for (size_t l = 0; l < kLanes; ++l) {
        lanes[l] = IsMoreExtreme<kIsMax>(values[at + l], lanes[l]) ? values[at + l] : lanes[l];
      }
    }
    for (const int64_t lane : lanes) value = IsMoreExtreme<kIsMax>(lane, value) ? lane : value;
    for (; at < size; ++at) value = IsMoreExtreme<kIsMax>(values[at], value) ? values[at] : value;
    is_there |= size > 0;
  }
};

template <bool kIsMax>
struct ExtremeDouble {
  static constexpr double kWorst =
      kIsMax ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
  double value = kWorst;
  bool is_there = false;

  void Add(double next) {
    // NaN is no better than anything, and nothing is better than NaN.
    if (!is_there || IsMoreExtreme<kIsMax>(next, value) || std::isnan(next)) value = next;
    is_there = true;
  }
  void AddAll(const double* values, size_t size) {
    constexpr size_t kPairs = 4;
    constexpr size_t kLanes = 2 * kPairs;
    if (size == 0) return;
    DoublePair best[kPairs];
    for (DoublePair& pair : best) pair = DoublePair{kWorst, kWorst};
    MaskPair has_nan = {};
    size_t at = 0;
    for (; at + kLanes <= size; at += kLanes) {
      for (size_t p = 0; p < kPairs; ++p) {
        DoublePair next;
        std::memcpy(&next, values + at + 2 * p, sizeof(next));
        best[p] = (kIsMax ? best[p] < next : next < best[p]) ? next : best[p];
        has_nan |= next != next;
      }
    }
    if ((has_nan[0] | has_nan[1]) != 0) return Add(std::numeric_limits<double>::quiet_NaN());
    if (at > 0) {
      double of_lanes = kWorst;
      for (const DoublePair& pair : best) {
        for (int l = 0; l < 2; ++l) of_lanes = IsMoreExtreme<kIsMax>(pair[l], of_lanes) ? pair[l] : of_lanes;
      }
      // Lanes do not know which of 0.0 and -0.0 came first.
      if (of_lanes == 0) of_lanes = *std::find(values, values + at, 0.0);
      Add(of_lanes);
    }
    for (; at < size; ++at) Add(values[at]);
  }
};

// What both have.
template <typename Extreme>
struct ExtremeState : Extreme {
  absl::Status Merge(const ExtremeState& other) {
    if (other.is_there) this->Add(other.value);
    return absl::OkStatus();
  }
  static constexpr size_t HeldBytes() { return 0; }
  void Save(std::string* bytes) const {
    if (this->is_there) SaveNumber(this->value, bytes);
  }
  bool Load(std::string_view* bytes) {
    if (bytes->empty()) return true;
    this->is_there = true;
    return LoadNumber(bytes, &this->value);
  }
};

template <typename T, typename State>
class NumberExtreme : public StatesOf<State> {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    ForEachThere<T>(arguments[0], groups.size(),
                    [&](size_t row, T value) { this->states_[groups[row]].Add(value); });
    return absl::OkStatus();
  }

  absl::Status AddRun(absl::Span<const ColumnView> arguments, size_t rows, uint32_t group) override {
    ForPieces<T>(arguments[0], rows,
                 [&](const T* values, size_t count) { this->states_[group].AddAll(values, count); });
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    return ColumnOfResults<T>(count, arena, [&](size_t i) {
      const State& state = this->states_[first + i];
      return state.is_there ? std::optional<T>(state.value) : std::nullopt;
    });
  }
};

template <bool kIsMax>
struct ExtremeText {
  std::string value;
  bool is_there = false;

  void Add(std::string_view next) {
    if (is_there && !IsMoreExtreme<kIsMax>(next, std::string_view(value))) return;
    value = next;
    is_there = true;
  }
  absl::Status Merge(const ExtremeText& other) {
    if (other.is_there) Add(other.value);
    return absl::OkStatus();
  }
  size_t HeldBytes() const { return value.capacity() < sizeof(value) ? 0 : value.capacity() + 1; }
  void Save(std::string* bytes) const {
    bytes->push_back(is_there ? 1 : 0);
    bytes->append(value);
  }
  bool Load(std::string_view* bytes) {
    if (bytes->empty() || static_cast<unsigned char>(bytes->front()) > 1) return false;
    is_there = bytes->front() == 1;
    value = bytes->substr(1);
    *bytes = {};
    return is_there || value.empty();
  }
};

template <bool kIsMax>
class TextExtreme : public StatesOf<ExtremeText<kIsMax>> {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    ForEachThere<std::string_view>(arguments[0], groups.size(), [&](size_t row, std::string_view value) {
      ExtremeText<kIsMax>& state = this->states_[groups[row]];
      const size_t before = state.HeldBytes();
      state.Add(value);
      this->held_bytes_ += state.HeldBytes() - before;
    });
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    return ColumnOfResults<std::string_view>(count, arena, [&](size_t i) {
      const ExtremeText<kIsMax>& state = this->states_[first + i];
      return state.is_there ? std::optional(arena->Copy(state.value)) : std::nullopt;
    });
  }
};

template <bool kIsMax>
std::unique_ptr<Aggregator> MakeExtreme(const AggregateSite& site) {
  switch (ColumnTypeOf(site.argument_types[0])) {
    case ColumnType::kBytes:
      return std::make_unique<TextExtreme<kIsMax>>();
    case ColumnType::kDouble:
      return std::make_unique<NumberExtreme<double, ExtremeState<ExtremeDouble<kIsMax>>>>();
    default:
      return std::make_unique<NumberExtreme<int64_t, ExtremeState<ExtremeInt<kIsMax>>>>();
  }
}

}  // namespace

std::unique_ptr<Aggregator> MakeMin(const AggregateSite& site) { return MakeExtreme<false>(site); }
std::unique_ptr<Aggregator> MakeMax(const AggregateSite& site) { return MakeExtreme<true>(site); }

}  // namespace sonde::sql
