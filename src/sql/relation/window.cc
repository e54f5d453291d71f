#include "sql/relation/window.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "rows/work_check.h"
#include "sql/expression/evaluator.h"
#include "sql/function/function.h"
#include "sql/operator/sort_order.h"
#include "sql/plan/plan_tree.h"
#include "sql/relation/row_sorter.h"
#include "sql/relation/window_frames.h"
#include "sql/relation/window_function.h"
#include "sql/spill/row_buffer.h"

namespace sonde::sql {
namespace {

// What a row of a partition takes beside its values while windows are computed: its peers, its frame, states.
constexpr size_t kPartitionBytesOfRow = 64;

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
    std::vector<ColumnType> types;
    for (const Type& type : plan.inputs[0]->types) types.push_back(ColumnTypeOf(type));
    for (const ExpressionPtr& key : plan.expressions) keys_.push_back(SlotOf(*key, &types));
    for (const SortKey& key : plan.sort) keys_.push_back(SlotOf(*key.expr, &types));
    for (const WindowItem& window : plan.windows) {
      std::vector<Slot>& slots = arguments_.emplace_back();
      for (const ExpressionPtr& argument : window.call.arguments) slots.push_back(SlotOf(*argument, &types));
      results_.emplace_back(ColumnTypeOf(window.call.type));
    }
    sorter_.emplace(state(), name(), types, RowKeys());
    types_ = std::move(types);
    held_.emplace(types_);
    AddInput(std::move(from));
  }

  void Restart() override {
    Operator::Restart();
    sorter_->Clear();
    held_.emplace(types_);
    next_ = {};
    next_row_ = computed_ = given_ = 0;
    fixed_values_.clear();
    memory_.Clear();
    is_read_ = false;
  }

 private:
  // Where the values of an expression are.
  struct Slot {
    size_t column = 0;                           // of the rows that are sorted
    std::optional<size_t> fixed = std::nullopt;  // it is the same for all rows, and evaluated once: in fixed_
  };

  Slot SlotOf(const Expression& expression, std::vector<ColumnType>* types);
  std::vector<RowKey> RowKeys() const;
  absl::StatusOr<bool> Produce(rows::Batch* batch) override;
  absl::Status ReadAll();
  absl::Status Sort(const rows::Batch& in);
  // Replaces held_ by the next partitions, of at least a batch of rows if there are so many, and computes their results.
  absl::Status ComputeNext();
  // Holds rows up to the end of the next partition; false: there are no more.
  absl::StatusOr<bool> HoldPartition();
  absl::Status TellMemory();
  // Makes room for the partition at hand.
  absl::Status PutRestOnDisk();
  absl::Status ComputePartition(size_t begin, size_t end);
  absl::StatusOr<PartitionRows> PartitionOf(size_t begin, size_t end);
  std::vector<SortColumn> KeyColumns(size_t first, size_t count, absl::Span<const ColumnView> columns) const;
  std::string Details(bool has_run) const override;

  const Plan& plan_;
  const size_t column_count_;  // of the input
  const std::vector<Item> items_;
  std::vector<Evaluator> evaluators_;  // of the columns behind those of the input
  std::vector<Evaluator> fixed_;
  std::vector<Slot> keys_;                    // of partitions, then of the order
  std::vector<std::vector<Slot>> arguments_;  // by window
  std::vector<ColumnType> types_;             // of the rows that are sorted
  rows::WorkCheck check_;
  OperatorMemory memory_;

  bool is_read_ = false;
  std::optional<RowSorter> sorter_;
  std::vector<ColumnView> fixed_values_;  // in fixed_arena_, one value each
  Arena fixed_arena_;
  rows::Batch next_;               // of the sorter: rows behind those in held_
  size_t next_row_ = 0;            // of next_
  std::optional<RowBuffer> rest_;  // what next_ views, if not what the sorter has
  std::optional<RowBuffer> held_;  // partitions
  size_t computed_ = 0;            // rows of held_ whose results are in results_
  size_t given_ = 0;
  std::vector<rows::Column> results_;  // by window
  Frames frames_;
  Arena arena_;
};

WindowOperator::Slot WindowOperator::SlotOf(const Expression& expression, std::vector<ColumnType>* types) {
  if (expression.kind == Expression::Kind::kColumn) return {.column = expression.index};
  if (ColumnsOf(expression).empty() && !HasVolatile(expression)) {
    fixed_.emplace_back(expression, evaluation());
    return {.fixed = fixed_.size() - 1};
  }
  evaluators_.emplace_back(expression, evaluation());
  types->push_back(ColumnTypeOf(expression.type));
  return {.column = types->size() - 1};
}

std::vector<RowKey> WindowOperator::RowKeys() const {
  std::vector<RowKey> keys;
  for (size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i].fixed.has_value()) continue;
    const bool is_of_order = i >= plan_.expressions.size();
    const SortKey* const key = is_of_order ? &plan_.sort[i - plan_.expressions.size()] : nullptr;
    keys.push_back({keys_[i].column, key != nullptr && key->descending, key == nullptr || key->nulls_first});
  }
  return keys;
}

absl::Status WindowOperator::ReadAll() {
  rows::Batch in;
  while (true) {
    const absl::StatusOr<bool> more = input().Next(&in);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::Status status = Sort(in); !status.ok()) return status;
  }
  is_read_ = true;
  for (Evaluator& evaluator : fixed_) {
    const absl::StatusOr<ColumnView> value =
        evaluator.Evaluate({.rows = 1, .columns = {}}, &fixed_arena_, outer());
    if (!value.ok()) return value.status();
    fixed_values_.push_back(*value);
  }
  return sorter_->Finish();
}

absl::Status WindowOperator::Sort(const rows::Batch& in) {
  arena_.Clear();
  std::vector<ColumnView> columns = in.columns;
  for (Evaluator& evaluator : evaluators_) {
    const absl::StatusOr<ColumnView> values = evaluator.Evaluate(in, &arena_, outer());
    if (!values.ok()) return values.status();
    columns.push_back(*values);
  }
  return sorter_->Add(columns, in.rows);
}

std::vector<SortColumn> WindowOperator::KeyColumns(size_t first, size_t count,
                                                   absl::Span<const ColumnView> columns) const {
  std::vector<SortColumn> keys;
  for (const Slot& key : absl::MakeConstSpan(keys_).subspan(first, count)) {
    if (!key.fixed.has_value()) keys.push_back({columns[key.column]});
  }
  return keys;
}

absl::Status WindowOperator::TellMemory() {
  size_t bytes = held_->MemoryBytes() + kPartitionBytesOfRow * held_->rows();
  for (const rows::Column& results : results_) bytes += results.MemoryBytes();
  return memory_.Set(bytes);
}

absl::Status WindowOperator::PutRestOnDisk() {
  // The sorter's last batch holds no longer: what is left of it is held for the next partition.
  RowBuffer rest(types_);
  std::vector<ColumnView> parts;
  for (const ColumnView& column : next_.columns)
    parts.push_back(column.Part(next_row_, next_.rows - next_row_));
  rest.Append(parts, next_.rows - next_row_);
  if (absl::Status status = sorter_->PutOnDisk(); !status.ok()) return status;
  rest_.emplace(std::move(rest));
  next_.rows = rest_->rows();
  next_.columns = rest_->Views();
  next_row_ = 0;
  return absl::OkStatus();
}

absl::StatusOr<bool> WindowOperator::HoldPartition() {
  const size_t begin = held_->rows();
  while (true) {
    if (next_row_ == next_.rows) {
      next_row_ = 0;
      const absl::StatusOr<bool> more = sorter_->Next(&next_);
      if (!more.ok()) return more.status();
      if (!*more) return held_->rows() > begin;
    }
    const std::vector<SortColumn> keys = KeyColumns(0, plan_.expressions.size(), next_.columns);
    size_t end = next_row_;
    if (keys.empty()) {
      end = next_.rows;
    } else if (held_->rows() == begin) {
      ++end;
    } else if (const auto held = KeyColumns(0, plan_.expressions.size(), held_->Views());
               CompareRows(held, begin, keys, end) != 0) {
      return true;
    }
    while (end < next_.rows && (end == next_row_ || CompareRows(keys, next_row_, keys, end) == 0)) ++end;
    std::vector<ColumnView> parts;
    for (const ColumnView& column : next_.columns) parts.push_back(column.Part(next_row_, end - next_row_));
    held_->Append(parts, end - next_row_);
    next_row_ = end;
    const absl::Status refused = TellMemory();
    if (refused.ok()) continue;
    // One partition has to be held; the others can wait on disk.
    if (!state().SpillsAfter(refused)) return refused;
    if (absl::Status status = PutRestOnDisk(); !status.ok()) return status;
    if (absl::Status status = TellMemory(); !status.ok()) return status;
  }
}

absl::StatusOr<PartitionRows> WindowOperator::PartitionOf(size_t begin, size_t end) {
  const std::vector<ColumnView> columns = held_->Views();
  const std::vector<SortColumn> keys = KeyColumns(plan_.expressions.size(), plan_.sort.size(), columns);
  PartitionRows partition;
  partition.rows = end - begin;
  partition.peers_begin.reserve(partition.rows);
  partition.peers_end.reserve(partition.rows);
  for (size_t row = 0; row < partition.rows;) {
    size_t last = row + 1;
    while (last < partition.rows && CompareRows(keys, begin + row, keys, begin + last) == 0) {
      ++last;
      if (absl::Status status = check_.Step(1); !status.ok()) return status;
    }
    partition.peers_begin.insert(partition.peers_begin.end(), last - row, row);
    partition.peers_end.insert(partition.peers_end.end(), last - row, last);
    row = last;
    if (absl::Status status = check_.Step(1); !status.ok()) return status;
  }
  if (plan_.sort.empty()) return partition;
  const Slot& key = keys_[plan_.expressions.size()];
  partition.key = key.fixed.has_value() ? ColumnView::Constant(fixed_values_[*key.fixed], partition.rows)
                                        : columns[key.column].Part(begin, partition.rows);
  partition.key_descends = plan_.sort[0].descending;
  return partition;
}

absl::Status WindowOperator::ComputePartition(size_t begin, size_t end) {
  const absl::StatusOr<PartitionRows> partition = PartitionOf(begin, end);
  if (!partition.ok()) return partition.status();
  for (size_t i = 0; i < items_.size(); ++i) {
    std::vector<ColumnView> arguments;
    for (const Slot& slot : arguments_[i]) {
      arguments.push_back(slot.fixed.has_value()
                              ? ColumnView::Constant(fixed_values_[*slot.fixed], partition->rows)
                              : held_->View(slot.column).Part(begin, partition->rows));
    }
    if (items_[i].function->needs_frames()) {
      if (absl::Status status = items_[i].bounds.Find(*partition, &check_, &frames_); !status.ok())
        return status;
    }
    absl::Status status = items_[i].function->Compute(*partition, arguments, frames_, &check_, &results_[i]);
    if (!status.ok()) return status;
  }
  return TellMemory();
}

absl::Status WindowOperator::ComputeNext() {
  for (rows::Column& results : results_) results.Clear();
  held_.emplace(types_);
  computed_ = given_ = 0;
  while (computed_ < rows::kBatchRowsMax) {
    const absl::StatusOr<bool> more = HoldPartition();
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::Status status = check_.Step(held_->rows() - computed_); !status.ok()) return status;
    if (absl::Status status = ComputePartition(computed_, held_->rows()); !status.ok()) return status;
    computed_ = held_->rows();
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> WindowOperator::Produce(rows::Batch* batch) {
  if (!is_read_) {
    if (absl::Status status = ReadAll(); !status.ok()) return status;
  }
  if (given_ == computed_) {
    if (absl::Status status = ComputeNext(); !status.ok()) return status;
  }
  const size_t rows = std::min(rows::kBatchRowsMax, computed_ - given_);
  if (rows == 0) return false;
  batch->rows = rows;
  for (size_t i = 0; i < column_count_; ++i) batch->columns.push_back(held_->View(i).Part(given_, rows));
  for (const rows::Column& results : results_) batch->columns.push_back(results.View().Part(given_, rows));
  given_ += rows;
  return true;
}

std::string WindowOperator::Details(bool has_run) const {
  std::string text;
  for (const WindowItem& window : plan_.windows) {
    text += text.empty() ? "" : ", ";
    text += window.call.function != nullptr ? window.call.function->name : "aggregate";
  }
  for (const ExpressionPtr& key : plan_.expressions) text += " by " + ToString(*key);
  for (const SortKey& key : plan_.sort) text += " order " + ToString(*key.expr);
  if (has_run && sorter_->bytes_on_disk() > 0)
    text += fmt::format("; {} bytes on disk", sorter_->bytes_on_disk());
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
