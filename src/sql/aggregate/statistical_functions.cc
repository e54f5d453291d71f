#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <vector>

#include "sql/aggregate/aggregator_states.h"
#include "sql/aggregate/functions.h"
#include "sql/aggregate/moments.h"
#include "sql/function/function.h"

namespace sonde::sql {
namespace {

using MomentsResult = std::optional<double> (*)(const Moments<1>& moments);
using PairMomentsResult = std::optional<double> (*)(const Moments<2>& moments);

template <MomentsResult kResult>
class MomentsAggregator : public StatesOf<Moments<1>> {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    ForEachThere<double>(arguments[0], groups.size(), [&](size_t row, double value) {
      Moments<1>& moments = states_[groups[row]];
      const size_t before = moments.HeldBytes();
      moments.Add({value});
      held_bytes_ += moments.HeldBytes() - before;
    });
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    return ColumnOfResults<double>(count, arena, [&](size_t i) { return kResult(states_[first + i]); });
  }
};

template <PairMomentsResult kResult>
class PairMomentsAggregator : public StatesOf<Moments<2>> {
 public:
  absl::Status Add(absl::Span<const ColumnView> arguments, absl::Span<const uint32_t> groups) override {
    ForEachThere<double>(arguments[0], groups.size(), [&](size_t row, double value) {
      if (!arguments[1].IsThere(row)) return;
      Moments<2>& moments = states_[groups[row]];
      const size_t before = moments.HeldBytes();
      moments.Add({value, arguments[1].doubles()[arguments[1].PlaceOf(row)]});
      held_bytes_ += moments.HeldBytes() - before;
    });
    return absl::OkStatus();
  }

  absl::StatusOr<ColumnView> Results(uint32_t first, size_t count, Arena* arena) override {
    return ColumnOfResults<double>(count, arena, [&](size_t i) { return kResult(states_[first + i]); });
  }
};

// The deviations of two variables, a row: of all rows, or of a sample (kLess is 1), which has one row less.
template <int kLess, typename State>
std::optional<long double> PerRow(const State& moments, size_t x, size_t y) {
  if (moments.count() <= kLess) return std::nullopt;
  return moments.Deviations(x, y) / static_cast<long double>(moments.count() - kLess);
}

template <int kLess>
std::optional<double> VarianceOf(const Moments<1>& moments) {
  const std::optional<long double> variance = PerRow<kLess>(moments, 0, 0);
  return variance.has_value() ? std::optional(static_cast<double>(*variance)) : std::nullopt;
}

template <int kLess>
std::optional<double> DeviationOf(const Moments<1>& moments) {
  const std::optional<long double> variance = PerRow<kLess>(moments, 0, 0);
  return variance.has_value() ? std::optional(static_cast<double>(std::sqrt(*variance))) : std::nullopt;
}

template <int kLess>
std::optional<double> CovarianceOf(const Moments<2>& moments) {
  const std::optional<long double> covariance = PerRow<kLess>(moments, 0, 1);
  return covariance.has_value() ? std::optional(static_cast<double>(*covariance)) : std::nullopt;
}

std::optional<double> CorrelationOf(const Moments<2>& moments) {
  if (moments.count() < 2) return std::nullopt;
  const long double of_both = std::sqrt(moments.Deviations(0, 0)) * std::sqrt(moments.Deviations(1, 1));
  const long double correlation = moments.Deviations(0, 1) / of_both;
  return std::isnan(correlation) ? static_cast<double>(correlation)
                                 : static_cast<double>(std::clamp(correlation, -1.0L, 1.0L));
}

template <MomentsResult kResult>
std::vector<Overload> OverloadsOfOne() {
  return {{.signature = Signature::Parse("(FLOAT64) -> FLOAT64"),
           .aggregator = [](const AggregateSite&) -> std::unique_ptr<Aggregator> {
             return std::make_unique<MomentsAggregator<kResult>>();
           }}};
}

template <PairMomentsResult kResult>
std::vector<Overload> OverloadsOfTwo() {
  return {{.signature = Signature::Parse("(FLOAT64, FLOAT64) -> FLOAT64"),
           .aggregator = [](const AggregateSite&) -> std::unique_ptr<Aggregator> {
             return std::make_unique<PairMomentsAggregator<kResult>>();
           }}};
}

}  // namespace

std::vector<Function> StatisticalFunctions() {
  return {
      {.name = "CORR",
       .kind = Function::Kind::kAggregate,
       .overloads = OverloadsOfTwo<CorrelationOf>(),
       .meaning = "Gives the correlation of pairs of numbers, by Pearson: from -1 to 1.",
       .examples =
           {"SELECT CORR(p.x, p.y) FROM UNNEST([STRUCT(1.0 AS x, 2.0 AS y), (2.0, 5.0), (3.0, 4.0)]) AS p"}},
      {.name = "COVAR_POP",
       .kind = Function::Kind::kAggregate,
       .overloads = OverloadsOfTwo<CovarianceOf<0>>(),
       .meaning = "Gives the covariance of pairs of numbers that are all there are.",
       .examples = {"SELECT COVAR_POP(p.x, p.y) FROM UNNEST([STRUCT(1.0 AS x, 2.0 AS y), (3.0, 8.0)]) AS p"}},
      {.name = "COVAR_SAMP",
       .kind = Function::Kind::kAggregate,
       .overloads = OverloadsOfTwo<CovarianceOf<1>>(),
       .meaning = "Gives the covariance of pairs of numbers that are a sample; NULL of fewer than two.",
       .examples =
           {"SELECT COVAR_SAMP(p.x, p.y) FROM UNNEST([STRUCT(1.0 AS x, 2.0 AS y), (3.0, 8.0)]) AS p"}},
      {.name = "STDDEV_POP",
       .kind = Function::Kind::kAggregate,
       .overloads = OverloadsOfOne<DeviationOf<0>>(),
       .meaning = "Gives the standard deviation of numbers that are all there are.",
       .examples = {"SELECT STDDEV_POP(x) FROM UNNEST([1, 2, 4]) AS x"}},
      {.name = "STDDEV_SAMP",
       .kind = Function::Kind::kAggregate,
       .overloads = OverloadsOfOne<DeviationOf<1>>(),
       .meaning = "Gives the standard deviation of numbers that are a sample; NULL of fewer than two.",
       .examples = {"SELECT STDDEV_SAMP(x) FROM UNNEST([1, 2, 4]) AS x"}},
      {.name = "STDDEV",
       .kind = Function::Kind::kAggregate,
       .overloads = {},
       .meaning = {},
       .examples = {},
       .alias_of = "STDDEV_SAMP"},
      {.name = "VAR_POP",
       .kind = Function::Kind::kAggregate,
       .overloads = OverloadsOfOne<VarianceOf<0>>(),
       .meaning = "Gives the variance of numbers that are all there are.",
       .examples = {"SELECT VAR_POP(x) FROM UNNEST([1, 2, 4]) AS x"}},
      {.name = "VAR_SAMP",
       .kind = Function::Kind::kAggregate,
       .overloads = OverloadsOfOne<VarianceOf<1>>(),
       .meaning = "Gives the variance of numbers that are a sample; NULL of fewer than two.",
       .examples = {"SELECT VAR_SAMP(x) FROM UNNEST([1, 2, 4]) AS x"}},
      {.name = "VARIANCE",
       .kind = Function::Kind::kAggregate,
       .overloads = {},
       .meaning = {},
       .examples = {},
       .alias_of = "VAR_SAMP"},
  };
}

}  // namespace sonde::sql
