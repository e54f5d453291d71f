// Calls over ranges and subqueries: a value of the samples in each window.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "promql/evaluate/evaluator.h"
#include "promql/functions/extended_windows.h"
#include "promql/functions/window_functions.h"
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

Extension ExtensionOf(const Expression& range) {
  return range.kind == ExpressionKind::kRange ? range.operands[0]->extension : Extension::kNone;
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
  WindowMargins margins;
  Range place;  // of what infos say
};

std::optional<size_t> Evaluator::RangeOfLeaf(const Expression& node) {
  if (node.kind != ExpressionKind::kCall || FindWindowFunction(node.function->name) == nullptr) {
    return std::nullopt;
  }
  std::optional<size_t> range;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    const Expression& operand = *node.operands[i];
    if (operand.kind == ExpressionKind::kNumber) continue;
    if (range || operand.kind != ExpressionKind::kRange || operand.is_step_invariant) return std::nullopt;
    if (operand.operands[0]->extension != Extension::kNone) return std::nullopt;
    range = i;
  }
  return range;
}

Evaluator::RangeCall Evaluator::MakeRangeCall(const Expression& node, size_t range_index,
                                              std::vector<Row> parameters) const {
  const std::string_view name = node.function->name;
  const Expression& argument = *node.operands[range_index];
  RangeCall call{.node = &node, .function = FindWindowFunction(name), .parameters = std::move(parameters)};
  call.shift = argument.kind == ExpressionKind::kRange ? &argument.operands[0]->shift : &argument.shift;
  const Extension extension = ExtensionOf(argument);
  if (extension != Extension::kNone) call.function = FindExtendedFunction(name, extension);
  call.margins = MarginsOf(extension, context_->settings().lookback_millis);
  call.range_nanos = argument.range.nanos;
  call.keeps_name = name == "last_over_time" || name == "first_over_time";
  call.is_of_counters = name == "rate" || name == "increase";
  // Prometheus has lost the place of a subquery here.
  if (argument.kind != ExpressionKind::kSubquery || range_index != 0) call.place = node.operands[0]->place;
  return call;
}

Leaf Evaluator::LeafOfCall(const Expression& node, size_t range_index) const {
  std::vector<Row> parameters;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (i != range_index) parameters.push_back(std::move(Constant(node.operands[i]->number)[0]));
  }
  return LeafOfRange(
      std::make_shared<const RangeCall>(MakeRangeCall(node, range_index, std::move(parameters))),
      *node.operands[range_index]);
}

Leaf Evaluator::LeafOfRange(std::shared_ptr<const RangeCall> call, const Expression& range) const {
  const Expression& selector = *range.operands[0];
  Leaf leaf{.node = call->node, .matchers = &selector.matchers};
  leaf.start_millis =
      ReferenceTime(selector.shift, 0) - range.range.nanos / kNanosPerMilli - call->margins.before + 1;
  leaf.end_millis = ReferenceTime(selector.shift, steps_ - 1) + call->margins.behind;
  leaf.work = [this, call = std::move(call)](SampleSeries* series, SeriesRows* made) {
    return DoWindows(*call, series, made);
  };
  return leaf;
}

absl::StatusOr<Matrix> Evaluator::CallOverRange(const Expression& node, size_t range_index) {
  const std::string_view name = node.function->name;
  std::vector<Row> parameters;
  for (size_t i = 0; i < node.operands.size(); ++i) {
    if (i == range_index) continue;
    absl::StatusOr<Matrix> value = Evaluate(*node.operands[i]);
    if (!value.ok()) return value;
    parameters.push_back(std::move((*value)[0]));
  }
  if (FindWindowFunction(name) == nullptr) {
    return absl::UnimplementedError(fmt::format("the function {} is not supported", name));
  }
  const Extension extension = ExtensionOf(*node.operands[range_index]);
  if (extension != Extension::kNone && FindExtendedFunction(name, extension) == nullptr) {
    return ExecutionError(fmt::format("{} modifier can only be used with: {} - not with {}",
                                      extension == Extension::kAnchored ? "anchored" : "smoothed",
                                      ExtendedFunctionNames(extension), name));
  }
  absl::StatusOr<Matrix> made = CallOverWindows(
      std::make_shared<const RangeCall>(MakeRangeCall(node, range_index, std::move(parameters))),
      *node.operands[range_index]);
  if (!made.ok()) return made;
  Matrix& rows = *made;
  if (name == "absent_over_time") return AbsentOverTime(node, rows);
  if (HasSameLabels(rows)) return SameLabelsError();
  return made;
}

absl::StatusOr<Matrix> Evaluator::CallOverWindows(std::shared_ptr<const RangeCall> call,
                                                  const Expression& range) {
  const bool keeps_name = call->keeps_name;
  absl::StatusOr<Matrix> rows;
  if (range.kind == ExpressionKind::kSubquery) {
    const int64_t used_before = context_->stats().samples_total;
    absl::StatusOr<std::vector<SampleSeries>> all = ReadRange(range);
    if (!all.ok()) return all.status();
    // Of a subquery, Prometheus counts what the windows take, and not what it was made of.
    context_->stats().samples_total = used_before;
    rows = MakeRows(*std::move(all), [this, &call](SampleSeries* series, SeriesRows* made) {
      return DoWindows(*call, series, made);
    });
  } else {
    rows = MakeRows(LeafOfRange(std::move(call), range));
  }
  if (!rows.ok() || keeps_name) return rows;
  for (Row& row : *rows) row.labels = WithoutName(std::move(row.labels));
  return rows;
}

absl::Status Evaluator::DoWindows(const RangeCall& range_call, SampleSeries* series, SeriesRows* made) const {
  const int64_t range = range_call.range_nanos / kNanosPerMilli;
  const double range_seconds = SecondsOf(range_call.range_nanos);
  WindowCall call{&made->annotations, range_call.node, {}};
  DropStale(series);
  made->samples_read += static_cast<int64_t>(series->times.size());
  Row row(std::move(series->labels), steps_);
  size_t begin = 0;
  size_t end = 0;
  int64_t unchecked = kSamplesUnchecked;
  for (size_t step = 0; step < steps_; ++step) {
    const int64_t to = ReferenceTime(*range_call.shift, step);
    const int64_t from = to - range;
    end = FirstPast(series->times, end, to + range_call.margins.behind);
    begin = FirstPast(series->times, begin, from - range_call.margins.before);
    if (begin == end) continue;
    const auto used = static_cast<int64_t>(end - begin);
    made->samples += used;
    if ((unchecked += used) >= kSamplesUnchecked) {
      unchecked = 0;
      if (absl::Status status = context_->Interrupted(); !status.ok()) return status;
    }
    call.parameters.clear();
    for (const Row& parameter : range_call.parameters) call.parameters.push_back(parameter.values[step]);
    const Window window{&series->times[begin], &series->values[begin], end - begin, TimeOf(step), from, to,
                        range_seconds};
    const std::optional<double> value = range_call.function(window, &call);
    if (!call.status.ok()) return call.status;
    if (value) row.Set(step, *value);
  }
  if (row.IsEmpty()) return absl::OkStatus();
  const std::string_view metric = LabelOf(row.labels, kMetricLabel);
  if (range_call.is_of_counters && !metric.empty() && !IsCounterName(metric)) {
    made->annotations.Inform(
        fmt::format("metric might not be a counter, name does not end in _total/_sum/_count/_bucket: {}",
                    Quoted(metric)),
        range_call.place);
  }
  made->rows.push_back(std::move(row));
  return absl::OkStatus();
}

absl::StatusOr<Matrix> Evaluator::AbsentOverTime(const Expression& node, const Matrix& rows) {
  return Absent(node, rows);
}

}  // namespace sonde::promql
