#include "promql/evaluate/engine.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "promql/evaluate/evaluator.h"
#include "promql/evaluate/preparation.h"
#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

const Expression& WithoutParens(const Expression& query) {
  const Expression* inner = &query;
  while (inner->kind == ExpressionKind::kParen) inner = inner->operands[0].get();
  return *inner;
}

absl::Status EvaluateInto(const Expression& query, Evaluator* evaluator, bool is_instant, QueryStats* stats,
                          QueryAnswer* answer) {
  answer->type = TypeOf(query);
  const Expression& inner = WithoutParens(query);
  if (answer->type == ValueType::kString) {
    answer->text = inner.text;
    return absl::OkStatus();
  }
  if (answer->type == ValueType::kMatrix) {
    absl::StatusOr<std::vector<SampleSeries>> raw = evaluator->ReadRange(inner);
    if (!raw.ok()) return raw.status();
    std::erase_if(*raw, [](const SampleSeries& series) { return series.times.empty(); });
    if (inner.kind == ExpressionKind::kRange) {
      for (const SampleSeries& series : *raw)
        stats->samples_total += static_cast<int64_t>(series.times.size());
    }
    answer->raw = *std::move(raw);
    std::sort(answer->raw.begin(), answer->raw.end(),
              [](const SampleSeries& a, const SampleSeries& b) { return a.labels < b.labels; });
    return absl::OkStatus();
  }
  absl::StatusOr<Matrix> rows = evaluator->Evaluate(query);
  if (!rows.ok()) return rows.status();
  answer->rows = *std::move(rows);
  if (!is_instant) {
    std::erase_if(answer->rows, [](const Row& row) { return row.IsEmpty(); });
    SortByLabels(&answer->rows);
    answer->type = ValueType::kMatrix;
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status QueryContext::Interrupted() const {
  return settings_.interrupted ? settings_.interrupted() : absl::OkStatus();
}

absl::Status QueryContext::Hold(int64_t values) {
  const absl::MutexLock lock(&mutex_);
  held_ += values;
  if (held_ > settings_.samples_max) {
    return absl::ResourceExhaustedError(
        "query processing would load too many samples into memory in query execution");
  }
  const int64_t more = held_ - stats_.samples_peak;
  if (more <= 0) return absl::OkStatus();
  stats_.samples_peak = held_;
  return settings_.hold ? settings_.hold(more * kValueBytes) : absl::OkStatus();
}

absl::StatusOr<QueryAnswer> EvaluateQuery(Expression* query, const EvaluateSettings& settings,
                                          SampleSource* source) {
  const bool is_instant = settings.step_millis == 0;
  const ValueType type = TypeOf(*query);
  if (!is_instant && type != ValueType::kVector && type != ValueType::kScalar) {
    return absl::InvalidArgumentError(
        fmt::format("invalid expression type \"{}\" for range query, must be Scalar or instant Vector",
                    DocumentedName(type)));
  }
  const int64_t end = is_instant ? settings.start_millis : settings.end_millis;
  if (absl::Status status = Prepare(query, {settings.start_millis, end, settings.step_millis});
      !status.ok()) {
    return status;
  }
  QueryContext context(settings, source);
  Evaluator evaluator(&context, settings.start_millis, end, is_instant ? 1 : settings.step_millis);
  evaluator.ShareLeaves(*query);
  QueryAnswer answer;
  const absl::Status status = EvaluateInto(*query, &evaluator, is_instant, &context.stats(), &answer);
  if (!status.ok()) return status;
  for (size_t step = 0; step < evaluator.steps(); ++step) answer.times.push_back(evaluator.TimeOf(step));
  answer.annotations = std::move(context.annotations());
  answer.stats = context.stats();
  return answer;
}

}  // namespace sonde::promql
