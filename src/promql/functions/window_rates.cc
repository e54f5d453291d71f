// Changes of values in a window: rates, differences, trends.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>

#include "promql/functions/window_functions.h"

namespace sonde::promql {
namespace {

double SecondsBetween(int64_t millis) { return static_cast<double>(millis) / 1000; }

std::optional<double> Extrapolated(const Window& window, bool is_counter, bool is_rate) {
  const size_t last = window.count - 1;
  if (last == 0) return std::nullopt;
  double result = window.values[last] - window.values[0];
  // Without branches, as the resets of what is no counter cannot be foreseen: -0 added to anything changes nothing.
  for (size_t i = 1; is_counter && i < window.count; ++i) {
    const auto before = std::bit_cast<uint64_t>(window.values[i - 1]);
    const uint64_t is_reset = -static_cast<uint64_t>(window.values[i] < window.values[i - 1]);
    result += std::bit_cast<double>((before & is_reset) | (std::bit_cast<uint64_t>(-0.0) & ~is_reset));
  }
  double to_start = SecondsBetween(window.times[0] - window.from_millis);
  double to_end = SecondsBetween(window.to_millis - window.times[last]);
  const double sampled = SecondsBetween(window.times[last] - window.times[0]);
  const double average = sampled / static_cast<double>(last);
  const double threshold = average * 1.1;
  if (to_start >= threshold) to_start = average / 2;
  if (is_counter) {
    // A counter is not below 0 where it is extrapolated to.
    double to_zero = to_start;
    if (result > 0 && window.values[0] >= 0) to_zero = sampled * (window.values[0] / result);
    if (to_zero < to_start) to_start = to_zero;
  }
  if (to_end >= threshold) to_end = average / 2;
  double factor = sampled != 0 ? (sampled + to_start + to_end) / sampled : 1.0;
  if (is_rate) factor /= window.range_seconds;
  return result * factor;
}

std::optional<double> LastChange(const Window& window, bool is_rate) {
  if (window.count < 2) return std::nullopt;
  const size_t last = window.count - 1;
  const int64_t millis = window.times[last] - window.times[last - 1];
  if (millis == 0) return std::nullopt;
  double result = window.values[last];
  const bool is_reset = is_rate && window.values[last] < window.values[last - 1];
  if (!is_reset) result -= window.values[last - 1];
  return is_rate ? result / SecondsBetween(millis) : result;
}

struct Line {
  double slope;
  double intercept;
};

Line Regression(const Window& window, int64_t zero_millis) {
  const double first = window.values[0];
  bool is_constant = true;
  double count = 0;
  KahanSum x_sum;
  KahanSum y_sum;
  KahanSum xy_sum;
  KahanSum xx_sum;
  for (size_t i = 0; i < window.count; ++i) {
    const double y = window.values[i];
    if (i > 0 && y != first) is_constant = false;
    count += 1;
    const double x = static_cast<double>(window.times[i] - zero_millis) / 1e3;
    x_sum.Add(x);
    y_sum.Add(y);
    xy_sum.Add(x * y);
    xx_sum.Add(x * x);
  }
  if (is_constant) {
    if (std::isinf(first)) return {std::nan(""), std::nan("")};
    return {0, first};
  }
  const double x = x_sum.Total();
  const double y = y_sum.Total();
  const double covariance = xy_sum.Total() - x * y / count;
  const double variance = xx_sum.Total() - x * x / count;
  const double slope = covariance / variance;
  return {slope, y / count - slope * x / count};
}

std::optional<double> Smoothed(const Window& window, WindowCall* call) {
  const double level_share = call->parameters[0];
  const double trend_share = call->parameters[1];
  const auto check = [&](std::string_view what, std::string_view sign, double value) {
    if (!(value <= 0 || value >= 1)) return true;
    call->status =
        ExecutionError(fmt::format("invalid {} factor. Expected: 0 < {} < 1, got: {:f}", what, sign, value));
    return false;
  };
  if (!check("smoothing", "sf", level_share) || !check("trend", "tf", trend_share)) return std::nullopt;
  if (window.count < 2) return std::nullopt;
  double before = 0;
  double level = window.values[0];
  double trend = window.values[1] - window.values[0];
  for (size_t i = 1; i < window.count; ++i) {
    const double x = level_share * window.values[i];
    if (i > 1) {
      const double change = trend_share * (level - before);
      const double kept = (1 - trend_share) * trend;
      trend = change + kept;
    }
    const double y = (1 - level_share) * (level + trend);
    before = level;
    level = x + y;
  }
  return level;
}

constexpr std::array<std::pair<std::string_view, WindowFunction>, 10> kRateFunctions = {{
    {"rate", [](const Window& w, WindowCall*) { return Extrapolated(w, true, true); }},
    {"increase", [](const Window& w, WindowCall*) { return Extrapolated(w, true, false); }},
    {"delta", [](const Window& w, WindowCall*) { return Extrapolated(w, false, false); }},
    {"irate", [](const Window& w, WindowCall*) { return LastChange(w, true); }},
    {"idelta", [](const Window& w, WindowCall*) { return LastChange(w, false); }},
    {"double_exponential_smoothing", Smoothed},
    {"deriv",
     [](const Window& w, WindowCall*) {
       return w.count < 2 ? std::nullopt : std::optional(Regression(w, w.times[0]).slope);
     }},
    {"predict_linear",
     [](const Window& w, WindowCall* call) -> std::optional<double> {
       if (w.count < 2) return std::nullopt;
       const Line line = Regression(w, w.step_millis);
       return line.slope * call->parameters[0] + line.intercept;
     }},
    {"changes",
     [](const Window& w, WindowCall*) -> std::optional<double> {
       double count = 0;
       for (size_t i = 1; i < w.count; ++i) {
         const bool are_nan = std::isnan(w.values[i]) && std::isnan(w.values[i - 1]);
         if (w.values[i] != w.values[i - 1] && !are_nan) ++count;
       }
       return count;
     }},
    {"resets",
     [](const Window& w, WindowCall*) -> std::optional<double> {
       double count = 0;
       for (size_t i = 1; i < w.count; ++i) {
         if (w.values[i] < w.values[i - 1]) ++count;
       }
       return count;
     }},
}};

}  // namespace

WindowFunction FindRateFunction(std::string_view name) {
  for (const auto& [known, function] : kRateFunctions) {
    if (known == name) return function;
  }
  return nullptr;
}

}  // namespace sonde::promql
