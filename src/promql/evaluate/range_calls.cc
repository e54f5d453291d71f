// Calls over ranges and subqueries: a value of the samples in each window.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "promql/evaluate/evaluator.h"
#include "promql/evaluate/window_functions.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

// So many samples of windows take a millisecond or a few.
constexpr int64_t kSamplesUnchecked = 1 << 20;

double SecondsOf(int64_t nanos) {
  return static_cast<double>(nanos / kNanosPerSecond) + static_cast<double>(nanos % kNanosPerSecond) / 1e9;
}

bool IsCounterName(std::string_view name) {
  constexpr std::array<std::string_view, 4> kEnds = {"_total", "_sum", "_count", "_bucket"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return name.ends_with(end); });
}

bool HasSameLabels(const Matrix& rows) {
  std::set<Labels> seen;
  return std::any_of(rows.begin(), rows.end(),
                     [&](const Row& row) { return !seen.insert(row.labels).second; });
}

}  // namespace

absl::StatusOr<Matrix> Evaluator::CallOverRange(const Expression& node, size_t range_index) {
  const std::string_view name = node.function->name;
  const Expression& argument = *node.operands[range_index];
  const int64_t used_before = context_->stats().samples_total;
  absl::StatusOr<std::vector<SampleSeries>> all = ReadRange(argument);
  if (!all.ok()) return all.status();
  // Of a subquery, Prometheus counts what the windows take, and not what it was made of.
  context_->stats().samples_total = used_before;
  std::vector<Row> parameters;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (i == range_index) continue;
    absl::StatusOr<Matrix> value = Evaluate(*node.operands[i]);
    if (!value.ok()) return value;
    parameters.push_back(std::move((*value)[0]));
  }
  const WindowFunction function = FindWindowFunction(name);
  if (function == nullptr) {
    return absl::UnimplementedError(fmt::format("the function {} is not supported", name));
  }
  const TimeShift& shift =
      argument.kind == ExpressionKind::kRange ? argument.operands[0]->shift : argument.shift;
  const int64_t range = argument.range.nanos / kNanosPerMilli;
  const bool keeps_name = name == "last_over_time" || name == "first_over_time";
  // Prometheus has lost the place of a subquery here.
  const Range place =
      argument.kind == ExpressionKind::kSubquery && range_index == 0 ? Range() : node.operands[0]->place;
  int64_t unchecked = 0;
  WindowCall call{&context_->annotations(), &node, {}};
  Matrix rows;
  for (SampleSeries& series : *all) {
    if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
    if (absl::Status status = context_->Hold(static_cast<int64_t>(steps_)); !status.ok()) return status;
    Row row(keeps_name ? series.labels : WithoutName(series.labels), steps_);
    size_t begin = 0;
    size_t end = 0;
    for (size_t step = 0; step < steps_; ++step) {
      const int64_t to = ReferenceTime(shift, step);
      const int64_t from = to - range;
      while (end < series.times.size() && series.times[end] <= to) ++end;
      while (begin < end && series.times[begin] <= from) ++begin;
      if (begin == end) continue;
      const auto used = static_cast<int64_t>(end - begin);
      context_->stats().samples_total += used;
      if ((unchecked += used) >= kSamplesUnchecked) {
        unchecked = 0;
        if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
      }
      call.parameters.clear();
      for (const Row& parameter : parameters) call.parameters.push_back(parameter.values[step]);
      const Window window{
          &series.times[begin],           &series.values[begin], end - begin, TimeOf(step), from, to,
          SecondsOf(argument.range.nanos)};
      const std::optional<double> value = function(window, &call);
      if (!call.status.ok()) return call.status;
      if (value) row.Set(step, *value);
    }
    if (row.IsEmpty()) continue;
    const std::string_view metric = LabelOf(series.labels, kMetricLabel);
    const bool is_counter_call = name == "rate" || name == "increase";
    if (is_counter_call && !metric.empty() && !IsCounterName(metric)) {
      context_->annotations().Inform(
          fmt::format("metric might not be a counter, name does not end in _total/_sum/_count/_bucket: {}",
                      Quoted(metric)),
          place);
    }
    rows.push_back(std::move(row));
  }
  if (name == "absent_over_time") return AbsentOverTime(node, rows);
  if (HasSameLabels(rows)) return SameLabelsError();
  return rows;
}

absl::StatusOr<Matrix> Evaluator::AbsentOverTime(const Expression& node, const Matrix& rows) {
  return Absent(node, rows);
}

}  // namespace sonde::promql
