#include "sql/exec/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <optional>
#include <utility>

#include "rows/work_check.h"
#include "sql/exec/row_buffer.h"
#include "sql/exec/sort_order.h"
#include "sql/exec/volatile_parts.h"
#include "sql/exec/window_frames.h"
#include "sql/exec/window_function.h"
#include "sql/expression/evaluator.h"
#include "sql/function/function.h"

namespace sonde::sql {
namespace {

class WindowOperator final : public Operator {
 public:
  // What a window is computed by.
  struct Item {
    std::unique_ptr<WindowFunction> function;
    FrameBounds bounds;
  };

  WindowOperator(const QueryScope* scope, const Plan& plan, std::vector<Item> items, OperatorPtr from)
      : Operator(scope, "Window"),
        plan_(plan),
        column_count_(plan.inputs[0]->types.size()),
        items_(std::move(items)),
        check_(state().interrupted),
        memory_(*scope->state, name()) {
    std::vector<Type> types = plan.inputs[0]->types;
    for (const ExpressionPtr& key : plan.expressions) keys_.push_back(SlotOf(*key, &types));
    for (const SortKey& key : plan.sort) keys_.push_back(SlotOf(*key.expr, &types));
    for (const WindowItem& window : plan.windows) {
      std::vector<Slot>& slots = arguments_.emplace_back();
      for (const ExpressionPtr& argument : window.call.arguments) slots.push_back(SlotOf(*argument, &types));
      results_.emplace_back(ColumnTypeOf(window.call.type));
    }
    held_.emplace(types);
    AddInput(std::move(from));
  }

  void Restart() override {
    Operator::Restart();
    Clear();
    is_read_ = false;
  }

 private:
  // Where the values of an expression are.
  struct Slot {
    size_t column = 0;                           // of held_
    std::optional<size_t> fixed = std::nullopt;  // it is the same for all rows, and evaluated once: in fixed_
  };

  Slot SlotOf(const Expression& expression, std::vector<Type>* types);
  absl::StatusOr<bool> Produce(rows::Batch* batch) override;
  absl::Status ReadAll();
  absl::Status Hold(const rows::Batch& in);
  absl::Status Order();
  // A column of the rows in their order.
  const ColumnView& Ordered(size_t column);
  std::vector<SortColumn> KeyColumns(size_t first, size_t count);
  // Computes the results of the next partitions, of at least a batch of rows if there are so many.
  absl::Status ComputeNext();
  absl::Status ComputePartition(size_t begin, size_t end);
  PartitionRows PartitionOf(size_t begin, size_t end);
  size_t EndOfPartition(size_t begin);
  void Clear();
  std::string Details(bool has_run) const override;

  const Plan& plan_;
  const size_t column_count_;  // of the input
  const std::vector<Item> items_;
  std::vector<Evaluator> evaluators_;  // of the columns of held_ behind those of the input
  std::vector<Evaluator> fixed_;
  std::vector<Slot> keys_;                    // of partitions, then of the order
  std::vector<std::vector<Slot>> arguments_;  // by window
  rows::WorkCheck check_;
  OperatorMemory memory_;

  bool is_read_ = false;
  std::optional<RowBuffer> held_;
  std::vector<size_t> order_;
  std::vector<std::optional<ColumnView>> ordered_;  // by column of held_; in ordered_arena_
  std::vector<ColumnView> fixed_values_;            // likewise, one value each
  Arena ordered_arena_;
  std::vector<SortColumn> partition_columns_;
  std::vector<SortColumn> order_columns_;

  size_t computed_from_ = 0;  // rows of order_ whose results are in results_
  size_t computed_to_ = 0;
  size_t given_ = 0;
  std::vector<rows::Column> results_;  // by window
  Frames frames_;
  Arena arena_;
};

WindowOperator::Slot WindowOperator::SlotOf(const Expression& expression, std::vector<Type>* types) {
  if (expression.kind == Expression::Kind::kColumn) return {.column = expression.index};
  if (ColumnsOf(expression).empty() && !HasVolatile(expression)) {
    fixed_.emplace_back(expression, evaluation());
    return {.fixed = fixed_.size() - 1};
  }
  evaluators_.emplace_back(expression, evaluation());
  types->push_back(expression.type);
  return {.column = types->size() - 1};
}

void WindowOperator::Clear() {
  held_->Clear();
  order_.clear();
  ordered_.clear();
  fixed_values_.clear();
  ordered_arena_.Clear();
  memory_.Clear();
  computed_from_ = computed_to_ = given_ = 0;
}

absl::Status WindowOperator::ReadAll() {
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

absl::Status WindowOperator::Hold(const rows::Batch& in) {
  arena_.Clear();
  std::vector<ColumnView> columns = in.columns;
  for (Evaluator& evaluator : evaluators_) {
    const absl::StatusOr<ColumnView> values = evaluator.Evaluate(in, &arena_, outer());
    if (!values.ok()) return values.status();
    columns.push_back(*values);
  }
  held_->Append(columns, in.rows);
  return memory_.Set(held_->MemoryBytes() + kOrderBytesOfRow * held_->rows());
}

absl::Status WindowOperator::Order() {
  for (Evaluator& evaluator : fixed_) {
    const absl::StatusOr<ColumnView> value =
        evaluator.Evaluate({.rows = 1, .columns = {}}, &ordered_arena_, outer());
    if (!value.ok()) return value.status();
    fixed_values_.push_back(*value);
  }
  std::vector<SortColumn> columns;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i].fixed.has_value()) continue;
    const bool is_of_order = i >= plan_.expressions.size();
    const SortKey* const key = is_of_order ? &plan_.sort[i - plan_.expressions.size()] : nullptr;
    columns.push_back({held_->View(keys_[i].column), key != nullptr && key->descending,
                       key == nullptr || key->nulls_first});
  }
  if (columns.empty()) {
    order_.resize(held_->rows());
    std::iota(order_.begin(), order_.end(), 0);
  } else {
    absl::StatusOr<std::vector<size_t>> order = SortOrder(columns, held_->rows(), &check_);
    if (!order.ok()) return order.status();
    order_ = *std::move(order);
  }
  ordered_.assign(held_->columns(), std::nullopt);
  partition_columns_ = KeyColumns(0, plan_.expressions.size());
  order_columns_ = KeyColumns(plan_.expressions.size(), plan_.sort.size());
  return absl::OkStatus();
}

const ColumnView& WindowOperator::Ordered(size_t column) {
  std::optional<ColumnView>& ordered = ordered_[column];
  if (!ordered.has_value()) ordered = Gather(held_->View(column), order_, &ordered_arena_);
  return *ordered;
}

std::vector<SortColumn> WindowOperator::KeyColumns(size_t first, size_t count) {
  std::vector<SortColumn> columns;
  for (const Slot& key : absl::MakeConstSpan(keys_).subspan(first, count)) {
    if (!key.fixed.has_value()) columns.push_back({Ordered(key.column)});
  }
  return columns;
}

size_t WindowOperator::EndOfPartition(size_t begin) {
  if (partition_columns_.empty()) return order_.size();
  size_t end = begin + 1;
  while (end < order_.size() && CompareRows(partition_columns_, begin, partition_columns_, end) == 0) ++end;
  return end;
}

PartitionRows WindowOperator::PartitionOf(size_t begin, size_t end) {
  PartitionRows partition;
  partition.rows = end - begin;
  partition.peers_begin.resize(partition.rows);
  partition.peers_end.resize(partition.rows);
  for (size_t row = 0; row < partition.rows;) {
    size_t last = row + 1;
    while (last < partition.rows &&
           CompareRows(order_columns_, begin + row, order_columns_, begin + last) == 0) {
      ++last;
    }
    for (size_t peer = row; peer < last; ++peer) {
      partition.peers_begin[peer] = row;
      partition.peers_end[peer] = last;
    }
    row = last;
  }
  if (plan_.sort.empty()) return partition;
  const Slot& key = keys_[plan_.expressions.size()];
  partition.key = key.fixed.has_value() ? ColumnView::Constant(fixed_values_[*key.fixed], partition.rows)
                                        : Ordered(key.column).Part(begin, partition.rows);
  partition.key_descends = plan_.sort[0].descending;
  return partition;
}

absl::Status WindowOperator::ComputePartition(size_t begin, size_t end) {
  const PartitionRows partition = PartitionOf(begin, end);
  for (size_t i = 0; i < items_.size(); ++i) {
    std::vector<ColumnView> arguments;
    for (const Slot& slot : arguments_[i]) {
      arguments.push_back(slot.fixed.has_value()
                              ? ColumnView::Constant(fixed_values_[*slot.fixed], partition.rows)
                              : Ordered(slot.column).Part(begin, partition.rows));
    }
    if (items_[i].function->needs_frames()) {
      if (absl::Status status = items_[i].bounds.Find(partition, &frames_); !status.ok()) return status;
    }
    absl::Status status = items_[i].function->Compute(partition, arguments, frames_, &check_, &results_[i]);
    if (!status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status WindowOperator::ComputeNext() {
  for (rows::Column& results : results_) results.Clear();
  computed_from_ = computed_to_;
  while (computed_to_ < order_.size() && computed_to_ - computed_from_ < rows::kBatchRowsMax) {
    const size_t end = EndOfPartition(computed_to_);
    if (absl::Status status = check_.Step(end - computed_to_); !status.ok()) return status;
    if (absl::Status status = ComputePartition(computed_to_, end); !status.ok()) return status;
    computed_to_ = end;
  }
  size_t bytes = held_->MemoryBytes() + kOrderBytesOfRow * held_->rows() + ordered_arena_.MemoryBytes();
  for (const rows::Column& results : results_) bytes += results.MemoryBytes();
  return memory_.Set(bytes);
}

absl::StatusOr<bool> WindowOperator::Produce(rows::Batch* batch) {
  if (!is_read_) {
    if (absl::Status status = ReadAll(); !status.ok()) return status;
  }
  arena_.Clear();
  if (given_ == computed_to_) {
    if (absl::Status status = ComputeNext(); !status.ok()) return status;
  }
  const size_t rows = std::min(rows::kBatchRowsMax, computed_to_ - given_);
  if (rows == 0) return false;
  const auto places = absl::MakeConstSpan(order_).subspan(given_, rows);
  batch->rows = rows;
  for (size_t i = 0; i < column_count_; ++i) {
    batch->columns.push_back(Gather(held_->View(i), places, &arena_));
  }
  for (const rows::Column& results : results_) {
    batch->columns.push_back(results.View().Part(given_ - computed_from_, rows));
  }
  given_ += rows;
  return true;
}

std::string WindowOperator::Details(bool /*has_run*/) const {
  std::string text;
  for (const WindowItem& window : plan_.windows) {
    text += text.empty() ? "" : ", ";
    text += window.call.function != nullptr ? window.call.function->name : "aggregate";
  }
  for (const ExpressionPtr& key : plan_.expressions) text += " by " + ToString(*key);
  for (const SortKey& key : plan_.sort) text += " order " + ToString(*key.expr);
  return text;
}

}  // namespace

absl::StatusOr<OperatorPtr> MakeWindow(const QueryScope* scope, const Plan& plan, OperatorPtr input) {
  std::vector<WindowOperator::Item> items;
  for (const WindowItem& window : plan.windows) {
    absl::StatusOr<std::unique_ptr<WindowFunction>> function =
        MakeWindowFunction(window.call, *scope->evaluation());
    if (!function.ok()) return function.status();
    absl::StatusOr<FrameBounds> bounds = FrameBounds::Create(window, *scope->evaluation());
    if (!bounds.ok()) return bounds.status();
    items.push_back({*std::move(function), *std::move(bounds)});
  }
  return std::make_unique<WindowOperator>(scope, plan, std::move(items), std::move(input));
}

}  // namespace sonde::sql
