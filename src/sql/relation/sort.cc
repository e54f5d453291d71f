#include "sql/relation/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "sql/expression/evaluator.h"
#include "sql/relation/row_sorter.h"

namespace sonde::sql {
namespace {

class Sort final : public Operator {
 public:
  Sort(const QueryScope* scope, const Plan& plan, OperatorPtr from)
      : Operator(scope, "Sort"), plan_(plan), column_count_(plan.types.size()) {
    std::vector<ColumnType> types;
    for (const Type& type : plan.types) types.push_back(ColumnTypeOf(type));
    std::vector<RowKey> keys;
    for (const SortKey& key : plan.sort) {
      const bool is_column = key.expr->kind == Expression::Kind::kColumn;
      keys.push_back({is_column ? key.expr->index : types.size(), key.descending, key.nulls_first});
      if (is_column) continue;
      evaluators_.emplace_back(*key.expr, evaluation());
      types.push_back(ColumnTypeOf(key.expr->type));
    }
    sorter_.emplace(state(), name(), std::move(types), std::move(keys));
    AddInput(std::move(from));
  }

  void LimitRows(size_t rows_max) override {
    rows_max_ = std::min(rows_max_, rows_max);
    sorter_->LimitRows(rows_max_);
  }
  void Restart() override {
    Operator::Restart();
    sorter_->Clear();
    is_read_ = false;
  }

 private:
  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (!is_read_) {
      if (absl::Status status = ReadAll(); !status.ok()) return status;
    }
    const absl::StatusOr<bool> more = sorter_->Next(batch);
    if (more.ok() && *more) batch->columns.resize(column_count_);
    return more;
  }

  absl::Status ReadAll() {
    rows::Batch in;
    while (rows_max_ > 0) {
      const absl::StatusOr<bool> more = input().Next(&in);
      if (!more.ok()) return more.status();
      if (!*more) break;
      if (absl::Status status = Hold(in); !status.ok()) return status;
    }
    is_read_ = true;
    return sorter_->Finish();
  }

  absl::Status Hold(const rows::Batch& in) {
    arena_.Clear();
    std::vector<ColumnView> columns = in.columns;
    for (Evaluator& evaluator : evaluators_) {
      const absl::StatusOr<ColumnView> values = evaluator.Evaluate(in, &arena_, outer());
      if (!values.ok()) return values.status();
      columns.push_back(*values);
    }
    return sorter_->Add(columns, in.rows);
  }

  std::optional<double> EstimateRows() const override {
    const std::optional<double> rows = EstimateOf(0);
    if (!rows.has_value()) return std::nullopt;
    return std::min(*rows, static_cast<double>(rows_max_));
  }
  std::string Details(bool has_run) const override {
    std::string text;
    for (const SortKey& key : plan_.sort) {
      text += (text.empty() ? "" : ", ") + ToString(*key.expr) + (key.descending ? " DESC" : "");
    }
    const bool is_limited = rows_max_ != std::numeric_limits<size_t>::max();
    if (is_limited) text += fmt::format("; the first {} rows", rows_max_);
    if (has_run && sorter_->bytes_on_disk() > 0)
      text += fmt::format("; {} bytes on disk", sorter_->bytes_on_disk());
    return text;
  }

  const Plan& plan_;
  const size_t column_count_;
  std::vector<Evaluator> evaluators_;  // of keys that are no columns
  size_t rows_max_ = std::numeric_limits<size_t>::max();
  std::optional<RowSorter> sorter_;  // of the columns, and then of these keys
  bool is_read_ = false;
  Arena arena_;
};

}  // namespace

OperatorPtr MakeSort(const QueryScope* scope, const Plan& plan, OperatorPtr input) {
  return std::make_unique<Sort>(scope, plan, std::move(input));
}

}  // namespace sonde::sql
