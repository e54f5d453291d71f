#include "promql/functions/extended_windows.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "promql/samples/leaf.h"

namespace sonde::promql {
namespace {

double Interpolated(int64_t first_time, double first, int64_t second_time, double second, int64_t time,
                    bool is_counter) {
  // A counter that was reset began at 0.
  if (is_counter && second < first) first = 0;
  return first + (second - first) * static_cast<double>(time - first_time) /
                     static_cast<double>(second_time - first_time);
}

// The samples whose values, or values between which, are those at the ends of a window.
struct Ends {
  size_t first;
  size_t last;
  double left;
  double right;
};

// Nothing: no sample is within the range, or none of a smoothed window before its end.
std::optional<Ends> FindEnds(const Window& window, bool is_smoothed, bool is_counter) {
  const int64_t* const times = window.times;
  const double* const values = window.values;
  size_t last = window.count - 1;
  const auto past_begin =
      static_cast<size_t>(std::upper_bound(times, times + last, window.from_millis) - times);
  const size_t first = past_begin == 0 ? 0 : past_begin - 1;
  if (is_smoothed) {
    last = static_cast<size_t>(std::lower_bound(times, times + last, window.to_millis) - times);
  }
  if (times[last] <= window.from_millis) return std::nullopt;
  Ends ends{first, last, values[first], values[last]};
  if (is_smoothed && times[first] < window.from_millis) {
    ends.left = Interpolated(times[first], values[first], times[first + 1], values[first + 1],
                             window.from_millis, is_counter);
  }
  if (is_smoothed && last > 0 && times[last] > window.to_millis) {
    ends.right = Interpolated(times[last - 1], values[last - 1], times[last], values[last], window.to_millis,
                              is_counter);
  }
  return ends;
}

// One past the last of the samples that lie between the ends, and the first of them.
std::pair<size_t, size_t> SamplesBetween(const Window& window, const Ends& ends) {
  const size_t begin = ends.first + (window.times[ends.first] <= window.from_millis ? 1 : 0);
  const size_t end = ends.last + (window.times[ends.last] >= window.to_millis ? 0 : 1);
  return {begin, std::max(begin, end)};
}

std::optional<double> Change(const Window& window, bool is_smoothed, bool is_counter, bool is_rate) {
  const std::optional<Ends> ends = FindEnds(window, is_smoothed, is_counter);
  if (!ends || (is_smoothed && window.times[ends->first] > window.to_millis)) return std::nullopt;
  double result = ends->right - ends->left;
  if (is_counter) {
    const auto [begin, end] = SamplesBetween(window, *ends);
    double before = ends->left;
    double lost = 0;
    for (size_t i = begin; i < end; ++i) {
      if (window.values[i] < before) lost += before;
      before = window.values[i];
    }
    if (ends->right < before) lost += before;
    result += lost;
  }
  return is_rate ? result / window.range_seconds : result;
}

template <bool is_smoothed, bool is_counter, bool is_rate>
std::optional<double> ChangeOf(const Window& window, WindowCall*) {
  return Change(window, is_smoothed, is_counter, is_rate);
}

// `count` is a function that looks at all samples of a window.
std::optional<double> CountFromAnchor(const Window& window, WindowFunction count, WindowCall* call) {
  const auto past_begin = static_cast<size_t>(
      std::upper_bound(window.times, window.times + window.count, window.from_millis) - window.times);
  if (past_begin == window.count) return std::nullopt;
  const size_t anchor = past_begin == 0 ? 0 : past_begin - 1;
  Window from_anchor = window;
  from_anchor.times += anchor;
  from_anchor.values += anchor;
  from_anchor.count -= anchor;
  return count(from_anchor, call);
}

}  // namespace

WindowMargins MarginsOf(Extension extension, int64_t lookback_millis) {
  return {.before = extension == Extension::kNone ? 0 : lookback_millis,
          .behind = extension == Extension::kSmoothed ? lookback_millis : 0};
}

std::string_view ExtendedFunctionNames(Extension extension) {
  return extension == Extension::kAnchored ? "changes, delta, increase, rate, resets"
                                           : "delta, increase, rate";
}

WindowFunction FindExtendedFunction(std::string_view name, Extension extension) {
  const bool is_smoothed = extension == Extension::kSmoothed;
  if (name == "rate") return is_smoothed ? ChangeOf<true, true, true> : ChangeOf<false, true, true>;
  if (name == "increase") return is_smoothed ? ChangeOf<true, true, false> : ChangeOf<false, true, false>;
  if (name == "delta") return is_smoothed ? ChangeOf<true, false, false> : ChangeOf<false, false, false>;
  if (is_smoothed) return nullptr;
  if (name == "changes") {
    return [](const Window& window, WindowCall* call) {
      return CountFromAnchor(window, FindRateFunction("changes"), call);
    };
  }
  if (name == "resets") {
    return [](const Window& window, WindowCall* call) {
      return CountFromAnchor(window, FindRateFunction("resets"), call);
    };
  }
  return nullptr;
}

std::optional<double> SmoothedValue(const SampleSeries& series, int64_t time, int64_t lookback_millis) {
  const std::vector<int64_t>& times = series.times;
  const auto next = static_cast<size_t>(std::lower_bound(times.begin(), times.end(), time) - times.begin());
  if (next < times.size() && times[next] == time) return series.values[next];
  if (next == 0 || times[next - 1] <= time - lookback_millis) return std::nullopt;
  if (next == times.size() || times[next] > time + lookback_millis) return series.values[next - 1];
  return Interpolated(times[next - 1], series.values[next - 1], times[next], series.values[next], time,
                      /*is_counter=*/false);
}

void ExtendToEnds(Extension extension, int64_t from_millis, int64_t to_millis, SampleSeries* series) {
  if (series->times.empty()) return;
  const Window window{series->times.data(),
                      series->values.data(),
                      series->times.size(),
                      to_millis,
                      from_millis,
                      to_millis,
                      0};
  const std::optional<Ends> ends = FindEnds(window, extension == Extension::kSmoothed, /*is_counter=*/false);
  if (!ends) {
    series->times.clear();
    series->values.clear();
    return;
  }
  const auto [begin, end] = SamplesBetween(window, *ends);
  std::vector<int64_t> times = {from_millis};
  std::vector<double> values = {ends->left};
  times.insert(times.end(), window.times + begin, window.times + end);
  values.insert(values.end(), window.values + begin, window.values + end);
  times.push_back(to_millis);
  values.push_back(ends->right);
  series->times = std::move(times);
  series->values = std::move(values);
}

}  // namespace sonde::promql
