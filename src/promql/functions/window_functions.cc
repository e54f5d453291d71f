// Aggregates of the values in a window.
#include "promql/functions/window_functions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

double Mean(const Window& window) {
  KahanSum sum{window.values[0], 0};
  double mean = 0;
  bool is_incremental = false;
  double count = 1;
  for (size_t i = 1; i < window.count; ++i) {
    count = static_cast<double>(i + 1);
    if (!is_incremental) {
      KahanSum next = sum;
      next.Add(window.values[i]);
      if (!std::isinf(next.sum)) {
        sum = next;
        continue;
      }
      is_incremental = true;
      mean = sum.sum / (count - 1);
      sum.lost /= count - 1;
    }
    const double share = (count - 1) / count;
    KahanSum next{share * mean, share * sum.lost};
    next.Add(window.values[i] / count);
    mean = next.sum;
    sum.lost = next.lost;
  }
  return is_incremental ? mean + sum.lost : sum.sum / count + sum.lost / count;
}

double Sum(const Window& window) {
  KahanSum sum;
  for (size_t i = 0; i < window.count; ++i) sum.Add(window.values[i]);
  return std::isinf(sum.sum) ? sum.sum : sum.Total();
}

double Variance(const Window& window) {
  double count = 0;
  KahanSum mean;
  KahanSum squares;
  for (size_t i = 0; i < window.count; ++i) {
    ++count;
    const double difference = window.values[i] - mean.Total();
    mean.Add(difference / count);
    squares.Add(difference * (window.values[i] - mean.Total()));
  }
  return squares.Total() / count;
}

// The index of the sample that `beats` all before it; a number beats NaN.
template <typename Beats>
size_t Best(const Window& window, Beats beats) {
  size_t best = 0;
  for (size_t i = 0; i < window.count; ++i) {
    if (beats(window.values[i], window.values[best]) || std::isnan(window.values[best])) best = i;
  }
  return best;
}

// The value of Best alone.  NaN only where there is no number.
template <typename Beats>
double BestValue(const Window& window, Beats beats) {
  size_t i = 0;
  while (i + 1 < window.count && std::isnan(window.values[i])) ++i;
  double best = window.values[i];
  for (++i; i < window.count; ++i) best = beats(window.values[i], best) ? window.values[i] : best;
  return best;
}

std::optional<double> TimeOfSample(const Window& window, size_t index) {
  return static_cast<double>(window.times[index]) / 1000;
}

std::optional<double> Quantile(const Window& window, WindowCall* call) {
  const double quantile = call->parameters[0];
  if (std::isnan(quantile) || quantile < 0 || quantile > 1) {
    call->annotations->Warn(
        fmt::format("quantile value should be between 0 and 1, got {}", GeneralNumber(quantile)),
        call->node->operands[0]->place);
  }
  std::vector<double> values(window.values, window.values + window.count);
  return QuantileOf(quantile, &values);
}

std::optional<double> MedianDeviation(const Window& window, WindowCall*) {
  std::vector<double> values(window.values, window.values + window.count);
  if (std::any_of(values.begin(), values.end(), [](double value) { return std::isnan(value); })) {
    return std::nan("");
  }
  const double median = QuantileOf(0.5, &values);
  for (double& value : values) value = std::fabs(value - median);
  return QuantileOf(0.5, &values);
}

using Optional = std::optional<double>;

constexpr std::array<std::pair<std::string_view, WindowFunction>, 17> kWindowFunctions = {{
    {"avg_over_time", [](const Window& w, WindowCall*) { return Optional(Mean(w)); }},
    {"sum_over_time", [](const Window& w, WindowCall*) { return Optional(Sum(w)); }},
    {"count_over_time", [](const Window& w, WindowCall*) { return Optional(static_cast<double>(w.count)); }},
    {"present_over_time", [](const Window&, WindowCall*) { return Optional(1); }},
    {"absent_over_time", [](const Window&, WindowCall*) { return Optional(1); }},
    {"first_over_time", [](const Window& w, WindowCall*) { return Optional(w.values[0]); }},
    {"last_over_time", [](const Window& w, WindowCall*) { return Optional(w.values[w.count - 1]); }},
    {"max_over_time",
     [](const Window& w, WindowCall*) {
       return Optional(BestValue(w, [](double a, double b) { return a > b; }));
     }},
    {"min_over_time",
     [](const Window& w, WindowCall*) {
       return Optional(BestValue(w, [](double a, double b) { return a < b; }));
     }},
    {"ts_of_max_over_time",
     [](const Window& w, WindowCall*) {
       return TimeOfSample(w, Best(w, [](double a, double b) { return a >= b; }));
     }},
    {"ts_of_min_over_time",
     [](const Window& w, WindowCall*) {
       return TimeOfSample(w, Best(w, [](double a, double b) { return a <= b; }));
     }},
    {"ts_of_first_over_time", [](const Window& w, WindowCall*) { return TimeOfSample(w, 0); }},
    {"ts_of_last_over_time", [](const Window& w, WindowCall*) { return TimeOfSample(w, w.count - 1); }},
    {"stdvar_over_time", [](const Window& w, WindowCall*) { return Optional(Variance(w)); }},
    {"stddev_over_time", [](const Window& w, WindowCall*) { return Optional(std::sqrt(Variance(w))); }},
    {"quantile_over_time", Quantile},
    {"mad_over_time", MedianDeviation},
}};

}  // namespace

WindowFunction FindWindowFunction(std::string_view name) {
  for (const auto& [known, function] : kWindowFunctions) {
    if (known == name) return function;
  }
  return FindRateFunction(name);
}

}  // namespace sonde::promql
