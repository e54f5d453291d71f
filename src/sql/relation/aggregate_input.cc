#include "sql/relation/aggregate_input.h"

#include <algorithm>
#include <utility>

#include "sql/function/function.h"
#include "sql/operator/sort_order.h"
#include "sql/plan/plan_tree.h"

namespace sonde::sql {
namespace {

constexpr size_t kHeldColumns = 2;  // in front of the inputs that are held: group, generation

}  // namespace

AggregateInput::AggregateInput(const AggregateItem& item, const QueryScope* scope,
                               std::string_view operator_name)
    : item_(item),
      scope_(scope),
      operator_name_(operator_name),
      check_(scope->state->interrupted),
      memory_(*scope->state, operator_name) {
  for (const ExpressionPtr& argument : item.arguments) {
    argument_types_.push_back(argument->type);
    AddInput(*argument);
  }
  for (const SortKey& key : item.order_by) AddInput(*key.expr);
  if (item.having != nullptr) having_.emplace(*item.having, scope->evaluation());
  selects_ = item.ignores_nulls || item.having != nullptr || item.distinct || !item.order_by.empty() ||
             item.limit != nullptr;
  can_save_ = item.having == nullptr && !item.distinct && item.order_by.empty() && item.limit == nullptr;
  skips_nulls_ = !item.arguments.empty() &&
                 (item.ignores_nulls || (item.function != nullptr && !item.function->takes_nulls));
  Begin();
}

absl::StatusOr<std::unique_ptr<AggregateInput>> AggregateInput::Create(const AggregateItem& item,
                                                                       const QueryScope* scope,
                                                                       std::string_view operator_name) {
  std::unique_ptr<AggregateInput> input(new AggregateInput(item, scope, operator_name));
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
  memory_.Clear();
  waiting_.reset();
  waiting_level_ = 0;
  if (item_.distinct) {
    std::vector<ColumnType> types(kHeldColumns, ColumnType::kInt64);
    for (const Type& type : argument_types_) types.push_back(ColumnTypeOf(type));
    distinct_.emplace(types);
  }
  if (!item_.order_by.empty()) sorted_.emplace(*scope_->state, operator_name_, TypesOfHeld(), KeysOfHeld());
}

std::vector<ColumnType> AggregateInput::TypesOfHeld() const {
  std::vector<ColumnType> types(kHeldColumns, ColumnType::kInt64);
  for (const Input& input : inputs_) {
    if (!input.is_fixed) types.push_back(ColumnTypeOf(input.evaluator.type()));
  }
  return types;
}

std::vector<RowKey> AggregateInput::KeysOfHeld() const {
  std::vector<RowKey> keys = {{.column = 0}};
  size_t column = kHeldColumns;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (inputs_[i].is_fixed) continue;
    if (i >= Arguments()) {
      const SortKey& key = item_.order_by[i - Arguments()];
      keys.push_back({column, key.descending, key.nulls_first});
    }
    ++column;
  }
  return keys;
}

void AggregateInput::Clear() { Begin(); }

size_t AggregateInput::MemoryBytes() const {
  size_t bytes = aggregator_->MemoryBytes() + taken_.capacity() * sizeof(Taken);
  if (extremes_.has_value()) bytes += extremes_->MemoryBytes();
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
  if (distinct_.has_value()) {
    if (absl::Status status = KeepDistinct(groups); !status.ok()) return status;
  }
  return AddKept(groups);
}

absl::Status AggregateInput::AddKept(absl::Span<const uint32_t> groups) {
  if (places_.empty()) return absl::OkStatus();
  if (sorted_.has_value()) return sorted_->Add(HeldColumns(groups), places_.size());
  if (limit_.has_value()) KeepFirst(groups);
  return AddPlaces(groups);
}

void AggregateInput::KeepThere() {
  const ColumnView& first = columns_[0];
  if (first.there() == nullptr) return;
  std::erase_if(places_, [&first](size_t place) { return !first.IsThere(place); });
}

absl::Status AggregateInput::KeepDistinct(absl::Span<const uint32_t> groups) {
  if (places_.empty()) return absl::OkStatus();
  std::vector<ColumnView> keys = GroupColumns(groups);
  for (size_t i = 0; i < Arguments(); ++i) keys.push_back(Gather(columns_[i], places_, &arena_));
  if (waiting_.has_value()) {
    // Rows that are known were taken before; the others may be new.
    distinct_->FindKnown(keys, places_.size());
    std::vector<size_t> unknown;
    for (const Groups::Run& run : distinct_->runs()) {
      for (size_t i = 0; run.group == Groups::kNone && i < run.rows; ++i) unknown.push_back(run.first + i);
    }
    absl::Status status = waiting_->AppendPlaces(keys, HeldColumns(groups), unknown);
    places_.clear();
    return status.ok() ? check_.Step(8 * unknown.size()) : status;
  }
  size_t known = distinct_->size();
  distinct_->Find(keys, places_.size());
  std::vector<size_t> first_ones;
  for (const Groups::Run& run : distinct_->runs()) {
    if (run.group < known) continue;
    first_ones.push_back(places_[run.first]);
    known = run.group + 1;
  }
  places_ = std::move(first_ones);
  return TellDistinct();
}

absl::Status AggregateInput::TellDistinct() {
  const absl::Status refused = memory_.Set(distinct_->MemoryBytes());
  const ExecutionState& state = *scope_->state;
  if (refused.ok() || !state.SpillsAfter(refused)) return refused;
  if (waiting_level_ == Partitions::kLevelsMax) return refused;
  waiting_.emplace(state.spill, operator_name_, TypesOfHeld(), waiting_level_);
  return absl::OkStatus();
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

std::vector<ColumnView> AggregateInput::GroupColumns(absl::Span<const uint32_t> groups) {
  int64_t* const numbers = arena_.New<int64_t>(places_.size());
  int64_t* const generations = arena_.New<int64_t>(places_.size());
  for (size_t i = 0; i < places_.size(); ++i) {
    numbers[i] = groups[places_[i]];
    generations[i] = GenerationOf(groups[places_[i]]);
  }
  return {ColumnView::OfInts({numbers, places_.size()}), ColumnView::OfInts({generations, places_.size()})};
}

std::vector<ColumnView> AggregateInput::HeldColumns(absl::Span<const uint32_t> groups) {
  std::vector<ColumnView> held = GroupColumns(groups);
  for (size_t i = 0; i < inputs_.size(); ++i) {
    if (!inputs_[i].is_fixed) held.push_back(Gather(columns_[i], places_, &arena_));
  }
  return held;
}

absl::Status AggregateInput::TakeHeld(const rows::Batch& held, std::vector<uint32_t>* groups) {
  arena_.Clear();
  columns_.clear();
  places_.clear();
  groups->clear();
  size_t column = kHeldColumns;
  for (Input& input : inputs_) {
    if (!input.is_fixed) {
      columns_.push_back(held.columns[column++]);
      continue;
    }
    const absl::StatusOr<ColumnView> values = ValuesOf(input, {.rows = held.rows, .columns = {}});
    if (!values.ok()) return values.status();
    columns_.push_back(*values);
  }
  for (size_t row = 0; row < held.rows; ++row) {
    groups->push_back(static_cast<uint32_t>(held.columns[0].ints()[row]));
    if (GenerationOf(groups->back()) == held.columns[1].ints()[row]) places_.push_back(row);
  }
  return absl::OkStatus();
}

absl::Status AggregateInput::Finish(size_t groups) {
  aggregator_->Resize(groups);
  if (distinct_.has_value()) {
    if (absl::Status status = AddWaiting(); !status.ok()) return status;
  }
  return sorted_.has_value() ? AddSorted() : absl::OkStatus();
}

absl::Status AggregateInput::AddWaiting() {
  struct Part {
    std::unique_ptr<SpilledRows> rows;
    uint32_t level = 0;  // of its own partitions
  };
  std::vector<Part> parts;
  while (true) {
    if (waiting_.has_value()) {
      if (absl::Status status = waiting_->Finish(); !status.ok()) return status;
      for (size_t i = 0; i < Partitions::kCount; ++i) {
        std::unique_ptr<SpilledRows> rows = waiting_->Take(i);
        if (rows != nullptr) parts.push_back({std::move(rows), waiting_level_ + 1});
      }
      waiting_.reset();
    }
    distinct_->Clear();
    memory_.Clear();
    if (parts.empty()) return absl::OkStatus();
    const Part part = std::move(parts.back());
    parts.pop_back();
    waiting_level_ = part.level;
    if (absl::Status status = AddWaitingOf(part.rows.get()); !status.ok()) return status;
  }
}

absl::Status AggregateInput::AddWaitingOf(SpilledRows* waiting) {
  rows::Batch held;
  std::vector<uint32_t> groups;
  while (true) {
    const absl::StatusOr<bool> more = waiting->Next(&held);
    if (!more.ok()) return more.status();
    if (!*more) return absl::OkStatus();
    if (absl::Status status = check_.Step(16 * held.rows); !status.ok()) return status;
    if (absl::Status status = TakeHeld(held, &groups); !status.ok()) return status;
    if (absl::Status status = KeepDistinct(groups); !status.ok()) return status;
    if (absl::Status status = AddKept(groups); !status.ok()) return status;
  }
}

absl::Status AggregateInput::AddSorted() {
  if (absl::Status status = sorted_->Finish(); !status.ok()) return status;
  rows::Batch held;
  std::vector<uint32_t> groups;
  while (true) {
    const absl::StatusOr<bool> more = sorted_->Next(&held);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::Status status = check_.Step(held.rows); !status.ok()) return status;
    if (absl::Status status = TakeHeld(held, &groups); !status.ok()) return status;
    if (limit_.has_value()) KeepFirst(groups);
    if (absl::Status status = AddPlaces(groups); !status.ok()) return status;
    if (absl::Status status = memory_.Set(aggregator_->MemoryBytes()); !status.ok()) return status;
  }
  sorted_->Clear();
  return absl::OkStatus();
}

}  // namespace sonde::sql
