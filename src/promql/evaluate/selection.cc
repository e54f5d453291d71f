// Selectors, ranges and subqueries.
#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "promql/evaluate/evaluator.h"
#include "promql/evaluate/series_parts.h"
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

class RowsSink final : public SeriesSink {
 public:
  explicit RowsSink(const Evaluator::RowWork& work) : work_(work) {}

  absl::Status Take(SampleSeries* series) override { return work_(series, &made_); }
  Evaluator::SeriesRows& made() { return made_; }

 private:
  const Evaluator::RowWork& work_;
  Evaluator::SeriesRows made_;
};

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

SeriesVisit Evaluator::VisitFor(const RowWork& work, Matrix* rows) {
  constexpr size_t kStepWork = 8;
  SeriesVisit visit;
  visit.make = [&work] { return std::make_unique<RowsSink>(work); };
  visit.take = [this, rows](SeriesSink* sink) {
    SeriesRows& made = static_cast<RowsSink*>(sink)->made();
    context_->stats().samples_read += made.samples_read;
    context_->stats().samples_total += made.samples;
    context_->annotations().Add(made.annotations);
    std::ranges::move(made.rows, std::back_inserter(*rows));
    return absl::OkStatus();
  };
  visit.loaded = [this](int64_t samples) { return context_->Hold(samples); };
  visit.series_work = kStepWork * steps_;
  visit.idle_workers = context_->settings().idle_workers;
  return visit;
}

absl::StatusOr<Matrix> Evaluator::MakeRows(const std::vector<Matcher>& matchers, int64_t start_millis,
                                           int64_t end_millis, const RowWork& work) {
  Matrix rows;
  absl::Status status =
      context_->source()->ForEach(matchers, start_millis, end_millis, VisitFor(work, &rows));
  if (!status.ok()) return status;
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) { return a.labels < b.labels; });
  return rows;
}

absl::StatusOr<Matrix> Evaluator::MakeRows(std::vector<SampleSeries> all, const RowWork& work) {
  Matrix rows;
  if (absl::Status status = VisitInParts(std::move(all), VisitFor(work, &rows)); !status.ok()) return status;
  return rows;
}

absl::StatusOr<Matrix> Evaluator::Select(const Expression& node, bool gives_times) {
  const int64_t lookback = context_->settings().lookback_millis;
  // Prometheus' timestamp() does not look at the offset of a selector with @.
  TimeShift shift;
  shift.at_millis = node.shift.at_millis;
  if (!gives_times || !shift.at_millis) shift.offset.nanos = node.shift.offset.nanos;
  const int64_t first = ReferenceTime(shift, 0);
  const int64_t last = ReferenceTime(shift, steps_ - 1);
  return MakeRows(
      node.matchers, first - lookback + 1, last, [&](SampleSeries* series, SeriesRows* made) -> absl::Status {
        if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
        if (absl::Status status = context_->Hold(static_cast<int64_t>(steps_)); !status.ok()) return status;
        made->samples_read += static_cast<int64_t>(series->times.size());
        Row row(std::move(series->labels), steps_);
        size_t next = 0;  // the first sample past the time of the step
        for (size_t step = 0; step < steps_; ++step) {
          const int64_t time = ReferenceTime(shift, step);
          while (next < series->times.size() && series->times[next] <= time) ++next;
          if (next == 0 || series->times[next - 1] <= time - lookback) continue;
          const double value = series->values[next - 1];
          if (IsStale(value)) continue;
          row.Set(step, gives_times ? static_cast<double>(series->times[next - 1]) / 1000 : value);
          ++made->samples;
        }
        if (!row.IsEmpty()) made->rows.push_back(std::move(row));
        return absl::OkStatus();
      });
}

absl::StatusOr<std::vector<SampleSeries>> Evaluator::ReadRange(const Expression& node) {
  if (node.kind == ExpressionKind::kSubquery) return ReadSubquery(node);
  const Expression& selector = *node.operands[0];
  const int64_t range = node.range.nanos / kNanosPerMilli;
  absl::StatusOr<std::vector<SampleSeries>> all =
      context_->source()->Select(selector.matchers, ReferenceTime(selector.shift, 0) - range + 1,
                                 ReferenceTime(selector.shift, steps_ - 1));
  if (!all.ok()) return all;
  for (SampleSeries& series : *all) DropStale(&series);
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
  absl::StatusOr<Matrix> rows = inner.Evaluate(*node.operands[0]);
  if (!rows.ok()) return rows.status();
  std::vector<SampleSeries> all;
  all.reserve(rows->size());
  for (Row& row : *rows) all.push_back(SamplesOf(std::move(row), inner));
  if (absl::Status status = context_->Hold(CountSamples(all)); !status.ok()) return status;
  return all;
}

}  // namespace sonde::promql
