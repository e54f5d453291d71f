#include "series/query/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <numeric>
#include <utility>

namespace sonde::series {
namespace {

// In the order of Aggregate::Kind, without kPercentile.
constexpr std::array<std::string_view, 8> kNames = {"avg", "min",   "max",  "count",
                                                    "sum", "first", "last", "stddev"};

// Loops over values keep so many results: one would wait for itself.
constexpr size_t kLanes = 4;

struct ExactSum {
  double sum = 0;
  double error = 0;  // what sum has lost to rounding

  // Knuth's sum of two; without branches.
  void Add(double value) {
    const double before = sum;
    sum += value;
    const double added = sum - before;
    error += (before - (sum - added)) + (value - added);
  }
};

ExactSum SumOf(absl::Span<const double> values) {
  std::array<ExactSum, kLanes> lanes;
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane].Add(values[i + lane]);
  }
  for (; i < values.size(); ++i) lanes[0].Add(values[i]);
  for (size_t lane = 1; lane < kLanes; ++lane) {
    lanes[0].Add(lanes[lane].sum);
    lanes[0].error += lanes[lane].error;
  }
  return lanes[0];
}

// Of at least one value.
std::pair<double, double> ExtremesOf(absl::Span<const double> values) {
  std::array<double, kLanes> least, most;
  least.fill(values[0]);
  most.fill(values[0]);
  size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) {
      least[lane] = std::min(least[lane], values[i + lane]);
      most[lane] = std::max(most[lane], values[i + lane]);
    }
  }
  for (; i < values.size(); ++i) {
    least[0] = std::min(least[0], values[i]);
    most[0] = std::max(most[0], values[i]);
  }
  return {*std::min_element(least.begin(), least.end()), *std::max_element(most.begin(), most.end())};
}

std::pair<ExactNumber, ExactNumber> ExtremesOf(absl::Span<const double> values,
                                               absl::Span<const int16_t> rests) {
  ExactNumber least{values[0], rests[0]};
  ExactNumber most = least;
  for (size_t i = 1; i < values.size(); ++i) {
    const ExactNumber number{values[i], rests[i]};
    if (number < least) least = number;
    if (most < number) most = number;
  }
  return {least, most};
}

}  // namespace

std::string AggregateName(const Aggregate& aggregate) {
  if (aggregate.kind == Aggregate::Kind::kPercentile) return fmt::format("p{}", aggregate.percentile);
  return std::string(kNames[static_cast<size_t>(aggregate.kind)]);
}

std::optional<Aggregate> AggregateOfName(std::string_view name) {
  const auto found = std::find(kNames.begin(), kNames.end(), name);
  if (found != kNames.end()) return Aggregate{static_cast<Aggregate::Kind>(found - kNames.begin())};
  if (name == "median") return Aggregate::Percentile(50);
  if (name.size() < 2 || name[0] != 'p') return std::nullopt;
  double percentile = 0;
  const auto [end, error] = std::from_chars(name.data() + 1, name.data() + name.size(), percentile);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  if (!(percentile >= 0 && percentile <= 100)) return std::nullopt;
  return Aggregate::Percentile(percentile);
}

std::string AggregateNames() {
  return fmt::format("{}, median, and p0 to p100 such as p95", fmt::join(kNames, ", "));
}

AggregateNeeds AggregateNeeds::Of(const std::vector<Aggregate>& aggregates) {
  AggregateNeeds needs;
  for (const Aggregate& aggregate : aggregates) {
    switch (aggregate.kind) {
      case Aggregate::Kind::kAvg:
      case Aggregate::Kind::kSum:
        needs.has_sum = true;
        break;
      case Aggregate::Kind::kMin:
      case Aggregate::Kind::kMax:
        needs.has_extremes = true;
        break;
      case Aggregate::Kind::kFirst:
      case Aggregate::Kind::kLast:
        needs.has_ends = true;
        break;
      case Aggregate::Kind::kStddev:
        needs.has_moments = true;
        break;
      case Aggregate::Kind::kPercentile:
        needs.has_values = true;
        break;
      case Aggregate::Kind::kCount:
        break;
    }
  }
  return needs;
}

void Accumulator::AddToSum(double value) {
  const double sum = sum_ + value;
  sum_error_ += std::abs(sum_) >= std::abs(value) ? (sum_ - sum) + value : (value - sum) + sum_;
  sum_ = sum;
}

void Accumulator::AddExtremes(ExactNumber least, ExactNumber most) {
  if (count_ == 0 || least < ExactNumber{min_, min_rest_}) {
    min_ = least.value;
    min_rest_ = least.rest;
  }
  if (count_ == 0 || ExactNumber{max_, max_rest_} < most) {
    max_ = most.value;
    max_rest_ = most.rest;
  }
}

void Accumulator::AddEnds(int64_t first_micros, ExactNumber first, int64_t last_micros, ExactNumber last) {
  if (count_ == 0 || first_micros < first_micros_ ||
      (first_micros == first_micros_ && first < ExactNumber{first_, first_rest_})) {
    first_micros_ = first_micros;
    first_ = first.value;
    first_rest_ = first.rest;
  }
  if (count_ == 0 || last_micros > last_micros_ ||
      (last_micros == last_micros_ && ExactNumber{last_, last_rest_} < last)) {
    last_micros_ = last_micros;
    last_ = last.value;
    last_rest_ = last.rest;
  }
}

// Of count_ values before these.
void Accumulator::AddMoments(int64_t count, double mean, double squares) {
  const auto here = static_cast<double>(count_);
  const auto there = static_cast<double>(count);
  const double distance = mean - mean_;
  mean_ += distance * there / (here + there);
  squares_ += squares + distance * distance * here * there / (here + there);
}

void Accumulator::Add(const AggregateNeeds& needs, absl::Span<const int64_t> times_micros,
                      absl::Span<const double> values, absl::Span<const int16_t> rests) {
  if (values.empty()) return;
  if (needs.has_sum) {
    const ExactSum sum = SumOf(values);
    AddToSum(sum.sum);
    sum_error_ += sum.error;
    if (!rests.empty())
      AddToSum(static_cast<double>(std::accumulate(rests.begin(), rests.end(), int64_t{0})));
  }
  if (needs.has_extremes) {
    if (rests.empty()) {
      const auto [least, most] = ExtremesOf(values);
      AddExtremes({least}, {most});
    } else {
      const auto [least, most] = ExtremesOf(values, rests);
      AddExtremes(least, most);
    }
  }
  if (needs.has_ends) {
    const int16_t first_rest = rests.empty() ? int16_t{0} : rests.front();
    const int16_t last_rest = rests.empty() ? int16_t{0} : rests.back();
    AddEnds(times_micros.front(), {values.front(), first_rest}, times_micros.back(),
            {values.back(), last_rest});
  }
  if (needs.has_moments) {
    const ExactSum sum = SumOf(values);
    const double mean = (sum.sum + sum.error) / static_cast<double>(values.size());
    double squares = 0;
    for (const double value : values) squares += (value - mean) * (value - mean);
    AddMoments(static_cast<int64_t>(values.size()), mean, squares);
  }
  if (needs.has_values) {
    values_.insert(values_.end(), values.begin(), values.end());
    is_sorted_ = false;
  }
  count_ += static_cast<int64_t>(values.size());
}

void Accumulator::Merge(const AggregateNeeds& needs, const Accumulator& other) {
  if (other.count_ == 0) return;
  if (count_ == 0) {
    *this = other;
    return;
  }
  if (needs.has_moments) AddMoments(other.count_, other.mean_, other.squares_);
  if (needs.has_sum) {
    AddToSum(other.sum_);
    sum_error_ += other.sum_error_;
  }
  AddExtremes({other.min_, other.min_rest_}, {other.max_, other.max_rest_});
  AddEnds(other.first_micros_, {other.first_, other.first_rest_}, other.last_micros_,
          {other.last_, other.last_rest_});
  values_.insert(values_.end(), other.values_.begin(), other.values_.end());
  is_sorted_ = false;
  count_ += other.count_;
}

void Accumulator::SortValues() {
  if (!is_sorted_) std::sort(values_.begin(), values_.end());
  is_sorted_ = true;
}

double Accumulator::Percentile(double percentile) const {
  const double place = percentile / 100 * static_cast<double>(values_.size() - 1);
  const auto below = static_cast<size_t>(place);
  if (is_sorted_) {
    const double least = values_[below];
    if (below + 1 == values_.size()) return least;
    return least + (values_[below + 1] - least) * (place - static_cast<double>(below));
  }
  std::vector<double> values = values_;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(below);
  std::nth_element(values.begin(), middle, values.end());
  if (below + 1 == values.size()) return *middle;
  const double above = *std::min_element(middle + 1, values.end());
  return *middle + (above - *middle) * (place - static_cast<double>(below));
}

std::optional<double> Accumulator::Value(const Aggregate& aggregate) const {
  if (aggregate == Aggregate::kCount) return static_cast<double>(count_);
  if (count_ == 0) return std::nullopt;
  switch (aggregate.kind) {
    case Aggregate::Kind::kAvg:
      return (sum_ + sum_error_) / static_cast<double>(count_);
    case Aggregate::Kind::kMin:
      return min_;
    case Aggregate::Kind::kMax:
      return max_;
    case Aggregate::Kind::kSum:
      return sum_ + sum_error_;
    case Aggregate::Kind::kFirst:
      return first_;
    case Aggregate::Kind::kLast:
      return last_;
    case Aggregate::Kind::kStddev:
      if (count_ == 1) return std::nullopt;
      return std::sqrt(squares_ / static_cast<double>(count_ - 1));
    case Aggregate::Kind::kPercentile:
      return Percentile(aggregate.percentile);
    case Aggregate::Kind::kCount:
      break;
  }
  return std::nullopt;
}

std::optional<absl::int128> Accumulator::IntValue(const Aggregate& aggregate) const {
  if (count_ == 0) return std::nullopt;
  switch (aggregate.kind) {
    case Aggregate::Kind::kSum:
      return absl::int128(sum_) + absl::int128(sum_error_);
    case Aggregate::Kind::kMin:
      return ExactNumber{min_, min_rest_}.Int();
    case Aggregate::Kind::kMax:
      return ExactNumber{max_, max_rest_}.Int();
    case Aggregate::Kind::kFirst:
      return ExactNumber{first_, first_rest_}.Int();
    case Aggregate::Kind::kLast:
      return ExactNumber{last_, last_rest_}.Int();
    default:
      return std::nullopt;
  }
}

}  // namespace sonde::series
