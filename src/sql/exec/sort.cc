#include "sql/exec/sort.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "rows/work_check.h"
#include "sql/exec/row_buffer.h"
#include "sql/exec/sort_order.h"
#include "sql/expression/evaluator.h"

namespace sonde::sql {
namespace {

// With a limit: rows beyond it are held until there are so many.
constexpr size_t kRowsBeyondLimitMin = 4 * rows::kBatchRowsMax;

class Sort final : public Operator {
 public:
  Sort(const QueryScope* scope, const Plan& plan, OperatorPtr from)
      : Operator(scope, "Sort"),
        plan_(plan),
        column_count_(plan.types.size()),
        held_(TypesOf(plan)),
        check_(state().interrupted),
        memory_(*scope->state, name()) {
    for (const SortKey& key : plan.sort) {
      const bool is_column = key.expr->kind == Expression::Kind::kColumn;
      keys_.push_back({is_column ? key.expr->index : 0, std::nullopt});
      if (!is_column) keys_.back().evaluator.emplace(*key.expr, evaluation());
    }
    AddInput(std::move(from));
  }

  void LimitRows(size_t rows_max) override { rows_max_ = std::min(rows_max_, rows_max); }
  void Restart() override {
    Operator::Restart();
    held_.Clear();
    order_.clear();
    memory_.Clear();
    is_read_ = has_bound_ = false;
    next_ = 0;
  }

 private:
  struct Key {
    size_t column = 0;  // of the input, if there is no evaluator
    std::optional<Evaluator> evaluator;
  };

  // The columns, and then the keys that are no columns.
  static std::vector<Type> TypesOf(const Plan& plan) {
    std::vector<Type> types = plan.types;
    for (const SortKey& key : plan.sort) {
      if (key.expr->kind != Expression::Kind::kColumn) types.push_back(key.expr->type);
    }
    return types;
  }

  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (!is_read_) {
      if (absl::Status status = ReadAll(); !status.ok()) return status;
    }
    arena_.Clear();
    const size_t rows = std::min(rows::kBatchRowsMax, order_.size() - next_);
    if (rows == 0) return false;
    const auto places = absl::MakeConstSpan(order_).subspan(next_, rows);
    batch->rows = rows;
    for (size_t i = 0; i < column_count_; ++i) {
      batch->columns.push_back(Gather(held_.View(i), places, &arena_));
    }
    next_ += rows;
    return true;
  }

  absl::Status ReadAll() {
    if (rows_max_ == 0) {
      is_read_ = true;
      return absl::OkStatus();
    }
    rows::Batch in;
    while (true) {
      const absl::StatusOr<bool> more = input().Next(&in);
      if (!more.ok()) return more.status();
      if (!*more) break;
      if (absl::Status status = Hold(in); !status.ok()) return status;
    }
    is_read_ = true;
    return Order();
  }

  absl::Status Hold(const rows::Batch& in) {
    arena_.Clear();
    std::vector<ColumnView> columns = in.columns;
    for (Key& key : keys_) {
      if (!key.evaluator.has_value()) continue;
      const absl::StatusOr<ColumnView> values = key.evaluator->Evaluate(in, &arena_, outer());
      if (!values.ok()) return values.status();
      columns.push_back(*values);
    }
    if (has_bound_) {
      HoldThoseBeforeBound(columns, in.rows);
    } else {
      held_.Append(columns, in.rows);
    }
    if (rows_max_ < held_.rows() && held_.rows() - rows_max_ >= std::max(rows_max_, kRowsBeyondLimitMin)) {
      if (absl::Status status = Shrink(); !status.ok()) return status;
    }
    return memory_.Set(held_.MemoryBytes() + kOrderBytesOfRow * held_.rows());
  }

  // Most rows are not among the first: they come behind the last of those so far.
  void HoldThoseBeforeBound(const std::vector<ColumnView>& columns, size_t rows) {
    const std::vector<SortColumn> keys = KeyColumns([&columns](size_t column) { return columns[column]; });
    const std::vector<SortColumn> held = KeyColumns([this](size_t column) { return held_.View(column); });
    std::vector<size_t> places;
    for (size_t row = 0; row < rows; ++row) {
      if (CompareRows(keys, row, held, rows_max_ - 1) < 0) places.push_back(row);
    }
    if (!places.empty()) held_.AppendPlaces(columns, places);
  }

  // Keeps the first rows_max_ of the rows so far.
  absl::Status Shrink() {
    if (absl::Status status = Order(); !status.ok()) return status;
    // Rows whose keys are equal stay in their order.
    RowBuffer kept(TypesOf(plan_));
    kept.AppendPlaces(held_.Views(), order_);
    held_.Swap(kept);
    has_bound_ = true;
    return absl::OkStatus();
  }

  template <typename ViewOf>
  std::vector<SortColumn> KeyColumns(const ViewOf& view_of) const {
    std::vector<SortColumn> columns;
    size_t behind = column_count_;
    for (size_t i = 0; i < keys_.size(); ++i) {
      const size_t column = keys_[i].evaluator.has_value() ? behind++ : keys_[i].column;
      columns.push_back({view_of(column), plan_.sort[i].descending, plan_.sort[i].nulls_first});
    }
    return columns;
  }

  absl::Status Order() {
    const std::vector<SortColumn> columns = KeyColumns([this](size_t column) { return held_.View(column); });
    absl::StatusOr<std::vector<size_t>> order = SortOrder(columns, held_.rows(), &check_);
    if (!order.ok()) return order.status();
    order_ = *std::move(order);
    if (order_.size() > rows_max_) order_.resize(rows_max_);
    return absl::OkStatus();
  }
  std::string Details(bool /*has_run*/) const override {
    std::string text;
    for (const SortKey& key : plan_.sort) {
      text += (text.empty() ? "" : ", ") + ToString(*key.expr) + (key.descending ? " DESC" : "");
    }
    const bool is_limited = rows_max_ != std::numeric_limits<size_t>::max();
    return is_limited ? fmt::format("{}; the first {} rows", text, rows_max_) : text;
  }

  const Plan& plan_;
  const size_t column_count_;
  std::vector<Key> keys_;
  size_t rows_max_ = std::numeric_limits<size_t>::max();
  RowBuffer held_;
  rows::WorkCheck check_;
  OperatorMemory memory_;
  bool is_read_ = false;
  bool has_bound_ = false;  // row rows_max_ - 1 of held_ is the last of the first ones so far
  std::vector<size_t> order_;
  size_t next_ = 0;
  Arena arena_;
};

}  // namespace

OperatorPtr MakeSort(const QueryScope* scope, const Plan& plan, OperatorPtr input) {
  return std::make_unique<Sort>(scope, plan, std::move(input));
}

}  // namespace sonde::sql
