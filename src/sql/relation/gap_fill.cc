#include "sql/relation/gap_fill.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/numeric/int128.h"
#include "rows/column.h"
#include "rows/work_check.h"
#include "sql/expression/evaluator.h"
#include "sql/operator/sort_order.h"
#include "sql/spill/row_buffer.h"
#include "sql/time/calendar.h"
#include "sql/time/time_bucket.h"

namespace sonde::sql {
namespace {

using Method = GapFill::Method;

// Where buckets begin: microseconds of timestamps, days of dates.
class BucketLine {
 public:
  static absl::StatusOr<BucketLine> Create(const GapFill& fill, bool is_date,
                                           const EvaluationContext& evaluation);

  // The bucket that a time lies in, by number.
  int64_t BucketOf(int64_t time) const {
    if (months_ == 0) return FloorDivide(time - origin_, width_);
    return BucketOfMonths(time, months_, origin_);
  }
  // Nothing: it begins outside of the range of the type.
  std::optional<int64_t> StartOf(int64_t bucket) const {
    std::optional<int64_t> start;
    if (months_ != 0) {
      start = AddToDate({.kind = DatePartKind::kMonth}, origin_, bucket * months_);
    } else {
      start = origin_ + bucket * width_;
    }
    const bool is_there = start.has_value() && (is_date_ ? IsDate(*start) : IsTimestamp(*start));
    return is_there ? start : std::nullopt;
  }
  // The first bucket that begins at a time or later.
  int64_t FirstFrom(int64_t time) const {
    const int64_t bucket = BucketOf(time);
    const std::optional<int64_t> start = StartOf(bucket);
    return start.has_value() && *start >= time ? bucket : bucket + 1;
  }

 private:
  bool is_date_ = false;
  int64_t origin_ = 0;
  int64_t width_ = 0;
  int64_t months_ = 0;  // of dates; 0: width_
};

absl::StatusOr<int64_t> ArgumentOfGapFill(const Expression& expression, std::string_view name,
                                          const EvaluationContext& evaluation) {
  const absl::StatusOr<Value> value = EvaluateConstant(expression, evaluation);
  if (!value.ok()) return value.status();
  if (!value->is_null()) return value->datum().integer;
  return absl::OutOfRangeError(fmt::format("Argument {} of GAP_FILL must not be NULL", name));
}

absl::StatusOr<BucketInterval> IntervalOfGapFill(const IntervalArgument& argument, std::string_view name,
                                                 const EvaluationContext& evaluation) {
  const absl::StatusOr<int64_t> count = ArgumentOfGapFill(*argument.count, name, evaluation);
  if (!count.ok()) return count.status();
  absl::StatusOr<BucketInterval> interval = BucketIntervalOf(*count, argument.part);
  if (!interval.ok()) return interval;
  if (interval->months + interval->days + interval->micros > 0) return interval;
  return absl::OutOfRangeError(fmt::format(
      "Argument {} of GAP_FILL must be more than 0, but is INTERVAL {} {}", name, *count, argument.part));
}

absl::StatusOr<BucketLine> BucketLine::Create(const GapFill& fill, bool is_date,
                                              const EvaluationContext& evaluation) {
  constexpr int64_t kOrigin = -7'305;  // 1950-01-01
  const absl::StatusOr<BucketInterval> width = IntervalOfGapFill(fill.width, "bucket_width", evaluation);
  if (!width.ok()) return width.status();
  BucketLine line;
  line.is_date_ = is_date;
  if (is_date ? width->micros != 0 : width->months != 0) {
    return absl::OutOfRangeError(
        fmt::format("Argument bucket_width of GAP_FILL must be {}, but is of {}",
                    is_date ? "of DAY, MONTH and longer for a DATE" : "of DAY and shorter for a TIMESTAMP",
                    fill.width.part));
  }
  line.months_ = width->months;
  line.width_ = is_date ? width->days : width->days * kMicrosPerDay + width->micros;
  line.origin_ = is_date ? kOrigin : kOrigin * kMicrosPerDay;
  if (fill.origin == nullptr) return line;
  const absl::StatusOr<int64_t> origin = ArgumentOfGapFill(*fill.origin, "origin", evaluation);
  if (!origin.ok()) return origin.status();
  line.origin_ = *origin;
  return line;
}

struct FillSettings {
  BucketLine line;
  std::optional<int64_t> gap_max;      // in the unit of the time
  std::optional<int64_t> range_start;  // inclusive
  std::optional<int64_t> range_end;    // exclusive
};

absl::StatusOr<FillSettings> SettingsOf(const GapFill& fill, bool is_date,
                                        const EvaluationContext& evaluation) {
  FillSettings settings;
  absl::StatusOr<BucketLine> line = BucketLine::Create(fill, is_date, evaluation);
  if (!line.ok()) return line.status();
  settings.line = *line;
  const std::tuple<const Expression*, std::string_view, std::optional<int64_t>*> bounds[] = {
      {fill.range_start.get(), "range_start", &settings.range_start},
      {fill.range_end.get(), "range_end", &settings.range_end}};
  for (const auto& [expression, name, to] : bounds) {
    if (expression == nullptr) continue;
    const absl::StatusOr<int64_t> bound = ArgumentOfGapFill(*expression, name, evaluation);
    if (!bound.ok()) return bound.status();
    *to = *bound;
  }
  if (fill.gap_max.count == nullptr) return settings;
  const absl::StatusOr<BucketInterval> gap = IntervalOfGapFill(fill.gap_max, "max_gap", evaluation);
  if (!gap.ok()) return gap.status();
  if (gap->months != 0 || (is_date && gap->micros != 0)) {
    return absl::OutOfRangeError(fmt::format("Argument max_gap of GAP_FILL must be of {}, but is of {}",
                                             is_date ? "DAY" : "DAY and shorter", fill.gap_max.part));
  }
  settings.gap_max = is_date ? gap->days : gap->days * kMicrosPerDay + gap->micros;
  return settings;
}

// Fills one column of a partition, bucket after bucket.
class ColumnFill {
 public:
  ColumnFill(Method method, const FillSettings& settings, bool ignores_nulls, const int64_t* times,
             size_t rows, const ColumnView& values)
      : method_(method),
        settings_(settings),
        ignores_nulls_(ignores_nulls),
        times_(times),
        rows_(rows),
        values_(values) {}

  // `behind`: the first row after `time`.  Both never go back.
  void Append(int64_t time, size_t behind, rows::Column* results) {
    while (seen_ < behind) {
      if (Counts(seen_)) before_ = seen_;
      ++seen_;
    }
    if (!before_.has_value()) return results->AppendMissing();
    if (times_[*before_] == time) return AppendPlace(*before_, results);
    if (method_ == Method::kNull) return results->AppendMissing();
    if (method_ == Method::kLocf) {
      if (IsTooFar(times_[*before_], time)) return results->AppendMissing();
      return AppendPlace(*before_, results);
    }
    next_ = std::max(next_, behind);
    while (next_ < rows_ && !Counts(next_)) ++next_;
    if (next_ == rows_ || IsTooFar(times_[*before_], times_[next_])) return results->AppendMissing();
    AppendBetween(time, results);
  }

 private:
  bool Counts(size_t row) const { return !ignores_nulls_ || values_.IsThere(row); }
  bool IsTooFar(int64_t from, int64_t to) const {
    return settings_.gap_max && to - from > *settings_.gap_max;
  }
  void AppendPlace(size_t row, rows::Column* results) const { results->AppendPlaces(values_, {&row, 1}); }

  void AppendBetween(int64_t time, rows::Column* results) const {
    if (!values_.IsThere(*before_) || !values_.IsThere(next_)) return results->AppendMissing();
    const int64_t from = times_[*before_];
    const int64_t passed = time - from;
    const int64_t all = times_[next_] - from;
    if (values_.type() == ColumnType::kDouble) {
      const double a = values_.doubles()[values_.PlaceOf(*before_)];
      const double b = values_.doubles()[values_.PlaceOf(next_)];
      const double part = static_cast<double>(passed) / static_cast<double>(all);
      return results->AppendDouble(a * (1 - part) + b * part);
    }
    // To the nearest whole number, halves away from 0.
    const absl::int128 a = values_.ints()[values_.PlaceOf(*before_)];
    const absl::int128 b = values_.ints()[values_.PlaceOf(next_)];
    const absl::int128 scaled = a * (all - passed) + b * passed;
    const absl::int128 rounded = (scaled < 0 ? scaled - all / 2 : scaled + all / 2) / all;
    results->AppendInt(static_cast<int64_t>(rounded));
  }

  const Method method_;
  const FillSettings& settings_;
  const bool ignores_nulls_;
  const int64_t* const times_;
  const size_t rows_;
  const ColumnView values_;
  size_t seen_ = 0;
  std::optional<size_t> before_;  // the last row so far that counts
  size_t next_ = 0;
};

class GapFillOperator final : public Operator {
 public:
  GapFillOperator(const QueryScope* scope, const Plan& plan, FillSettings settings, OperatorPtr from)
      : Operator(scope, "GapFill"),
        plan_(plan),
        fill_(*plan.gap_fill),
        settings_(std::move(settings)),
        held_(plan.types),
        check_(state().interrupted),
        memory_(*scope->state, name()) {
    for (const Type& type : plan.types) results_.emplace_back(ColumnTypeOf(type));
    AddInput(std::move(from));
  }

  void Restart() override {
    Operator::Restart();
    held_.Release();
    next_ = {};
    next_row_ = 0;
    fills_.clear();
    is_over_ = false;
    memory_.Clear();
  }

 private:
  // Holds the rows of the next partition whose time is not NULL; false: there are no more partitions.
  absl::StatusOr<bool> HoldPartition();
  std::vector<SortColumn> Keys(absl::Span<const ColumnView> columns) const {
    std::vector<SortColumn> keys;
    for (size_t i = 1; i <= fill_.partition_columns; ++i) keys.push_back({columns[i]});
    return keys;
  }
  absl::Status BeginPartition();
  // How wide gaps are is not known.
  std::optional<double> EstimateRows() const override { return std::nullopt; }
  absl::StatusOr<bool> Produce(rows::Batch* batch) override;

  const Plan& plan_;
  const GapFill& fill_;
  const FillSettings settings_;
  RowBuffer held_;
  rows::Batch next_;  // of the input
  size_t next_row_ = 0;
  bool is_over_ = false;
  std::vector<ColumnFill> fills_;  // of the partition that is held; empty: of none
  int64_t bucket_ = 0;
  int64_t bucket_end_ = 0;
  size_t behind_ = 0;
  std::vector<rows::Column> results_;
  rows::WorkCheck check_;
  OperatorMemory memory_;
};

absl::StatusOr<bool> GapFillOperator::HoldPartition() {
  held_.Clear();
  std::vector<size_t> places;
  while (true) {
    if (next_row_ == next_.rows) {
      next_row_ = 0;
      next_ = {};
      const absl::StatusOr<bool> more = input().Next(&next_);
      if (!more.ok()) return more.status();
      if (!*more) {
        is_over_ = true;
        return held_.rows() > 0;
      }
    }
    const std::vector<SortColumn> keys = Keys(next_.columns);
    if (held_.rows() > 0 && CompareRows(Keys(held_.Views()), 0, keys, next_row_) != 0) return true;
    places.clear();
    size_t end = next_row_;
    while (end < next_.rows && CompareRows(keys, next_row_, keys, end) == 0) {
      if (next_.columns[0].IsThere(end)) places.push_back(end);
      ++end;
    }
    held_.AppendPlaces(next_.columns, places);
    next_row_ = end;
    if (absl::Status status = check_.Step(places.size()); !status.ok()) return status;
    if (absl::Status status = memory_.Set(held_.MemoryBytes()); !status.ok()) return status;
  }
}

absl::Status GapFillOperator::BeginPartition() {
  fills_.clear();
  const int64_t* const times = held_.View(0).ints();
  const size_t rows = held_.rows();
  bucket_ = settings_.line.FirstFrom(settings_.range_start.value_or(times[0]));
  // The last bucket begins at the last row or before it; or before the end of the range.
  bucket_end_ = settings_.range_end ? settings_.line.FirstFrom(*settings_.range_end)
                                    : settings_.line.BucketOf(times[rows - 1]) + 1;
  behind_ = 0;
  if (bucket_end_ - bucket_ > kGapFillBucketsMax) {
    return absl::OutOfRangeError(fmt::format("GAP_FILL makes {} buckets of a partition; the limit is {}",
                                             bucket_end_ - bucket_, kGapFillBucketsMax));
  }
  for (size_t i = 0; i < fill_.methods.size(); ++i) {
    fills_.emplace_back(fill_.methods[i], settings_, fill_.ignores_nulls, times, rows,
                        held_.View(1 + fill_.partition_columns + i));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> GapFillOperator::Produce(rows::Batch* batch) {
  while (bucket_ >= bucket_end_) {
    if (is_over_) return false;
    const absl::StatusOr<bool> more = HoldPartition();
    if (!more.ok()) return more.status();
    if (!*more) return false;
    if (absl::Status status = BeginPartition(); !status.ok()) return status;
  }
  for (rows::Column& column : results_) column.Clear();
  const int64_t* const times = held_.View(0).ints();
  size_t rows = 0;
  for (; rows < rows::kBatchRowsMax && bucket_ < bucket_end_; ++bucket_) {
    const std::optional<int64_t> time = settings_.line.StartOf(bucket_);
    if (!time.has_value()) continue;
    while (behind_ < held_.rows() && times[behind_] <= *time) ++behind_;
    results_[0].AppendInt(*time);
    for (size_t i = 0; i < fills_.size(); ++i) {
      fills_[i].Append(*time, behind_, &results_[1 + fill_.partition_columns + i]);
    }
    ++rows;
  }
  if (absl::Status status = check_.Step(rows * results_.size()); !status.ok()) return status;
  batch->rows = rows;
  for (size_t i = 0; i < results_.size(); ++i) {
    const bool is_of_partition = i > 0 && i <= fill_.partition_columns;
    batch->columns.push_back(is_of_partition ? ColumnView::Constant(held_.View(i).Part(0, 1), rows)
                                             : results_[i].View());
  }
  return true;
}

}  // namespace

absl::StatusOr<OperatorPtr> MakeGapFill(const QueryScope* scope, const Plan& plan, OperatorPtr input) {
  absl::StatusOr<FillSettings> settings =
      SettingsOf(*plan.gap_fill, plan.types[0].Is(TypeKind::kDate), *scope->evaluation());
  if (!settings.ok()) return settings.status();
  return std::make_unique<GapFillOperator>(scope, plan, *std::move(settings), std::move(input));
}

}  // namespace sonde::sql
