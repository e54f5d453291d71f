#include "sql/exec/aggregate_input.h"

#include <algorithm>
#include <utility>

#include "sql/exec/sort_order.h"
#include "sql/exec/volatile_parts.h"
#include "sql/function/function.h"

namespace sonde::sql {
namespace {

constexpr size_t kHeldColumns = 2;  // in front of the inputs that are held: group, generation

}  // namespace

AggregateInput::AggregateInput(const AggregateItem& item, const QueryScope* scope)
    : item_(item), scope_(scope), check_(scope->state->interrupted) {
  for (const ExpressionPtr& argument : item.arguments) {
    argument_types_.push_back(argument->type);
    AddInput(*argument);
  }
  for (const SortKey& key : item.order_by) AddInput(*key.expr);
  if (item.having != nullptr) having_.emplace(*item.having, scope->evaluation());
  selects_ = item.ignores_nulls || item.having != nullptr || item.distinct || !item.order_by.empty() ||
             item.limit != nullptr;
  skips_nulls_ = !item.arguments.empty() &&
                 (item.ignores_nulls || (item.function != nullptr && !item.function->takes_nulls));
  Begin();
}

absl::StatusOr<std::unique_ptr<AggregateInput>> AggregateInput::Create(const AggregateItem& item,
                                                                       const QueryScope* scope) {
  std::unique_ptr<AggregateInput> input(new AggregateInput(item, scope));
  if (item.limit == nullptr) return input;
  const absl::StatusOr<Value> limit = EvaluateConstant(*item.limit, *scope->evaluation());
  if (!limit.ok()) return limit.status();
  if (limit->is_null()) return absl::OutOfRangeError("Limit requires non-null count");
  if (limit->datum().integer < 0) return absl::OutOfRangeError("Limit requires non-negative count");
  input->limit_ = limit->datum().integer;
  return input;
}

void AggregateInput::AddInput(const Expression& expression) {
  inputs_.push_back({.is_fixed = ColumnsOf(expression).empty() && !HasVolatile(expression),
                     .evaluator = Evaluator(expression, scope_->evaluation())});
}

void AggregateInput::Begin() {
  const AggregateSite site{
      .argument_types = argument_types_, .result_type = item_.type, .facts = &scope_->evaluation()->facts};
  aggregator_ = item_.overload->aggregator(site);
  taken_.clear();
  if (having_.has_value()) extremes_.emplace(item_.having_is_max);
  const std::vector<ColumnType> in_front(kHeldColumns, ColumnType::kInt64);
  if (item_.distinct) {
    std::vector<ColumnType> types = in_front;
    for (const Type& type : argument_types_) types.push_back(ColumnTypeOf(type));
    distinct_.emplace(types);
  }
  if (!item_.order_by.empty()) {
    std::vector<ColumnType> types = in_front;
    for (const Input& input : inputs_) {
      if (!input.is_fixed) types.push_back(ColumnTypeOf(input.evaluator.type()));
    }
    sorted_.emplace(types);
  }
}

void AggregateInput::Clear() { Begin(); }

size_t AggregateInput::MemoryBytes() const {
  size_t bytes = aggregator_->MemoryBytes() + taken_.capacity() * sizeof(Taken);
  if (extremes_.has_value()) bytes += extremes_->MemoryBytes();
  if (distinct_.has_value()) bytes += distinct_->MemoryBytes();
  if (sorted_.has_value()) bytes += sorted_->MemoryBytes();
  return bytes;
}

absl::StatusOr<ColumnView> AggregateInput::ValuesOf(Input& input, const rows::Batch& batch) {
  if (!input.is_fixed) return input.evaluator.Evaluate(batch, &arena_, scope_->outer);
  const absl::StatusOr<ColumnView> value =
      input.evaluator.Evaluate({.rows = 1, .columns = {}}, &arena_, scope_->outer);
  if (!value.ok()) return value.status();
  return ColumnView::Constant(*value, batch.rows);
}

absl::Status AggregateInput::Add(const rows::Batch& batch, Groups* groups) {
  arena_.Clear();
  columns_.clear();
  for (Input& input : inputs_) {
    const absl::StatusOr<ColumnView> values = ValuesOf(input, batch);
    if (!values.ok()) return values.status();
    columns_.push_back(*values);
  }
  aggregator_->Resize(groups->size());
  return selects_ ? AddSome(batch, groups->of_rows()) : AddAll(batch.rows, groups);
}

absl::Status AggregateInput::AddAll(size_t rows, Groups* groups) {
  if (!groups->AreRunsLong()) return aggregator_->Add(columns_, groups->of_rows());
  if (groups->runs().size() == 1) return aggregator_->AddRun(columns_, rows, groups->runs()[0].group);
  std::vector<ColumnView> parts(columns_.size());
  for (const Groups::Run& run : groups->runs()) {
    for (size_t i = 0; i < columns_.size(); ++i) parts[i] = columns_[i].Part(run.first, run.rows);
    if (absl::Status status = aggregator_->AddRun(parts, run.rows, run.group); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AggregateInput::AddSome(const rows::Batch& batch, absl::Span<const uint32_t> groups) {
  places_.resize(batch.rows);
  for (size_t i = 0; i < batch.rows; ++i) places_[i] = i;
  if (skips_nulls_) KeepThere();
  if (having_.has_value()) {
    const absl::StatusOr<ColumnView> values = having_->Evaluate(batch, &arena_, scope_->outer);
    if (!values.ok()) return values.status();
    extremes_->Keep(*values, groups, &places_, aggregator_.get());
  }
  if (distinct_.has_value()) KeepDistinct(groups);
  if (places_.empty()) return absl::OkStatus();
  if (sorted_.has_value()) {
    Hold(groups);
    return check_.Step(places_.size());
  }
  if (limit_.has_value()) KeepFirst(groups);
  return AddPlaces(groups);
}

void AggregateInput::KeepThere() {
  const ColumnView& first = columns_[0];
  if (first.there() == nullptr) return;
  std::erase_if(places_, [&first](size_t place) { return !first.IsThere(place); });
}

void AggregateInput::KeepDistinct(absl::Span<const uint32_t> groups) {
  if (places_.empty()) return;
  numbers_.clear();
  generations_.clear();
  for (const size_t place : places_) {
    numbers_.push_back(groups[place]);
    generations_.push_back(GenerationOf(groups[place]));
  }
  std::vector<ColumnView> keys = {ColumnView::OfInts(numbers_), ColumnView::OfInts(generations_)};
  for (size_t i = 0; i < Arguments(); ++i) keys.push_back(Gather(columns_[i], places_, &arena_));
  size_t known = distinct_->size();
  distinct_->Find(keys, places_.size());
  std::vector<size_t> first_ones;
  for (const Groups::Run& run : distinct_->runs()) {
    if (run.group < known) continue;
    first_ones.push_back(places_[run.first]);
    known = run.group + 1;
  }
  places_ = std::move(first_ones);
}

void AggregateInput::KeepFirst(absl::Span<const uint32_t> groups) {
  std::erase_if(places_, [&](size_t place) { return !TakesOneMore(groups[place]); });
}

bool AggregateInput::TakesOneMore(uint32_t group) {
  if (group >= taken_.size()) taken_.resize(group + 1);
  Taken& taken = taken_[group];
  if (taken.generation != GenerationOf(group)) taken = {0, GenerationOf(group)};
  return taken.rows++ < *limit_;
}

absl::Status AggregateInput::AddPlaces(absl::Span<const uint32_t> groups) {
  if (places_.empty()) return absl::OkStatus();
  const std::vector<ColumnView> all(columns_.begin(), columns_.begin() + std::ssize(item_.arguments));
  if (places_.size() == groups.size()) return aggregator_->Add(all, groups);
  some_groups_.clear();
  for (const size_t place : places_) some_groups_.push_back(groups[place]);
  std::vector<ColumnView> some;
  for (const ColumnView& column : all) {
    some.push_back(column.is_constant() ? column.Part(0, places_.size()) : Gather(column, places_, &arena_));
  }
  return aggregator_->Add(some, some_groups_);
}

void AggregateInput::Hold(absl::Span<const uint32_t> groups) {
  numbers_.clear();
  generations_.clear();
  for (const size_t place : places_) {
    numbers_.push_back(groups[place]);
    generations_.push_back(GenerationOf(groups[place]));
  }
  std::vector<ColumnView> held = {ColumnView::OfInts(numbers_), ColumnView::OfInts(generations_)};
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].is_fixed) held.push_back(Gather(columns_[i], places_, &arena_));
  }
  sorted_->Append(held, places_.size());
}

absl::Status AggregateInput::Finish(size_t groups) {
  aggregator_->Resize(groups);
  return sorted_.has_value() ? AddSorted() : absl::OkStatus();
}

absl::Status AggregateInput::AddSorted() {
  const std::vector<ColumnView> held = sorted_->Views();
  std::vector<SortColumn> keys = {{held[0], false, true}};
  size_t column = kHeldColumns;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].is_fixed) continue;
    if (i >= Arguments()) {
      const SortKey& key = item_.order_by[i - Arguments()];
      keys.push_back({held[column], key.descending, key.nulls_first});
    }
    ++column;
  }
  const absl::StatusOr<std::vector<size_t>> order = SortOrder(keys, sorted_->rows(), &check_);
  if (!order.ok()) return order.status();
  for (size_t first = 0; first < order->size(); first += rows::kBatchRowsMax) {
    const auto rows = absl::MakeConstSpan(*order).subspan(first, rows::kBatchRowsMax);
    if (absl::Status status = check_.Step(rows.size()); !status.ok()) return status;
    if (absl::Status status = AddSortedRows(rows, held); !status.ok()) return status;
  }
  return absl::OkStatus();
}

absl::Status AggregateInput::AddSortedRows(absl::Span<const size_t> rows,
                                           const std::vector<ColumnView>& held) {
  arena_.Clear();
  places_.clear();
  some_groups_.clear();
  for (const size_t row : rows) {
    const auto group = static_cast<uint32_t>(held[0].ints()[row]);
    if (GenerationOf(group) != held[1].ints()[row]) continue;
    if (limit_.has_value() && !TakesOneMore(group)) continue;
    places_.push_back(row);
    some_groups_.push_back(group);
  }
  if (places_.empty()) return absl::OkStatus();
  std::vector<ColumnView> arguments;
  size_t column = kHeldColumns;
  for (size_t i = 0; i < Arguments(); ++i) {
    if (inputs_[i].is_fixed) {
      const absl::StatusOr<ColumnView> values = ValuesOf(inputs_[i], {.rows = places_.size(), .columns = {}});
      if (!values.ok()) return values.status();
      arguments.push_back(*values);
    } else {
      arguments.push_back(Gather(held[column++], places_, &arena_));
    }
  }
  return aggregator_->Add(arguments, some_groups_);
}

}  // namespace sonde::sql
