// DELTA, INCREASE, RATE, IRATE and TIME_WEIGHTED_AVG: numbers with their times, which may come in any order.
//
// Shape: a state holds all points of its group, and sorts them once it is asked for the result.  Of points of one time the
//   one with the least number comes first.
// Changes are those of series (rows/change.h): a number below the one before it is one since a reset.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/numeric/int128.h"
#include "sql/aggregate/aggregator_states.h"
#include "sql/aggregate/double_sum.h"
#include "sql/aggregate/point_aggregates.h"

namespace sonde::sql {
namespace {

constexpr double kMicrosOfSecond = 1e6;

template <typename Number>
struct TimedNumber {
  int64_t time_micros = 0;
  Number number = 0;

  bool IsBefore(const TimedNumber& other) const {
    if (time_micros != other.time_micros) return time_micros < other.time_micros;
    if constexpr (std::is_same_v<Number, double>) {
      if (std::isnan(number) || std::isnan(other.number))
        return std::isnan(number) && !std::isnan(other.number);
    }
    return number < other.number;
  }
};

template <typename Number>
using TimedNumbers = std::vector<TimedNumber<Number>>;

template <typename Number>
struct PointsState {
  TimedNumbers<Number> points;

  absl::Status Merge(const PointsState& other) {
    points.insert(points.end(), other.points.begin(), other.points.end());
    return absl::OkStatus();
  }
  size_t HeldBytes() const { return points.capacity() * sizeof(points[0]); }
  void Save(std::string* bytes) const {
    for (const TimedNumber<Number>& point : points) {
      SaveNumber(point.time_micros, bytes);
      SaveNumber(point.number, bytes);
    }
  }
  bool Load(std::string_view* bytes) {
    while (!bytes->empty()) {
      TimedNumber<Number> point;
      if (!LoadNumber(bytes, &point.time_micros) || !LoadNumber(bytes, &point.number)) return false;
      points.push_back(point);
    }
    return true;
  }
};

// now - before, or, of a counter that was reset, now.
absl::int128 DifferenceOf(int64_t now, int64_t before) { return absl::int128(now) - before; }
double DifferenceOf(double now, double before) { return now - before; }

double AsDouble(absl::int128 number) { return static_cast<double>(number); }
double AsDouble(double number) { return number; }

absl::StatusOr<int64_t> AsResult(absl::int128 number) {
  if (number >= std::numeric_limits<int64_t>::min() && number <= std::numeric_limits<int64_t>::max()) {
    return static_cast<int64_t>(number);
  }
  return absl::OutOfRangeError("int64 overflow");
}

absl::StatusOr<int64_t> SumOfIncreases(const TimedNumbers<int64_t>& points, absl::int128* wide) {
  for (size_t i = 1; i < points.size(); ++i) {
    const int64_t now = points[i].number;
    const int64_t before = points[i - 1].number;
    *wide += now < before ? absl::int128(now) : DifferenceOf(now, before);
  }
  return AsResult(*wide);
}

absl::StatusOr<double> SumOfIncreases(const TimedNumbers<double>& points, double* wide) {
  DoubleSum sum;
  for (size_t i = 1; i < points.size(); ++i) {
    const double now = points[i].number;
    const double before = points[i - 1].number;
    sum.Add(now < before ? now : now - before);
  }
  absl::StatusOr<double> total = sum.Total();
  if (total.ok()) *wide = *total;
  return total;
}

template <typename Number>
using WideOf = std::conditional_t<std::is_same_v<Number, int64_t>, absl::int128, double>;

// Each takes points in their order, at least one.
template <typename Number>
absl::StatusOr<std::optional<Number>> IncreaseOf(const TimedNumbers<Number>& points) {
  if (points.size() < 2) return std::nullopt;
  WideOf<Number> wide = 0;
  const absl::StatusOr<Number> increase = SumOfIncreases(points, &wide);
  if (!increase.ok()) return increase.status();
  return *increase;
}

template <typename Number>
absl::StatusOr<std::optional<double>> RateOf(const TimedNumbers<Number>& points) {
  const int64_t micros = points.back().time_micros - points.front().time_micros;
  if (micros == 0) return std::nullopt;
  WideOf<Number> wide = 0;
  const absl::StatusOr<Number> increase = SumOfIncreases(points, &wide);
  // A sum of ints beyond 64 bits is a rate all the same.
  if (!increase.ok() && std::is_same_v<Number, double>) return increase.status();
  return AsDouble(wide) * (kMicrosOfSecond / static_cast<double>(micros));
}

template <typename Number>
absl::StatusOr<std::optional<double>> IrateOf(const TimedNumbers<Number>& points) {
  const TimedNumber<Number>& last = points.back();
  size_t before = points.size() - 1;
  while (before > 0 && points[before].time_micros == last.time_micros) --before;
  const int64_t micros = last.time_micros - points[before].time_micros;
  if (micros == 0) return std::nullopt;
  const bool is_reset = last.number < points[before].number;
  const double change = is_reset ? static_cast<double>(last.number)
                                 : AsDouble(DifferenceOf(last.number, points[before].number));
  return change * (kMicrosOfSecond / static_cast<double>(micros));
}

// Each number holds until the next one comes; the last one has no weight.
absl::StatusOr<std::optional<double>> TimeWeightedAvgOf(const TimedNumbers<double>& points) {
  const int64_t micros = points.back().time_micros - points.front().time_micros;
  if (micros == 0) return points.back().number;
  long double sum = 0;
  for (size_t i = 1; i < points.size(); ++i) {
    const int64_t held = points[i].time_micros - points[i - 1].time_micros;
    if (held > 0) sum += static_cast<long double>(points[i - 1].number) * held;
  }
  return static_cast<double>(sum / micros);
}

template <typename Number, typename Result>
using ResultOfPoints = absl::StatusOr<std::optional<Result>> (*)(const TimedNumbers<Number>& points);

template <typename Number, typename Result, ResultOfPoints<Number, Result> kResult>
class PointsAggregator : public StatesOf<PointsState<Number>> {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    const ColumnView& times = arguments[1];
    ForEachThere<Number>(arguments[0], groups.size(), [&](size_t row, Number number) {
      if (!times.IsThere(row)) return;
      PointsState<Number>& state = this->states_[groups[row]];
      const size_t before = state.HeldBytes();
      state.points.push_back({times.ints()[times.PlaceOf(row)], number});
      this->held_bytes_ += state.HeldBytes() - before;
    });
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    absl::Status failed;
    const ColumnView results = ColumnOfResults<Result>(count, arena, [&](size_t i) -> std::optional<Result> {
      TimedNumbers<Number>& points = this->states_[first + i].points;
      if (points.empty()) return std::nullopt;
      const auto is_before = [](const auto& a, const auto& b) { return a.IsBefore(b); };
      if (!std::is_sorted(points.begin(), points.end(), is_before)) {
        std::sort(points.begin(), points.end(), is_before);
      }
      const absl::StatusOr<std::optional<Result>> result = kResult(points);
      if (result.ok()) return *result;
      if (failed.ok()) failed = result.status();
      return std::nullopt;
    });
    if (!failed.ok()) return failed;
    return results;
  }
};

// The first and the last point.
template <typename Number>
struct EndsState {
  TimedNumber<Number> first;
  TimedNumber<Number> last;
  bool is_there = false;

  void Add(const TimedNumber<Number>& point) {
    if (!is_there || point.IsBefore(first)) first = point;
    if (!is_there || last.IsBefore(point)) last = point;
    is_there = true;
  }
  absl::Status Merge(const EndsState& other) {
    if (!other.is_there) return absl::OkStatus();
    Add(other.first);
    Add(other.last);
    return absl::OkStatus();
  }
  static constexpr size_t HeldBytes() { return 0; }
  void Save(std::string* bytes) const {
    if (!is_there) return;
    for (const TimedNumber<Number>* point : {&first, &last}) {
      SaveNumber(point->time_micros, bytes);
      SaveNumber(point->number, bytes);
    }
  }
  bool Load(std::string_view* bytes) {
    if (bytes->empty()) return true;
    is_there = true;
    return LoadNumber(bytes, &first.time_micros) && LoadNumber(bytes, &first.number) &&
           LoadNumber(bytes, &last.time_micros) && LoadNumber(bytes, &last.number);
  }
};

template <typename Number>
class DeltaAggregator : public StatesOf<EndsState<Number>> {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    const ColumnView& times = arguments[1];
    ForEachThere<Number>(arguments[0], groups.size(), [&](size_t row, Number number) {
      if (times.IsThere(row)) this->states_[groups[row]].Add({times.ints()[times.PlaceOf(row)], number});
    });
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    absl::Status failed;
    const ColumnView results = ColumnOfResults<Number>(count, arena, [&](size_t i) -> std::optional<Number> {
      const EndsState<Number>& state = this->states_[first + i];
      if (!state.is_there || state.first.time_micros == state.last.time_micros) return std::nullopt;
      if constexpr (std::is_same_v<Number, int64_t>) {
        const absl::StatusOr<int64_t> delta = AsResult(DifferenceOf(state.last.number, state.first.number));
        if (delta.ok()) return *delta;
        if (failed.ok()) failed = delta.status();
        return std::nullopt;
      } else {
        return state.last.number - state.first.number;
      }
    });
    if (!failed.ok()) return failed;
    return results;
  }
};

bool TakesDoubles(const AggregateSite& site) {
  return ColumnTypeOf(site.argument_types[0]) == ColumnType::kDouble;
}

}  // namespace

std::unique_ptr<Aggregator> MakeDelta(const AggregateSite& site) {
  if (TakesDoubles(site)) return std::make_unique<DeltaAggregator<double>>();
  return std::make_unique<DeltaAggregator<int64_t>>();
}
std::unique_ptr<Aggregator> MakeIncrease(const AggregateSite& site) {
  if (TakesDoubles(site)) return std::make_unique<PointsAggregator<double, double, IncreaseOf<double>>>();
  return std::make_unique<PointsAggregator<int64_t, int64_t, IncreaseOf<int64_t>>>();
}
std::unique_ptr<Aggregator> MakeRate(const AggregateSite& site) {
  if (TakesDoubles(site)) return std::make_unique<PointsAggregator<double, double, RateOf<double>>>();
  return std::make_unique<PointsAggregator<int64_t, double, RateOf<int64_t>>>();
}
std::unique_ptr<Aggregator> MakeIrate(const AggregateSite& site) {
  if (TakesDoubles(site)) return std::make_unique<PointsAggregator<double, double, IrateOf<double>>>();
  return std::make_unique<PointsAggregator<int64_t, double, IrateOf<int64_t>>>();
}
std::unique_ptr<Aggregator> MakeTimeWeightedAvg(const AggregateSite& /*site*/) {
  return std::make_unique<PointsAggregator<double, double, TimeWeightedAvgOf>>();
}

}  // namespace sonde::sql
