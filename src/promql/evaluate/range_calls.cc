// Calls over ranges and subqueries: a value of the samples in each window.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "promql/evaluate/evaluator.h"
#include "promql/evaluate/window_functions.h"
#include "promql/syntax/words.h"
#include "work/idle_workers.h"

namespace sonde::promql {
namespace {

// So many samples of windows take a millisecond or a few.
constexpr int64_t kSamplesUnchecked = 1 << 20;
// The work of a part, about in samples that are looked at once; of a step; of a series.
constexpr size_t kPartWork = 1 << 17;
constexpr size_t kStepWork = 8;
constexpr size_t kSeriesWork = 64;
// Parts that each thread may be ahead.
constexpr size_t kPartsAhead = 4;

double SecondsOf(int64_t nanos) {
  return static_cast<double>(nanos / kNanosPerSecond) + static_cast<double>(nanos % kNanosPerSecond) / 1e9;
}

bool IsCounterName(std::string_view name) {
  constexpr std::array<std::string_view, 4> kEnds = {"_total", "_sum", "_count", "_bucket"};
  return std::any_of(kEnds.begin(), kEnds.end(), [&](std::string_view end) { return name.ends_with(end); });
}

bool HasSameLabels(const Matrix& rows) {
  const auto rises = [](const Row& a, const Row& b) { return a.labels < b.labels; };
  // Those of one metric are in their order still.
  if (std::adjacent_find(rows.begin(), rows.end(), std::not_fn(rises)) == rows.end()) return false;
  std::vector<const Labels*> all;
  all.reserve(rows.size());
  for (const Row& row : rows) all.push_back(&row.labels);
  std::sort(all.begin(), all.end(), [](const Labels* a, const Labels* b) { return *a < *b; });
  return std::adjacent_find(all.begin(), all.end(),
                            [](const Labels* a, const Labels* b) { return *a == *b; }) != all.end();
}

// Series in parts that take some milliseconds each: the place behind the last series of each part.
std::vector<size_t> Divide(const std::vector<SampleSeries>& all, size_t steps) {
  std::vector<size_t> ends;
  size_t work = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    work += all[i].times.size() + kStepWork * steps + kSeriesWork;
    if (work < kPartWork && i + 1 < all.size()) continue;
    ends.push_back(i + 1);
    work = 0;
  }
  return ends;
}

}  // namespace

// What the windows of all series share.
struct Evaluator::RangeCall {
  const Expression* node;
  WindowFunction function;
  std::vector<Row> parameters;  // of the call, in the order of its arguments
  const TimeShift* shift = nullptr;
  int64_t range_nanos = 0;
  bool keeps_name = false;
  bool is_of_counters = false;
  Range place;  // of what infos say
};

// What came of the windows of some series.
struct Evaluator::WindowRows {
  Matrix rows;
  Annotations annotations;
  int64_t samples = 0;  // that the windows had
};

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
  RangeCall call{.node = &node, .function = function, .parameters = std::move(parameters)};
  call.shift = argument.kind == ExpressionKind::kRange ? &argument.operands[0]->shift : &argument.shift;
  call.range_nanos = argument.range.nanos;
  call.keeps_name = name == "last_over_time" || name == "first_over_time";
  call.is_of_counters = name == "rate" || name == "increase";
  // Prometheus has lost the place of a subquery here.
  if (argument.kind != ExpressionKind::kSubquery || range_index != 0) call.place = node.operands[0]->place;
  absl::StatusOr<Matrix> made = CallOverWindows(call, *std::move(all));
  if (!made.ok()) return made;
  Matrix& rows = *made;
  if (name == "absent_over_time") return AbsentOverTime(node, rows);
  if (HasSameLabels(rows)) return SameLabelsError();
  return made;
}

absl::StatusOr<Matrix> Evaluator::CallOverWindows(const RangeCall& call, std::vector<SampleSeries> all) {
  if (absl::Status status = context_->Hold(static_cast<int64_t>(steps_ * all.size())); !status.ok()) {
    return status;
  }
  const std::vector<size_t> ends = Divide(all, steps_);
  std::vector<WindowRows> done(ends.size());
  const auto part_of = [&](size_t part) {
    const size_t begin = part == 0 ? 0 : ends[part - 1];
    return std::span(all).subspan(begin, ends[part] - begin);
  };
  Matrix rows;
  const auto take = [&](WindowRows* part) {
    context_->stats().samples_total += part->samples;
    context_->annotations().Add(part->annotations);
    std::ranges::move(part->rows, std::back_inserter(rows));
    *part = {};
  };
  IdleWorkers* const workers = context_->settings().idle_workers;
  if (workers == nullptr || ends.size() < 2) {
    for (size_t part = 0; part < ends.size(); ++part) {
      absl::Status status = DoWindows(call, part_of(part), &done[part]);
      if (!status.ok()) return status;
      take(&done[part]);
    }
    return rows;
  }
  PartsInOrder parts(workers, ends.size(), kPartsAhead * (1 + workers->helpers()),
                     [&](const PartsInOrder& every, size_t part) {
                       if (every.IsInVain(part)) return absl::CancelledError("nobody takes this part");
                       return DoWindows(call, part_of(part), &done[part]);
                     });
  while (true) {
    const absl::StatusOr<std::optional<size_t>> part = parts.Next();
    if (!part.ok()) return part.status();
    if (!part->has_value()) return rows;
    take(&done[**part]);
  }
}

absl::Status Evaluator::DoWindows(const RangeCall& range_call, std::span<SampleSeries> all,
                                  WindowRows* made) const {
  const int64_t range = range_call.range_nanos / kNanosPerMilli;
  const double range_seconds = SecondsOf(range_call.range_nanos);
  WindowCall call{&made->annotations, range_call.node, {}};
  int64_t unchecked = kSamplesUnchecked;
  for (SampleSeries& series : all) {
    Row row(range_call.keeps_name ? series.labels : WithoutName(series.labels), steps_);
    size_t begin = 0;
    size_t end = 0;
    for (size_t step = 0; step < steps_; ++step) {
      const int64_t to = ReferenceTime(*range_call.shift, step);
      const int64_t from = to - range;
      while (end < series.times.size() && series.times[end] <= to) ++end;
      while (begin < end && series.times[begin] <= from) ++begin;
      if (begin == end) continue;
      const auto used = static_cast<int64_t>(end - begin);
      made->samples += used;
      if ((unchecked += used) >= kSamplesUnchecked) {
        unchecked = 0;
        if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
      }
      call.parameters.clear();
      for (const Row& parameter : range_call.parameters) call.parameters.push_back(parameter.values[step]);
      const Window window{&series.times[begin], &series.values[begin], end - begin, TimeOf(step), from, to,
                          range_seconds};
      const std::optional<double> value = range_call.function(window, &call);
      if (!call.status.ok()) return call.status;
      if (value) row.Set(step, *value);
    }
    if (row.IsEmpty()) continue;
    const std::string_view metric = LabelOf(series.labels, kMetricLabel);
    if (range_call.is_of_counters && !metric.empty() && !IsCounterName(metric)) {
      made->annotations.Inform(
          fmt::format("metric might not be a counter, name does not end in _total/_sum/_count/_bucket: {}",
                      Quoted(metric)),
          range_call.place);
    }
    made->rows.push_back(std::move(row));
  }
  return absl::OkStatus();
}

absl::StatusOr<Matrix> Evaluator::AbsentOverTime(const Expression& node, const Matrix& rows) {
  return Absent(node, rows);
}

}  // namespace sonde::promql
