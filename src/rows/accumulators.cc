#include "rows/accumulators.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

namespace sonde::rows {
namespace {

bool IsNaN(double value) { return std::isnan(value); }
bool IsNaN(absl::int128 /*value*/) { return false; }

absl::int128 SumOf(absl::Span<const absl::int128> values) {
  absl::int128 sum = 0;
  for (const absl::int128 value : values) sum += value;
  return sum;
}

// A sum of ints as one of doubles: what the double has lost is small enough for another one.
SumWithLoss& operator+=(SumWithLoss& sum, absl::int128 more) {
  const auto rounded = static_cast<double>(more);
  return sum += SumWithLoss{rounded, static_cast<double>(more - static_cast<absl::int128>(rounded))};
}

LeastAndMost<absl::int128> LeastAndMostOf(absl::Span<const absl::int128> values) {
  const auto [least, most] = std::minmax_element(values.begin(), values.end());
  return {*least, *most};
}

// Those of base/number_loops.h.
using sonde::LeastAndMostOf;
using sonde::SumOf;

}  // namespace

Accumulators::Accumulators(ColumnType type, const AggregateNeeds& needs)
    : needs_(needs), values_there_(type) {
  if (type == ColumnType::kDouble) {
    kept_.emplace<Kept<double>>();
  } else if (type != ColumnType::kBytes) {
    kept_.emplace<Kept<absl::int128>>();
  }
}

void Accumulators::Resize(size_t count) {
  counts_.resize(count);
  std::visit(
      [&](auto& kept) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(kept)>, std::monostate>) {
          if (needs_.has_sum) kept.sums.resize(count);
          if (needs_.has_extremes) kept.extremes.resize(count);
          if (needs_.has_ends) kept.ends.resize(count);
        }
      },
      kept_);
  if (needs_.has_moments) moments_.resize(count);
  if (needs_.has_values) values_.resize(count);
}

void Accumulators::Reset(size_t index) {
  counts_[index] = 0;
  std::visit(
      [&](auto& kept) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(kept)>, std::monostate>) {
          if (needs_.has_sum) kept.sums[index] = typename std::decay_t<decltype(kept)>::Sum();
        }
      },
      kept_);
  if (needs_.has_moments) moments_[index] = {};
  if (needs_.has_values) values_[index].numbers.clear();
}

size_t Accumulators::BytesOfOne() const {
  size_t bytes = sizeof(int64_t);
  if (needs_.has_sum) bytes += sizeof(absl::int128);
  if (needs_.has_extremes) bytes += sizeof(LeastAndMost<absl::int128>);
  if (needs_.has_ends) bytes += sizeof(Ends<absl::int128>);
  if (needs_.has_moments) bytes += sizeof(Moments);
  if (needs_.has_values) bytes += sizeof(Values);
  return bytes;
}

template <typename Number>
void Accumulators::AddExtremes(size_t index, const LeastAndMost<Number>& extremes, Kept<Number>* kept) const {
  LeastAndMost<Number>& all = kept->extremes[index];
  if (counts_[index] == 0 || extremes.least < all.least || IsNaN(extremes.least)) all.least = extremes.least;
  if (counts_[index] == 0 || all.most < extremes.most || IsNaN(extremes.most)) all.most = extremes.most;
}

template <typename Number>
void Accumulators::AddEnds(size_t index, const Ends<Number>& ends, Kept<Number>* kept) const {
  Ends<Number>& all = kept->ends[index];
  if (counts_[index] == 0 || ends.first_micros < all.first_micros ||
      (ends.first_micros == all.first_micros && ends.first < all.first)) {
    all.first_micros = ends.first_micros;
    all.first = ends.first;
  }
  if (counts_[index] == 0 || ends.last_micros > all.last_micros ||
      (ends.last_micros == all.last_micros && all.last < ends.last)) {
    all.last_micros = ends.last_micros;
    all.last = ends.last;
  }
}

void Accumulators::AddMoments(size_t index, int64_t count, const Moments& moments) {
  Moments& all = moments_[index];
  const auto here = static_cast<double>(counts_[index]);
  const auto there = static_cast<double>(count);
  const double distance = moments.mean - all.mean;
  all.mean += distance * there / (here + there);
  all.squares += moments.squares + distance * distance * here * there / (here + there);
}

template <typename Number, typename Value>
void Accumulators::AddRun(size_t index, absl::Span<const int64_t> times_micros,
                          absl::Span<const Value> values) {
  auto& kept = std::get<Kept<Number>>(kept_);
  if (needs_.has_sum) kept.sums[index] += SumOf(values);
  if (needs_.has_extremes) {
    const auto [least, most] = LeastAndMostOf(values);
    AddExtremes<Number>(index, {static_cast<Number>(least), static_cast<Number>(most)}, &kept);
  }
  if (needs_.has_ends) {
    const auto front = static_cast<Number>(values.front());
    const auto back = static_cast<Number>(values.back());
    if (times_micros.front() <= times_micros.back()) {
      AddEnds<Number>(index, {times_micros.front(), times_micros.back(), front, back}, &kept);
    } else {
      AddEnds<Number>(index, {times_micros.back(), times_micros.front(), back, front}, &kept);
    }
  }
  if (needs_.has_moments) {
    const auto sum = SumOf(values);
    double total = 0;
    if constexpr (std::is_same_v<Value, double>) {
      total = sum.Value();
    } else {
      total = static_cast<double>(sum);
    }
    Moments moments{total / static_cast<double>(values.size())};
    for (const Value value : values) {
      const double distance = static_cast<double>(value) - moments.mean;
      moments.squares += distance * distance;
    }
    AddMoments(index, static_cast<int64_t>(values.size()), moments);
  }
  if (needs_.has_values) {
    Values& held = values_[index];
    for (const Value value : values) held.numbers.push_back(static_cast<double>(value));
    held.is_sorted = false;
  }
}

void Accumulators::AddThose(size_t index, absl::Span<const int64_t> times_micros, const ColumnView& values) {
  size_t first = 0, end = values.size();
  if (values.is_constant() && !values.IsThere(0)) return;
  while (first < end && !values.IsThere(first)) ++first;
  if (first == end) return;
  while (!values.IsThere(end - 1)) --end;
  if (values.type() == ColumnType::kBytes) {
    for (size_t i = first; i < end; ++i) counts_[index] += values.IsThere(i) ? 1 : 0;
    return;
  }
  if (values_there_.type() != values.type()) values_there_.Become(values.type());
  values_there_.Clear();
  values_there_.AppendThose(values.Part(first, end - first));
  // Only the times of the first and the last value count.
  Add(index, times_micros.subspan(first, end - first), values_there_.View());
}

void Accumulators::Add(size_t index, absl::Span<const int64_t> times_micros, const ColumnView& values) {
  if (values.there() != nullptr || values.is_constant()) return AddThose(index, times_micros, values);
  const size_t count = values.size();
  if (count == 0) return;
  switch (values.type()) {
    case ColumnType::kInt64:
    case ColumnType::kTime:
      if (AreInts()) {
        AddRun<absl::int128, int64_t>(index, times_micros, {values.ints(), count});
      } else {
        AddRun<double, int64_t>(index, times_micros, {values.ints(), count});
      }
      break;
    case ColumnType::kInt128:
      AddRun<absl::int128, absl::int128>(index, times_micros, {values.wide_ints(), count});
      break;
    case ColumnType::kDouble:
      AddRun<double, double>(index, times_micros, {values.doubles(), count});
      break;
    case ColumnType::kBytes:
    case ColumnType::kList:
      break;
  }
  counts_[index] += static_cast<int64_t>(count);
}

template <typename Number>
void Accumulators::MergeKept(size_t index, const Kept<Number>& other, size_t other_index) {
  auto& kept = std::get<Kept<Number>>(kept_);
  if (needs_.has_sum) kept.sums[index] += other.sums[other_index];
  if (needs_.has_extremes) AddExtremes(index, other.extremes[other_index], &kept);
  if (needs_.has_ends) AddEnds(index, other.ends[other_index], &kept);
}

template <typename Number>
void Accumulators::CopyKept(size_t index, const Kept<Number>& other, size_t other_index) {
  auto& kept = std::get<Kept<Number>>(kept_);
  if (needs_.has_sum) kept.sums[index] = other.sums[other_index];
  if (needs_.has_extremes) kept.extremes[index] = other.extremes[other_index];
  if (needs_.has_ends) kept.ends[index] = other.ends[other_index];
}

void Accumulators::Merge(size_t index, const Accumulators& other, size_t other_index) {
  const int64_t count = other.counts_[other_index];
  if (count == 0) return;
  const bool is_empty = counts_[index] == 0;
  if (needs_.has_moments) {
    if (is_empty) {
      moments_[index] = other.moments_[other_index];
    } else {
      AddMoments(index, count, other.moments_[other_index]);
    }
  }
  const auto merge = [&](const auto& kept) {
    if constexpr (!std::is_same_v<std::decay_t<decltype(kept)>, std::monostate>) {
      is_empty ? CopyKept(index, kept, other_index) : MergeKept(index, kept, other_index);
    }
  };
  std::visit(merge, other.kept_);
  if (needs_.has_values) {
    const std::vector<double>& more = other.values_[other_index].numbers;
    values_[index].numbers.insert(values_[index].numbers.end(), more.begin(), more.end());
    values_[index].is_sorted = false;
  }
  counts_[index] += count;
}

namespace {

// NaN first, which nothing else is comparable with.
auto WithoutNaN(std::vector<double>* values) {
  return std::partition(values->begin(), values->end(), [](double value) { return std::isnan(value); });
}

}  // namespace

void Accumulators::SortValues(size_t index) {
  if (!needs_.has_values) return;
  Values& held = values_[index];
  if (!held.is_sorted) std::sort(WithoutNaN(&held.numbers), held.numbers.end());
  held.is_sorted = true;
}

double Accumulators::Percentile(size_t index, double percentile) const {
  const Values& held = values_[index];
  const double place = percentile / 100 * static_cast<double>(held.numbers.size() - 1);
  const auto below = static_cast<size_t>(place);
  const auto between = [&](double least, double above) {
    return least + (above - least) * (place - static_cast<double>(below));
  };
  if (held.is_sorted) {
    const double least = held.numbers[below];
    return below + 1 == held.numbers.size() ? least : between(least, held.numbers[below + 1]);
  }
  std::vector<double> values = held.numbers;
  const auto first = WithoutNaN(&values);
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(below);
  if (middle < first) return *middle;
  std::nth_element(first, middle, values.end());
  return middle + 1 == values.end() ? *middle : between(*middle, *std::min_element(middle + 1, values.end()));
}

std::optional<double> Accumulators::Double(const Aggregate& aggregate, size_t index) const {
  const int64_t count = counts_[index];
  if (aggregate == Aggregate::kCount) return static_cast<double>(count);
  if (count == 0) return std::nullopt;
  if (aggregate.kind == Aggregate::Kind::kPercentile) return Percentile(index, aggregate.percentile);
  if (aggregate.kind == Aggregate::Kind::kStddev) {
    if (count == 1) return std::nullopt;
    return std::sqrt(moments_[index].squares / static_cast<double>(count - 1));
  }
  const auto* kept = std::get_if<Kept<double>>(&kept_);
  if (aggregate.kind == Aggregate::Kind::kAvg) {
    const double sum = kept != nullptr ? kept->sums[index].Value()
                                       : static_cast<double>(std::get<Kept<absl::int128>>(kept_).sums[index]);
    return sum / static_cast<double>(count);
  }
  if (kept == nullptr) {
    const std::optional<absl::int128> number = Int(aggregate, index);
    return number ? std::optional(static_cast<double>(*number)) : std::nullopt;
  }
  switch (aggregate.kind) {
    case Aggregate::Kind::kMin:
      return kept->extremes[index].least;
    case Aggregate::Kind::kMax:
      return kept->extremes[index].most;
    case Aggregate::Kind::kSum:
      return kept->sums[index].Value();
    case Aggregate::Kind::kFirst:
      return kept->ends[index].first;
    case Aggregate::Kind::kLast:
      return kept->ends[index].last;
    default:
      return std::nullopt;
  }
}

std::optional<absl::int128> Accumulators::Int(const Aggregate& aggregate, size_t index) const {
  const auto* kept = std::get_if<Kept<absl::int128>>(&kept_);
  if (kept == nullptr || counts_[index] == 0) return std::nullopt;
  switch (aggregate.kind) {
    case Aggregate::Kind::kSum:
      return kept->sums[index];
    case Aggregate::Kind::kMin:
      return kept->extremes[index].least;
    case Aggregate::Kind::kMax:
      return kept->extremes[index].most;
    case Aggregate::Kind::kFirst:
      return kept->ends[index].first;
    case Aggregate::Kind::kLast:
      return kept->ends[index].last;
    default:
      return std::nullopt;
  }
}

}  // namespace sonde::rows
