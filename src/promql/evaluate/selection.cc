// Selectors, ranges and subqueries.
#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "promql/evaluate/evaluator.h"
#include "promql/functions/extended_windows.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

SampleSeries SamplesOf(Row row, const Evaluator& inner) {
  SampleSeries series;
  for (size_t step = 0; step < row.values.size(); ++step) {
    if (!row.present[step]) continue;
    series.times.push_back(inner.TimeOf(step));
    series.values.push_back(row.values[step]);
  }
  series.labels = std::move(row.labels);
  return series;
}

int64_t CountSamples(const std::vector<SampleSeries>& all) {
  int64_t count = 0;
  for (const SampleSeries& series : all) count += static_cast<int64_t>(series.times.size());
  return count;
}

}  // namespace

void DropStale(SampleSeries* series) {
  const auto first = std::find_if(series->values.begin(), series->values.end(), IsStale);
  if (first == series->values.end()) return;
  auto kept = static_cast<size_t>(first - series->values.begin());
  for (size_t i = kept; i < series->times.size(); ++i) {
    if (IsStale(series->values[i])) continue;
    series->times[kept] = series->times[i];
    series->values[kept++] = series->values[i];
  }
  series->times.resize(kept);
  series->values.resize(kept);
}

absl::StatusOr<Matrix> Evaluator::Select(const Expression& node, bool gives_times) {
  return MakeRows(LeafOfSelector(node, gives_times));
}

Leaf Evaluator::LeafOfSelector(const Expression& node, bool gives_times) const {
  const int64_t lookback = context_->settings().lookback_millis;
  // Prometheus' timestamp() does not look at the offset of a selector with @, but for which samples are read.
  const std::optional<int64_t> at = node.shift.at_millis;
  const int64_t offset = gives_times && at ? 0 : node.shift.offset.nanos / kNanosPerMilli;
  Leaf leaf{.node = &node, .matchers = &node.matchers};
  leaf.start_millis = ReferenceTime(node.shift, 0) - lookback + 1;
  leaf.end_millis = ReferenceTime(node.shift, steps_ - 1) + MarginsOf(node.extension, lookback).behind;
  if (node.extension == Extension::kSmoothed && !gives_times) {
    leaf.work = [this, &node, lookback](SampleSeries* series, SeriesRows* made) -> absl::Status {
      if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
      made->samples_read += static_cast<int64_t>(series->times.size());
      DropStale(series);
      Row row(std::move(series->labels), steps_);
      for (size_t step = 0; step < steps_; ++step) {
        const auto value = SmoothedValue(*series, ReferenceTime(node.shift, step), lookback);
        if (value) row.Set(step, *value);
      }
      if (!row.IsEmpty()) made->rows.push_back(std::move(row));
      return absl::OkStatus();
    };
    return leaf;
  }
  leaf.work = [this, lookback, gives_times, at, offset](SampleSeries* series,
                                                        SeriesRows* made) -> absl::Status {
    if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
    made->samples_read += static_cast<int64_t>(series->times.size());
    Row row(std::move(series->labels), steps_);
    size_t next = 0;  // the first sample past the time of the step
    for (size_t step = 0; step < steps_; ++step) {
      const int64_t time = at.value_or(TimeOf(step)) - offset;
      next = FirstPast(series->times, next, time);
      if (next == 0 || series->times[next - 1] <= time - lookback) continue;
      const double value = series->values[next - 1];
      if (IsStale(value)) continue;
      row.Set(step, gives_times ? static_cast<double>(series->times[next - 1]) / 1000 : value);
      ++made->samples;
    }
    if (!row.IsEmpty()) made->rows.push_back(std::move(row));
    return absl::OkStatus();
  };
  return leaf;
}

absl::StatusOr<std::vector<SampleSeries>> Evaluator::ReadRange(const Expression& node) {
  if (node.kind == ExpressionKind::kSubquery) return ReadSubquery(node);
  const Expression& selector = *node.operands[0];
  const WindowMargins margins = MarginsOf(selector.extension, context_->settings().lookback_millis);
  const int64_t from = ReferenceTime(selector.shift, 0) - node.range.nanos / kNanosPerMilli;
  const int64_t to = ReferenceTime(selector.shift, steps_ - 1);
  absl::StatusOr<std::vector<SampleSeries>> all =
      context_->source()->Select(selector.matchers, from - margins.before + 1, to + margins.behind);
  if (!all.ok()) return all;
  for (SampleSeries& series : *all) {
    DropStale(&series);
    if (selector.extension != Extension::kNone) ExtendToEnds(selector.extension, from, to, &series);
  }
  const int64_t count = CountSamples(*all);
  context_->stats().samples_read += count;
  if (absl::Status status = context_->Hold(count); !status.ok()) return status;
  return all;
}

absl::StatusOr<std::vector<SampleSeries>> Evaluator::ReadSubquery(const Expression& node) {
  const int64_t range = node.range.nanos / kNanosPerMilli;
  int64_t interval = node.step.nanos / kNanosPerMilli;
  if (node.step.nanos == 0) interval = context_->settings().subquery_step_millis;
  if (interval <= 0) return ExecutionError("the step of a subquery is below one millisecond");
  const int64_t before = ReferenceTime(node.shift, 0) - range;
  const int64_t last = ReferenceTime(node.shift, steps_ - 1);
  int64_t first = interval * (before / interval);
  if (first <= before) first += interval;
  Evaluator inner(context_, first, last, interval);
  inner.ShareLeaves(*node.operands[0]);
  absl::StatusOr<Matrix> rows = inner.Evaluate(*node.operands[0]);
  if (!rows.ok()) return rows.status();
  std::vector<SampleSeries> all;
  all.reserve(rows->size());
  for (Row& row : *rows) all.push_back(SamplesOf(std::move(row), inner));
  if (absl::Status status = context_->Hold(CountSamples(all)); !status.ok()) return status;
  return all;
}

}  // namespace sonde::promql
