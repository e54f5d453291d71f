#include "sql/exec/streams.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "base/varint.h"
#include "sql/expression/evaluator.h"
#include "sql/operator/selectivity.h"

namespace sonde::sql {
namespace {

class SingleRow final : public Operator {
 public:
  explicit SingleRow(const QueryScope* scope) : Operator(scope, "SingleRow") {}

  void Restart() override { is_given_ = false; }
  bool HasPlaces() const override { return true; }
  void SavePlace(size_t rows, std::string* place) const override {
    PutVarint(place, is_given_ && rows > 0 ? 1 : 0);
  }
  bool RestorePlace(std::string_view* place) override {
    uint64_t given = 0;
    if (!GetVarint(place, &given) || given > 1) return false;
    is_given_ = given == 1;
    return true;
  }

 private:
  std::optional<double> EstimateRows() const override { return 1; }
  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    batch->rows = 1;
    return !std::exchange(is_given_, true);
  }

  bool is_given_ = false;
};

class Filter final : public Operator {
 public:
  Filter(const QueryScope* scope, const Plan& plan, OperatorPtr from)
      : Operator(scope, "Filter"), plan_(plan), condition_(*plan.expressions[0], evaluation()) {
    AddInput(std::move(from));
  }

  bool HasPlaces() const override { return input().HasPlaces(); }
  void SavePlace(size_t rows, std::string* place) const override {
    if (rows > 0 && rows < selection_.size()) rows = selection_[rows - 1] + 1;
    if (rows == selection_.size()) rows = in_.rows;
    input().SavePlace(rows, place);
  }
  bool RestorePlace(std::string_view* place) override { return input().RestorePlace(place); }
  std::string_view SourceKey(size_t row) const override { return input().SourceKey(selection_[row]); }

 private:
  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    arena_.Clear();
    selection_.clear();
    const absl::StatusOr<bool> more = input().Next(&in_);
    if (!more.ok() || !*more) return more;
    const absl::StatusOr<ColumnView> condition = condition_.Evaluate(in_, &arena_, outer());
    if (!condition.ok()) return condition.status();
    RowsThatAreTrue(*condition, &selection_);
    batch->rows = selection_.size();
    if (selection_.size() == in_.rows) {
      batch->columns = in_.columns;
    } else if (!selection_.empty()) {
      for (const ColumnView& column : in_.columns) {
        batch->columns.push_back(Gather(column, selection_, &arena_));
      }
    }
    return true;
  }

  std::string Details(bool /*has_run*/) const override { return ToString(*plan_.expressions[0]); }
  // The rows of a scan fulfil what the scan knows of them.
  std::optional<double> EstimateRows() const override {
    const std::optional<double> rows = EstimateOf(0);
    if (!rows.has_value()) return std::nullopt;
    const Plan& from = *plan_.inputs[0];
    const std::vector<ExpressionPtr>* known = nullptr;
    if (from.kind == Plan::Kind::kScan) known = &from.scan->key_conditions;
    if (from.kind == Plan::Kind::kSeries) known = &from.series->conditions;
    return *rows * SelectivityOf(*plan_.expressions[0], known);
  }

  const Plan& plan_;
  Evaluator condition_;
  rows::Batch in_;
  std::vector<size_t> selection_;  // rows of in_
  Arena arena_;
};

class Project final : public Operator {
 public:
  Project(const QueryScope* scope, const Plan& plan, OperatorPtr from)
      : Operator(scope, "Project"), plan_(plan) {
    for (const ExpressionPtr& expression : plan.expressions) {
      if (expression->kind == Expression::Kind::kColumn) {
        columns_.push_back({expression->index, std::nullopt});
      } else {
        columns_.push_back({0, Evaluator(*expression, evaluation())});
      }
    }
    AddInput(std::move(from));
  }

  void LimitRows(size_t rows_max) override { input().LimitRows(rows_max); }
  bool HasPlaces() const override { return input().HasPlaces(); }
  void SavePlace(size_t rows, std::string* place) const override { input().SavePlace(rows, place); }
  bool RestorePlace(std::string_view* place) override { return input().RestorePlace(place); }
  std::string_view SourceKey(size_t row) const override { return input().SourceKey(row); }

 private:
  std::string Details(bool /*has_run*/) const override {
    std::string text;
    for (const ExpressionPtr& expression : plan_.expressions) {
      text += (text.empty() ? "" : ", ") + ToString(*expression);
    }
    return text;
  }

  struct Column {
    size_t input = 0;  // a column of the input as it is, if there is no evaluator
    std::optional<Evaluator> evaluator;
  };

  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    arena_.Clear();
    const absl::StatusOr<bool> more = input().Next(&in_);
    if (!more.ok() || !*more) return more;
    batch->rows = in_.rows;
    for (Column& column : columns_) {
      if (!column.evaluator.has_value()) {
        batch->columns.push_back(in_.columns[column.input]);
        continue;
      }
      const absl::StatusOr<ColumnView> values = column.evaluator->Evaluate(in_, &arena_, outer());
      if (!values.ok()) return values.status();
      batch->columns.push_back(*values);
    }
    return true;
  }

  const Plan& plan_;
  std::vector<Column> columns_;
  rows::Batch in_;
  Arena arena_;
};

class LimitOperator final : public Operator {
 public:
  LimitOperator(const QueryScope* scope, uint64_t count, uint64_t offset, OperatorPtr from)
      : Operator(scope, "Limit"), count_(count), offset_(offset) {
    AddInput(std::move(from));
    Tell();
  }

  void LimitRows(size_t rows_max) override {
    if (rows_max >= count_) return;
    count_ = rows_max;
    Tell();
  }
  void Restart() override {
    Operator::Restart();
    skipped_ = given_ = first_ = last_rows_ = 0;
  }
  bool HasPlaces() const override { return input().HasPlaces(); }
  void SavePlace(size_t rows, std::string* place) const override {
    PutVarint(place, skipped_);
    PutVarint(place, given_ - last_rows_ + rows);
    input().SavePlace(first_ + rows, place);
  }
  bool RestorePlace(std::string_view* place) override {
    return GetVarint(place, &skipped_) && GetVarint(place, &given_) && input().RestorePlace(place);
  }
  std::string_view SourceKey(size_t row) const override { return input().SourceKey(first_ + row); }

 private:
  void Tell() {
    const uint64_t rows = count_ + offset_;  // both are less than 2^63
    input().LimitRows(rows);
  }

  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (given_ >= count_) return false;
    const absl::StatusOr<bool> more = input().Next(batch);
    if (!more.ok() || !*more) return more;
    first_ = std::min<uint64_t>(offset_ - skipped_, batch->rows);
    skipped_ += first_;
    last_rows_ = std::min<uint64_t>(batch->rows - first_, count_ - given_);
    given_ += last_rows_;
    if (last_rows_ < batch->rows) batch->Cut(first_, last_rows_);
    return true;
  }
  std::optional<double> EstimateRows() const override {
    const std::optional<double> rows = EstimateOf(0);
    if (!rows.has_value()) return std::nullopt;
    return std::clamp(*rows - static_cast<double>(offset_), 0.0, static_cast<double>(count_));
  }
  std::string Details(bool /*has_run*/) const override {
    return offset_ == 0 ? fmt::format("at most {} rows", count_)
                        : fmt::format("at most {} rows behind {}", count_, offset_);
  }

  uint64_t count_;
  const uint64_t offset_;
  uint64_t skipped_ = 0;
  uint64_t given_ = 0;
  // Of the last batch: its first row in the batch of the input, and how many rows it has.
  size_t first_ = 0;
  size_t last_rows_ = 0;
};

absl::StatusOr<uint64_t> CountOf(const Expression& expression, const EvaluationContext& evaluation) {
  const absl::StatusOr<Value> value = EvaluateConstant(expression, evaluation);
  if (!value.ok()) return value.status();
  if (value->is_null()) return absl::OutOfRangeError("Limit requires non-null count and offset");
  if (value->datum().integer < 0) {
    return absl::OutOfRangeError("Limit requires non-negative count and offset");
  }
  return static_cast<uint64_t>(value->datum().integer);
}

class Union final : public Operator {
 public:
  Union(const QueryScope* scope, std::vector<OperatorPtr> from) : Operator(scope, "Union") {
    for (OperatorPtr& each : from) AddInput(std::move(each));
  }

  void LimitRows(size_t rows_max) override {
    for (size_t i = 0; i < inputs(); ++i) input(i).LimitRows(rows_max);
  }
  void Restart() override {
    Operator::Restart();
    now_ = 0;
  }
  bool HasPlaces() const override {
    for (size_t i = 0; i < inputs(); ++i) {
      if (!input(i).HasPlaces()) return false;
    }
    return true;
  }
  void SavePlace(size_t rows, std::string* place) const override {
    PutVarint(place, now_);
    if (now_ < inputs()) input(now_).SavePlace(rows, place);
  }
  bool RestorePlace(std::string_view* place) override {
    uint64_t now = 0;
    if (!GetVarint(place, &now) || now > inputs()) return false;
    now_ = now;
    return now_ == inputs() || input(now_).RestorePlace(place);
  }
  std::string_view SourceKey(size_t row) const override { return input(now_).SourceKey(row); }

 private:
  std::optional<double> EstimateRows() const override {
    std::optional<double> rows = 0;
    for (size_t i = 0; i < inputs() && rows.has_value(); ++i) {
      const std::optional<double> more = EstimateOf(i);
      rows = more.has_value() ? std::optional(*rows + *more) : std::nullopt;
    }
    return rows;
  }
  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    for (; now_ < inputs(); ++now_) {
      absl::StatusOr<bool> more = input(now_).Next(batch);
      if (!more.ok() || *more) return more;
    }
    return false;
  }

  size_t now_ = 0;  // the input whose rows come
};

}  // namespace

OperatorPtr MakeSingleRow(const QueryScope* scope) { return std::make_unique<SingleRow>(scope); }

OperatorPtr MakeFilter(const QueryScope* scope, const Plan& plan, OperatorPtr input) {
  return std::make_unique<Filter>(scope, plan, std::move(input));
}

OperatorPtr MakeProject(const QueryScope* scope, const Plan& plan, OperatorPtr input) {
  return std::make_unique<Project>(scope, plan, std::move(input));
}

absl::StatusOr<OperatorPtr> MakeLimit(const QueryScope* scope, const Plan& plan, OperatorPtr input) {
  uint64_t count = std::numeric_limits<int64_t>::max();
  uint64_t offset = 0;
  if (plan.limit != nullptr) {
    const absl::StatusOr<uint64_t> given = CountOf(*plan.limit, *scope->evaluation());
    if (!given.ok()) return given.status();
    count = *given;
  }
  if (plan.offset != nullptr) {
    const absl::StatusOr<uint64_t> given = CountOf(*plan.offset, *scope->evaluation());
    if (!given.ok()) return given.status();
    offset = *given;
  }
  return std::make_unique<LimitOperator>(scope, count, offset, std::move(input));
}

OperatorPtr MakeUnion(const QueryScope* scope, std::vector<OperatorPtr> inputs) {
  return std::make_unique<Union>(scope, std::move(inputs));
}

}  // namespace sonde::sql
