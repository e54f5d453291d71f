#include "sql/relation/unpack.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/varint.h"
#include "rows/select.h"
#include "rows/work_check.h"
#include "sql/expression/evaluator.h"
#include "sql/expression/node.h"
#include "sql/value/value.h"

namespace sonde::sql {
namespace {

// A value of a history.  Fields of a history's points: the time, the value.
struct Point {
  size_t history = 0;  // index in Plan::history
  Datum qualifier;     // of maps
  Datum value;
};

class Unpack final : public Operator {
 public:
  Unpack(const QueryScope* scope, const Plan& plan, OperatorPtr from)
      : Operator(scope, "Unpack"),
        plan_(plan),
        check_(state().interrupted),
        memory_(*scope->state, name()),
        cells_(plan.history.size()) {
    history_of_.resize(plan.types.size() - 1);
    for (size_t i = 0; i < plan.history.size(); ++i) history_of_[plan.history[i].column] = i;
    AddInput(std::move(from));
  }

  void Restart() override {
    Operator::Restart();
    Forget();
    in_.rows = row_ = 0;
    resumed_.reset();
  }

  bool HasPlaces() const override { return input().HasPlaces(); }
  void SavePlace(size_t rows, std::string* place) const override;
  bool RestorePlace(std::string_view* place) override;
  std::string_view SourceKey(size_t row) const override { return input().SourceKey(rows_[row]); }

 private:
  // A place within a row.
  struct Within {
    std::string key;          // of the row
    int64_t time_micros = 0;  // the last that was given of it
  };

  // How many times a row has is not known.
  std::optional<double> EstimateRows() const override { return std::nullopt; }
  absl::StatusOr<bool> Produce(rows::Batch* batch) override;
  // Finds the points of a row, in the order of their times.
  absl::Status FindPoints(size_t row);
  void AddPoints(size_t history, const Datum& qualifier, const Datum& points);
  void SkipResumed(size_t row);
  void Forget();
  // Appends the row of the next time.
  void TakeTime();
  void TakeMap(size_t history, absl::Span<const size_t> points);
  void Give(rows::Batch* batch);

  const Plan& plan_;
  rows::WorkCheck check_;
  OperatorMemory memory_;
  std::vector<std::optional<size_t>> history_of_;  // by column of the input
  std::optional<Within> resumed_;

  rows::Batch in_;
  size_t row_ = 0;  // of in_, whose times come next
  // Of this row, if is_row_begun_:
  bool is_row_begun_ = false;
  TimeRange wanted_;  // other points are left out
  std::vector<Point> points_;
  std::vector<int64_t> ages_;  // of points_: their times with the sign turned, so that they ascend
  std::vector<size_t> order_;  // of points_, newest first
  size_t next_ = 0;            // in order_

  // The last batch that was given.
  size_t first_row_ = 0;
  std::optional<int64_t> given_before_;  // of its first row: the last time that batches before gave
  std::vector<size_t> rows_;             // of in_
  std::vector<int64_t> times_;
  std::vector<std::vector<Datum>> cells_;  // by history
  Arena arena_;
};

void Unpack::SavePlace(size_t rows, std::string* place) const {
  const bool is_within = rows > 0 || given_before_.has_value();
  const size_t row = rows > 0 ? rows_[rows - 1] : first_row_;
  PutVarint(place, is_within ? 1 : 0);
  if (is_within) {
    PutBytes(place, input().SourceKey(row));
    PutVarint(place, ZigZag(rows > 0 ? times_[rows - 1] : *given_before_));
  }
  input().SavePlace(row, place);
}

bool Unpack::RestorePlace(std::string_view* place) {
  uint64_t is_within = 0;
  if (!GetVarint(place, &is_within) || is_within > 1) return false;
  if (is_within == 1) {
    std::string_view key;
    uint64_t time = 0;
    if (!GetBytes(place, &key) || !GetVarint(place, &time)) return false;
    resumed_ = Within{std::string(key), UnZigZag(time)};
  }
  return input().RestorePlace(place);
}

void Unpack::AddPoints(size_t history, const Datum& qualifier, const Datum& points) {
  if (!points.is_there) return;
  for (const Datum& point : points.list()) {
    DCHECK(point.size == 2);
    if (!wanted_.Contains(point.items[0].integer)) continue;
    points_.push_back({history, qualifier, point.items[1]});
    ages_.push_back(-point.items[0].integer);
  }
}

void Unpack::Forget() {
  points_.clear();
  ages_.clear();
  order_.clear();
  next_ = 0;
  is_row_begun_ = false;
}

absl::Status Unpack::FindPoints(size_t row) {
  Forget();
  is_row_begun_ = true;
  if (state().unpacked_times) wanted_ = state().unpacked_times(input().SourceKey(row));
  for (size_t i = 0; i < plan_.history.size(); ++i) {
    const Plan::History& history = plan_.history[i];
    const Datum cells = DatumAt(in_.columns[history.column], row);
    if (!history.is_map) {
      AddPoints(i, {}, cells);
      continue;
    }
    for (size_t entry = 0; cells.is_there && entry < cells.size; entry += 2) {
      AddPoints(i, cells.items[entry], cells.items[entry + 1]);
    }
  }
  if (absl::Status status = memory_.Set(points_.capacity() * (sizeof(Point) + 3 * sizeof(int64_t)));
      !status.ok()) {
    return status;
  }
  absl::StatusOr<std::vector<size_t>> order = rows::OrderByTime(ages_, &check_);
  if (!order.ok()) return order.status();
  order_ = *std::move(order);
  SkipResumed(row);
  return absl::OkStatus();
}

void Unpack::SkipResumed(size_t row) {
  if (!resumed_.has_value()) return;
  if (input().SourceKey(row) == resumed_->key) {
    while (next_ < order_.size() && -ages_[order_[next_]] >= resumed_->time_micros) ++next_;
    given_before_ = resumed_->time_micros;
  }
  resumed_.reset();
}

void Unpack::TakeTime() {
  const int64_t age = ages_[order_[next_]];
  size_t end = next_ + 1;
  while (end < order_.size() && ages_[order_[end]] == age) ++end;
  const auto points = absl::MakeConstSpan(order_).subspan(next_, end - next_);
  rows_.push_back(row_);
  times_.push_back(-age);
  for (size_t i = 0; i < plan_.history.size(); ++i) {
    if (plan_.history[i].is_map) {
      TakeMap(i, points);
    } else {
      const auto point =
          std::ranges::find_if(points, [&](size_t place) { return points_[place].history == i; });
      cells_[i].push_back(point == points.end() ? Datum::Missing() : points_[*point].value);
    }
  }
  next_ = end;
}

// Points of one time are in the order in which they were added: qualifiers ascend.
void Unpack::TakeMap(size_t history, absl::Span<const size_t> points) {
  const auto entries =
      std::ranges::count_if(points, [&](size_t place) { return points_[place].history == history; });
  auto* const items = arena_.New<Datum>(2 * entries);
  size_t item = 0;
  for (const size_t place : points) {
    if (points_[place].history != history) continue;
    items[item++] = points_[place].qualifier;
    items[item++] = points_[place].value;
  }
  cells_[history].push_back(Datum::List({items, item}));
}

void Unpack::Give(rows::Batch* batch) {
  batch->rows = rows_.size();
  if (rows_.empty()) return;
  const bool is_one_row = rows_.front() == rows_.back();
  for (size_t i = 0; i < in_.columns.size(); ++i) {
    const ColumnView& column = in_.columns[i];
    if (history_of_[i].has_value()) {
      batch->columns.push_back(ColumnOfData(plan_.types[i], cells_[*history_of_[i]], &arena_));
    } else if (is_one_row) {
      batch->columns.push_back(ColumnView::Constant(column.Part(rows_[0], 1), rows_.size()));
    } else {
      batch->columns.push_back(Gather(column, rows_, &arena_));
    }
  }
  batch->columns.push_back(ColumnView::OfInts(times_));
}

absl::StatusOr<bool> Unpack::Produce(rows::Batch* batch) {
  arena_.Clear();
  rows_.clear();
  times_.clear();
  for (std::vector<Datum>& cells : cells_) cells.clear();
  if (row_ >= in_.rows) {
    row_ = 0;
    const absl::StatusOr<bool> more = input().Next(&in_);
    if (!more.ok() || !*more) {
      in_.rows = 0;
      return more;
    }
  }
  first_row_ = row_;
  const bool is_begun = is_row_begun_ && next_ > 0;
  given_before_ = is_begun ? std::optional<int64_t>(-ages_[order_[next_ - 1]]) : std::nullopt;
  while (row_ < in_.rows && rows_.size() < rows::kBatchRowsMax) {
    if (!is_row_begun_) {
      if (absl::Status status = FindPoints(row_); !status.ok()) return status;
    }
    while (next_ < order_.size() && rows_.size() < rows::kBatchRowsMax) TakeTime();
    if (next_ < order_.size()) break;
    Forget();
    ++row_;
  }
  Give(batch);
  return true;
}

}  // namespace

OperatorPtr MakeUnpack(const QueryScope* scope, const Plan& plan, OperatorPtr input) {
  return std::make_unique<Unpack>(scope, plan, std::move(input));
}

}  // namespace sonde::sql
