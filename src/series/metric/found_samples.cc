#include "series/metric/found_samples.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "base/number_loops.h"
#include "rows/value.h"
#include "series/metric/metric_mark.h"
#include "series/schema/calendar.h"

namespace sonde::series {
namespace {

using promql::Labels;
using promql::SampleSeries;

int64_t MillisOf(int64_t micros) { return FloorMicros(micros, 1'000) / 1'000; }

// Appends the milliseconds of times.  False: they do not rise, and nothing is appended.
bool AppendRising(absl::Span<const int64_t> micros, std::vector<int64_t>* times) {
  const size_t before = times->size();
  int64_t last = before == 0 ? INT64_MIN : times->back();
  times->resize(before + micros.size());
  int64_t* to = times->data() + before;
  bool rises = true;
  const auto append = [&](int64_t millis) {
    rises &= millis > last;
    *to++ = last = millis;
  };
  if (!micros.empty() && micros.front() >= 0 && std::ranges::is_sorted(micros)) {
    // A division without signs is cheaper.
    for (const int64_t time : micros) append(static_cast<int64_t>(static_cast<uint64_t>(time) / 1'000));
  } else {
    for (const int64_t time : micros) append(MillisOf(time));
  }
  if (!rises) times->resize(before);
  return rises;
}

// Appends the numbers of rows that are all there.  False: they are not such, or their times do not rise, and nothing is appended.
// `rising`: as Add has it.
bool AppendDense(const ColumnView& times, const ColumnView& values, size_t begin, size_t count,
                 absl::Span<const int64_t>* rising, SampleSeries* series) {
  if (times.is_constant() || values.is_constant() || values.there() != nullptr) return false;
  if (values.type() != ColumnType::kDouble && values.type() != ColumnType::kInt64) return false;
  if (!rising->empty()) {
    if (!series->times.empty() && series->times.back() >= rising->front()) return false;
    series->times.insert(series->times.end(), rising->begin(), rising->end());
  } else {
    if (!AppendRising({times.ints() + begin, count}, &series->times)) return false;
    *rising = absl::MakeConstSpan(series->times).last(count);
  }
  if (values.type() == ColumnType::kDouble) {
    series->values.insert(series->values.end(), values.doubles() + begin, values.doubles() + begin + count);
    return true;
  }
  const size_t before = series->values.size();
  series->values.resize(before + count);
  ToDoubles({values.ints() + begin, count}, series->values.data() + before);
  return true;
}

}  // namespace

absl::Status TooManySeries(int64_t series_max) {
  return absl::ResourceExhaustedError(
      fmt::format("the query selects more than {} series; ask for a shorter time or add conditions on labels",
                  series_max));
}

absl::Status TooManySamples(int64_t samples_max) {
  return absl::ResourceExhaustedError(fmt::format(
      "the query asks for more than {} samples; ask for a shorter time or fewer series", samples_max));
}

int64_t BytesOf(const Labels& labels) {
  size_t bytes = sizeof(Labels);
  for (const auto& [name, value] : labels)
    bytes += 2 * sizeof(std::string) + name.capacity() + value.capacity();
  return static_cast<int64_t>(bytes);
}

int64_t FoundSamples::Add(const MetricScan& scan, size_t metric, const rows::Batch& batch, size_t begin,
                          size_t end, absl::Span<const int64_t>* rising) {
  const size_t tags = scan.view.tags.size();
  const ColumnView& times = batch.columns[tags];
  const auto millis_of = [&times](size_t row) { return MillisOf(times.ints()[times.PlaceOf(row)]); };
  int64_t count = 0;
  // Marks come first: a sample takes the place of a mark of its time.  Their column is the last one.
  for (size_t row = begin; scan.stale && scan.stale->first == metric && row < end; ++row) {
    const std::optional<double> mark = rows::NumberOf(batch.columns.back(), row);
    if (!mark) continue;
    AddSample(millis_of(row), ValueOfMark(*mark));
    ++count;
  }
  const ColumnView& values = batch.columns[tags + 1 + metric];
  if (AppendDense(times, values, begin, end - begin, rising, &series)) {
    return count + static_cast<int64_t>(end - begin);
  }
  for (size_t row = begin; row < end; ++row) {
    if (!values.IsThere(row)) continue;
    AddSample(millis_of(row), *rows::NumberOf(values, row));
    ++count;
  }
  return count;
}

void FoundSamples::AddSample(int64_t millis, double value) {
  if (!series.times.empty() && millis <= series.times.back()) {
    if (millis == series.times.back()) {
      series.values.back() = value;
      return;
    }
    is_sorted = false;
  }
  series.times.push_back(millis);
  series.values.push_back(value);
}

void FoundSamples::Append(const FoundSamples& more) {
  const SampleSeries& from = more.series;
  if (!series.times.empty() && !from.times.empty() && from.times.front() <= series.times.back()) {
    for (size_t i = 0; i < from.times.size(); ++i) AddSample(from.times[i], from.values[i]);
    return;
  }
  series.times.insert(series.times.end(), from.times.begin(), from.times.end());
  series.values.insert(series.values.end(), from.values.begin(), from.values.end());
  is_sorted &= more.is_sorted;
}

void FoundSamples::Sort() {
  if (std::exchange(is_sorted, true)) return;
  std::vector<size_t> order(series.times.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [this](size_t a, size_t b) { return series.times[a] < series.times[b]; });
  FoundSamples sorted;
  for (const size_t i : order) sorted.AddSample(series.times[i], series.values[i]);
  series.times = std::move(sorted.series.times);
  series.values = std::move(sorted.series.values);
}

}  // namespace sonde::series
