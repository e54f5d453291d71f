// APPROX_QUANTILES, APPROX_TOP_COUNT and APPROX_TOP_SUM.  How many results are asked for is an argument that is the
// same for all rows; each state knows it, for the results of states that were loaded.
#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "absl/status/status.h"
#include "base/varint.h"
#include "sql/aggregate/aggregator_states.h"
#include "sql/aggregate/datum_bytes.h"
#include "sql/aggregate/quantile_sketch.h"
#include "sql/aggregate/sketch_aggregates.h"
#include "sql/aggregate/top_values.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

constexpr uint64_t kResultsMax = 1'000'000;

// The number of results that a call asks for: argument `index` of the function.
absl::StatusOr<uint64_t> ResultsAskedFor(std::string_view function, size_t index,
                                         absl::Span<const ColumnView> arguments) {
  const Datum number = DatumAt(arguments[index], 0);
  if (!number.is_there) {
    return absl::InvalidArgumentError(fmt::format("Argument {} to {} must be non-NULL", index + 1, function));
  }
  if (number.integer < 1) {
    return absl::InvalidArgumentError(
        fmt::format("Argument {} to {} must be at least 1", index + 1, function));
  }
  if (number.integer > static_cast<int64_t>(kResultsMax)) {
    return absl::InvalidArgumentError(fmt::format("Argument {} to {} is {}; the limit is {}", index + 1,
                                                  function, number.integer, kResultsMax));
  }
  return static_cast<uint64_t>(number.integer);
}

// --- APPROX_QUANTILES

struct QuantilesState {
  QuantileSketch sketch;
  uint64_t results = 0;

  size_t HeldBytes() const { return sketch.HeldBytes(); }
};

class QuantilesAggregator : public Aggregator {
 public:
  explicit QuantilesAggregator(Type type) : type_(std::move(type)) {}

  void Resize(size_t groups) override { states_.resize(groups); }

  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    if (groups.empty()) return absl::OkStatus();
    const absl::StatusOr<uint64_t> results = ResultsAskedFor("APPROX_QUANTILES", 1, arguments);
    if (!results.ok()) return results.status();
    for (size_t row = 0; row < groups.size(); ++row) {
      const Datum datum = DatumAt(arguments[0], row);
      if (!datum.is_there) continue;
      QuantilesState& state = states_[groups[row]];
      const size_t before = state.HeldBytes();
      state.results = *results;
      state.sketch.Add(type_, datum);
      held_bytes_ += state.HeldBytes() - before;
    }
    return absl::OkStatus();
  }

  absl::Status Merge(uint32_t group, const Aggregator& other, uint32_t other_group) override {
    MergeState(group, static_cast<const QuantilesAggregator&>(other).states_[other_group]);
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    return ColumnOfResults<Datum>(count, arena, [&](size_t i) -> std::optional<Datum> {
      const QuantilesState& state = states_[first + i];
      if (state.sketch.count() == 0) return std::nullopt;
      const std::vector<Datum> quantiles = state.sketch.Quantiles(type_, state.results, arena);
      auto* const items = arena->New<Datum>(quantiles.size());
      std::copy(quantiles.begin(), quantiles.end(), items);
      return Datum::List({items, quantiles.size()});
    });
  }

  void Clear(uint32_t group) override {
    held_bytes_ -= states_[group].HeldBytes();
    states_[group] = {};
  }
  size_t MemoryBytes() const override { return states_.capacity() * sizeof(QuantilesState) + held_bytes_; }

  void Save(uint32_t group, std::string* bytes) const override {
    PutVarint(bytes, states_[group].results);
    states_[group].sketch.Save(type_, bytes);
  }
  absl::Status Load(uint32_t group, std::string_view bytes) override {
    QuantilesState loaded;
    const bool is_right = GetVarint(&bytes, &loaded.results) && loaded.results <= kResultsMax &&
                          loaded.sketch.Load(type_, &bytes) && bytes.empty() &&
                          (loaded.results > 0 || loaded.sketch.count() == 0);
    if (!is_right) return absl::DataLossError("the state of an aggregate is damaged");
    MergeState(group, loaded);
    return absl::OkStatus();
  }

 private:
  void MergeState(uint32_t group, const QuantilesState& other) {
    QuantilesState& state = states_[group];
    const size_t before = state.HeldBytes();
    if (state.results == 0) state.results = other.results;
    state.sketch.Merge(type_, other.sketch);
    held_bytes_ += state.HeldBytes() - before;
  }

  const Type type_;
  std::vector<QuantilesState> states_;
  size_t held_bytes_ = 0;
};

// --- APPROX_TOP_COUNT, APPROX_TOP_SUM

void SaveWeight(const absl::int128& weight, std::string* bytes) {
  SaveNumber(absl::Int128Low64(weight), bytes);
  SaveNumber(absl::Int128High64(weight), bytes);
}
void SaveWeight(double weight, std::string* bytes) { SaveNumber(weight, bytes); }
bool LoadWeight(std::string_view* bytes, absl::int128* weight) {
  uint64_t low = 0;
  int64_t high = 0;
  if (!LoadNumber(bytes, &low) || !LoadNumber(bytes, &high)) return false;
  *weight = absl::MakeInt128(high, low);
  // So many times the greatest weight never come together.
  return high >= 0 && high < int64_t{1} << 40;
}
bool LoadWeight(std::string_view* bytes, double* weight) { return LoadNumber(bytes, weight) && *weight >= 0; }

template <typename Weight>
struct TopState {
  TopValues<Weight> values;
  uint64_t results = 0;

  absl::Status Merge(const TopState& other) {
    if (results == 0) results = other.results;
    values.Merge(other.values);
    return absl::OkStatus();
  }
  size_t HeldBytes() const { return values.HeldBytes(); }
  void Save(std::string* bytes) const {
    PutVarint(bytes, results);
    values.ForEach([bytes](const std::string& value, const std::optional<Weight>& weight) {
      PutBytes(bytes, value);
      bytes->push_back(weight.has_value() ? 1 : 0);
      if (weight.has_value()) SaveWeight(*weight, bytes);
    });
  }
  // Whether the values are values, TopAggregator::Load asks.
  bool Load(std::string_view* bytes) {
    if (!GetVarint(bytes, &results) || results > kResultsMax) return false;
    while (!bytes->empty()) {
      std::string_view value;
      if (!GetBytes(bytes, &value) || bytes->empty()) return false;
      const char has_weight = bytes->front();
      bytes->remove_prefix(1);
      std::optional<Weight> weight;
      if (has_weight != 0 && (has_weight != 1 || !LoadWeight(bytes, &weight.emplace()))) return false;
      values.AddBytes(std::string(value), weight);
    }
    return results > 0 || values.is_empty();
  }
};

// Counts values, or sums their weights.
template <typename Weight, bool kIsCount>
class TopAggregator : public StatesOf<TopState<Weight>> {
 public:
  explicit TopAggregator(Type type) : type_(std::move(type)) {}

  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    if (groups.empty()) return absl::OkStatus();
    const absl::StatusOr<uint64_t> results =
        ResultsAskedFor(kIsCount ? "APPROX_TOP_COUNT" : "APPROX_TOP_SUM", kIsCount ? 1 : 2, arguments);
    if (!results.ok()) return results.status();
    for (size_t row = 0; row < groups.size(); ++row) {
      const absl::StatusOr<std::optional<Weight>> weight = WeightOf(arguments, row);
      if (!weight.ok()) return weight.status();
      TopState<Weight>& state = this->states_[groups[row]];
      const size_t before = state.HeldBytes();
      state.results = *results;
      state.values.Add(type_, DatumAt(arguments[0], row), *weight);
      this->held_bytes_ += state.HeldBytes() - before;
    }
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    absl::Status failed;
    const ColumnView column = ColumnOfResults<Datum>(count, arena, [&](size_t i) -> std::optional<Datum> {
      const TopState<Weight>& state = this->states_[first + i];
      if (state.values.is_empty()) return std::nullopt;
      const auto entries = state.values.Top(type_, state.results, arena);
      auto* const structs = arena->New<Datum>(entries.size());
      for (size_t e = 0; e < entries.size(); ++e) {
        auto* const fields = arena->New<Datum>(2);
        fields[0] = entries[e].value;
        const absl::StatusOr<Datum> weight = ResultOf(entries[e].weight);
        if (!weight.ok()) failed = weight.status();
        fields[1] = weight.ok() ? *weight : Datum::Missing();
        structs[e] = Datum::List({fields, 2});
      }
      return Datum::List({structs, entries.size()});
    });
    if (!failed.ok()) return failed;
    return column;
  }

  absl::Status Load(uint32_t group, std::string_view bytes) override {
    TopState<Weight> state;
    bool is_right = state.Load(&bytes);
    state.values.ForEach([&](std::string_view value, const std::optional<Weight>& /*weight*/) {
      Arena arena;
      Datum datum;
      is_right = is_right && TakeDatumBytes(type_, &value, &arena, &datum) && value.empty();
    });
    if (!is_right) return absl::DataLossError("the state of an aggregate is damaged");
    return this->MergeState(&this->states_[group], state);
  }

 private:
  static absl::StatusOr<std::optional<Weight>> WeightOf(absl::Span<const ColumnView> arguments, size_t row) {
    if constexpr (kIsCount) return Weight(1);
    const Datum datum = DatumAt(arguments[1], row);
    if (!datum.is_there) return std::nullopt;
    Weight weight;
    if constexpr (std::is_same_v<Weight, double>) {
      weight = datum.number;
    } else {
      weight = datum.integer;
    }
    if (!(weight >= 0)) {
      return absl::OutOfRangeError("Argument 2 to APPROX_TOP_SUM must be neither negative nor NaN");
    }
    return weight;
  }

  static absl::StatusOr<Datum> ResultOf(const std::optional<Weight>& weight) {
    if (!weight.has_value()) return Datum::Missing();
    if constexpr (std::is_same_v<Weight, double>) {
      return Datum::Double(*weight);
    } else {
      if (*weight > std::numeric_limits<int64_t>::max()) return absl::OutOfRangeError("int64 overflow");
      return Datum::Int(static_cast<int64_t>(*weight));
    }
  }

  const Type type_;
};

}  // namespace

std::unique_ptr<Aggregator> MakeApproxQuantiles(const AggregateSite& site) {
  return std::make_unique<QuantilesAggregator>(site.argument_types[0]);
}
std::unique_ptr<Aggregator> MakeApproxTopCount(const AggregateSite& site) {
  return std::make_unique<TopAggregator<absl::int128, true>>(site.argument_types[0]);
}
std::unique_ptr<Aggregator> MakeApproxTopSum(const AggregateSite& site) {
  if (site.argument_types[1].IsFloat()) {
    return std::make_unique<TopAggregator<double, false>>(site.argument_types[0]);
  }
  return std::make_unique<TopAggregator<absl::int128, false>>(site.argument_types[0]);
}

}  // namespace sonde::sql
