#include "sql/series/newest_buckets.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "rows/batch.h"
#include "sql/expression/evaluator.h"
#include "sql/plan/try.h"
#include "sql/series/point_selection.h"
#include "sql/series/series_parts.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

constexpr int64_t kFirstSpanMicros = int64_t{3'600} * 1'000'000;
// How much longer the next span of time is; and if there was nothing at all in this one.
constexpr int64_t kWider = 8;
constexpr int64_t kMuchWider = 64;
constexpr int64_t kAllPoints = std::numeric_limits<int64_t>::min();  // as ExecutionState::points_from_micros
constexpr int64_t kLastSpanMicros = int64_t{10} * 365 * 86'400 * 1'000'000;

// Buckets that begin no earlier for a later time.  In a time zone they may.
constexpr std::array<std::string_view, 4> kBuckets = {"TIMESTAMP_TRUNC", "TIMESTAMP_BUCKET", "TIME_BUCKET",
                                                      "DATE_BIN"};
constexpr size_t kZoneArgument = 2;  // of TIMESTAMP_TRUNC, where the buckets of others have their origin

// What an expression of the columns of *plan is below filters and projections: of the columns of what *plan is then.
const Expression* Below(const Expression* expression, const Plan** plan) {
  while (true) {
    if ((*plan)->kind == Plan::Kind::kProject && expression->kind == Expression::Kind::kColumn) {
      expression = (*plan)->expressions[expression->index].get();
    } else if ((*plan)->kind != Plan::Kind::kFilter) {
      return expression;
    }
    *plan = (*plan)->inputs[0].get();
  }
}

struct NewestBucketsQuery {
  const Plan::SeriesScan* scan = nullptr;
  const Expression* bucket = nullptr;  // of the time
  size_t bucket_column = 0;            // of the answer
  size_t time_argument = 0;            // of `bucket`, if it is a call
};

// The argument that is a column, if all others are constants.
std::optional<size_t> OnlyColumn(const Expression& call) {
  std::optional<size_t> found;
  for (size_t i = 0; i < call.arguments.size(); ++i) {
    if (IsConstant(*call.arguments[i])) continue;
    if (found.has_value() || call.arguments[i]->kind != Expression::Kind::kColumn) return std::nullopt;
    found = i;
  }
  return found;
}

bool IsBucket(const Expression& call) {
  if (call.kind != Expression::Kind::kCall || call.function == nullptr || call.is_safe) return false;
  const std::string_view name = call.function->name;
  if (std::ranges::find(kBuckets, name) == kBuckets.end()) return false;
  return name != kBuckets[0] || call.arguments.size() <= kZoneArgument;
}

std::optional<NewestBucketsQuery> Recognize(const Plan& plan) {
  if (plan.kind != Plan::Kind::kLimit || plan.limit == nullptr || plan.inputs[0]->kind != Plan::Kind::kSort)
    return std::nullopt;
  const Plan& sort = *plan.inputs[0];
  if (sort.sort.size() != 1 || !sort.sort[0].descending ||
      sort.sort[0].expr->kind != Expression::Kind::kColumn) {
    return std::nullopt;
  }
  NewestBucketsQuery query{.bucket_column = sort.sort[0].expr->index};
  const Plan* below = sort.inputs[0].get();
  const Expression* key = Below(sort.sort[0].expr.get(), &below);
  const bool is_key = below->kind == Plan::Kind::kAggregate && below->expressions.size() == 1 &&
                      key->kind == Expression::Kind::kColumn && key->index == 0;
  if (!is_key || below->inputs.empty()) return std::nullopt;
  const Expression* const of_group = below->expressions[0].get();
  below = below->inputs[0].get();
  query.bucket = Below(of_group, &below);
  const Expression* time = query.bucket;
  if (time->kind != Expression::Kind::kColumn) {
    if (!IsBucket(*time)) return std::nullopt;
    const std::optional<size_t> argument = OnlyColumn(*time);
    if (!argument.has_value()) return std::nullopt;
    query.time_argument = *argument;
    time = Below(time->arguments[*argument].get(), &below);
  }
  if (time->kind != Expression::Kind::kColumn || below->kind != Plan::Kind::kSeries ||
      below->series->IsOfNewest())
    return std::nullopt;
  if (below->series->columns[time->index].kind != SeriesColumn::Kind::kTime) return std::nullopt;
  query.scan = below->series.get();
  return query;
}

class NewestBuckets final : public Operator {
 public:
  NewestBuckets(const QueryScope* scope, const Plan& plan, const NewestBucketsQuery& query, BuildPart build,
                size_t rows_wanted)
      : Operator(scope, "NewestBuckets"),
        plan_(plan),
        query_(query),
        build_(std::move(build)),
        rows_wanted_(rows_wanted) {
    const ExecutionState& whole = *scope->state;
    state_.tables = whole.tables;
    state_.deadline = whole.deadline;
    state_.interrupted = whole.interrupted;
    state_.hold = whole.hold;
    state_.caller = whole.caller;
    state_.evaluation = whole.evaluation;
    state_.spill = whole.spill;
    if (whole.divide_series)
      state_.divide_series = [this](const Plan::SeriesScan& scan) { return DivideSeries(&scope_, scan); };
    scope_.state = &state_;
    scope_.idle_workers = scope->idle_workers;
  }

  // The points that the scan selects.
  absl::Status Start(const series::Selection& points) {
    from_micros_ = points.from_micros;
    end_micros_ = std::min(points.to_micros, state_.evaluation.facts.now_micros);
    return Begin();
  }

  void Restart() override {
    Operator::Restart();
    is_settled_ = false;
  }

 private:
  // The operators for the points since now - span_micros_, or for all.
  absl::Status Begin() {
    const int64_t since_micros = end_micros_ - span_micros_;
    const bool reads_all = span_micros_ > kLastSpanMicros || since_micros <= from_micros_;
    state_.points_from_micros = reads_all ? kAllPoints : since_micros;
    SONDE_TRY_SET(OperatorPtr of_span, build_(&scope_, plan_));
    AddInput(std::move(of_span));
    return absl::OkStatus();
  }

  // The bucket that a time is in.
  absl::StatusOr<int64_t> BucketOf(int64_t micros) const {
    if (query_.bucket->kind == Expression::Kind::kColumn) return micros;
    const ExpressionPtr call = Clone(*query_.bucket);
    ExpressionPtr& time = call->arguments[query_.time_argument];
    time = MakeLiteral(Value(time->type, Datum::Int(micros)));
    SONDE_TRY_SET(const Value bucket, EvaluateConstant(*call, state_.evaluation));
    return bucket.datum().integer;
  }

  // Whether the first batch is the whole answer.
  absl::StatusOr<bool> IsAnswer(bool has_rows, const rows::Batch& batch) const {
    if (state_.points_from_micros == kAllPoints) return true;
    if (!has_rows || batch.rows < rows_wanted_) return false;
    SONDE_TRY_SET(const int64_t first_bucket, BucketOf(*state_.points_from_micros));
    const Datum last = DatumAt(batch.columns[query_.bucket_column], rows_wanted_ - 1);
    return last.is_there && last.integer > first_bucket;
  }

  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    while (true) {
      const uint64_t before = state_.rows_scanned.load(std::memory_order_relaxed);
      SONDE_TRY_SET(const bool more, input(inputs() - 1).Next(batch));
      state().CountScanned(state_.rows_scanned.load(std::memory_order_relaxed) - before);
      if (is_settled_) return more;
      SONDE_TRY_SET(is_settled_, IsAnswer(more, *batch));
      if (is_settled_) return more;
      input(inputs() - 1).Suspend();
      span_micros_ *= more ? kWider : kMuchWider;
      SONDE_TRY(Begin());
    }
  }

  std::optional<double> EstimateRows() const override { return static_cast<double>(rows_wanted_); }
  std::string Details(bool has_run) const override {
    const std::string text = fmt::format("the {} newest buckets", rows_wanted_);
    return has_run && inputs() > 1 ? text + fmt::format(", {} spans of time", inputs()) : text;
  }

  const Plan& plan_;
  const NewestBucketsQuery query_;
  const BuildPart build_;
  const size_t rows_wanted_;
  int64_t from_micros_ = 0;
  int64_t end_micros_ = 0;
  int64_t span_micros_ = kFirstSpanMicros;
  bool is_settled_ = false;  // the last input gives the answer
  ExecutionState state_;
  QueryScope scope_;
};

}  // namespace

absl::StatusOr<OperatorPtr> MakeNewestBuckets(const QueryScope* scope, const Plan& plan,
                                              const BuildPart& build) {
  // Such a query within another, or within itself, is read as it is.
  if (!scope->outer.empty() || scope->state->tables == nullptr ||
      scope->state->points_from_micros.has_value() || scope->state->scan_ranges != nullptr) {
    return nullptr;
  }
  const std::optional<NewestBucketsQuery> query = Recognize(plan);
  if (!query.has_value()) return nullptr;
  SONDE_TRY_SET(const Value limit, EvaluateConstant(*plan.limit, *scope->evaluation()));
  // The answer is looked at in one batch.
  const bool is_some = !limit.is_null() && limit.datum().integer > 0 &&
                       limit.datum().integer <= static_cast<int64_t>(rows::kBatchRowsMax);
  if (!is_some) return nullptr;
  SONDE_TRY_SET(const PointSelection points, SelectPoints(*query->scan, *scope->evaluation()));
  if (points.is_empty) return nullptr;
  auto newest =
      std::make_unique<NewestBuckets>(scope, plan, *query, build, static_cast<size_t>(limit.datum().integer));
  SONDE_TRY(newest->Start(points.query.selection));
  return newest;
}

}  // namespace sonde::sql
