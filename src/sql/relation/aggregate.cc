#include "sql/relation/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rows/column.h"
#include "rows/work_check.h"
#include "sql/expression/evaluator.h"
#include "sql/expression/scatter.h"
#include "sql/function/function.h"
#include "sql/operator/groups.h"
#include "sql/operator/selectivity.h"
#include "sql/relation/aggregate_input.h"
#include "sql/relation/part_groups.h"
#include "sql/spill/spill_rows.h"

namespace sonde::sql {
namespace {

// What states and rows take that wait to be written, about.
constexpr size_t kPartitionBytes = 2 * Partitions::kBufferBytes;

// When the account refuses memory, no new groups are made: rows of groups that are known are still added to them, the others
// wait on disk.  When states grow beyond that, they go to disk, too, in front of the rows that come from then on.  At the end the
// groups in memory are given, and then each partition of what is on disk is worked on like the input.
class AggregateOperator final : public Operator {
 public:
  AggregateOperator(const QueryScope* scope, const Plan& plan,
                    std::vector<std::unique_ptr<AggregateInput>> aggregates, OperatorPtr from,
                    std::unique_ptr<DividedRows> divided)
      : Operator(scope, NameOf(plan)),
        plan_(plan),
        aggregates_(std::move(aggregates)),
        groups_(TypesOfKeys(plan)),
        memory_(*scope->state, name()),
        check_(state().interrupted),
        divided_(std::move(divided)) {
    for (const ExpressionPtr& key : plan.expressions) keys_.emplace_back(*key, evaluation());
    AddInput(std::move(from));
  }
  static const char* NameOf(const Plan& plan) { return plan.expressions.empty() ? "Aggregate" : "GroupBy"; }

  void Restart() override {
    Operator::Restart();
    Begin({});
    divided_.reset();  // what runs again and again is short
    parts_.clear();
    has_begun_ = false;
  }

 private:
  // What is worked on at a time: first states of groups, then rows.
  struct Part {
    std::unique_ptr<SpilledRows> states;  // keys, and a state for each aggregate
    std::unique_ptr<SpilledRows> rows;    // of the input
    uint32_t level = 0;                   // of its own partitions
  };
  enum class Growth : uint8_t { kFree, kKnownGroups, kNone };

  static std::vector<ColumnType> TypesOfKeys(const Plan& plan) {
    std::vector<ColumnType> types;
    for (const ExpressionPtr& key : plan.expressions) types.push_back(ColumnTypeOf(key->type));
    return types;
  }

  absl::StatusOr<bool> Produce(rows::Batch* batch) override;
  // Without keys there is one group, also of no rows.
  size_t Count() const { return keys_.empty() ? 1 : groups_.size(); }
  void Begin(Part part);
  // Reads the input, or the part at hand.
  absl::Status ReadAll();
  absl::Status ReadPart();
  // Takes the groups of parts that helpers have made, as long as groups grow freely.
  absl::Status TakeParts();
  absl::Status Merge(const PartGroups& part);
  absl::StatusOr<bool> NextOfInput(rows::Batch* in);
  absl::Status Add(const rows::Batch& in);
  absl::Status AddStates(const rows::Batch& in);
  // Adds the rows of known groups; the others go to disk.
  absl::Status AddKnown(const rows::Batch& in);
  absl::Status AddToAggregates(const rows::Batch& in);
  // Tells the account of what is held, and makes groups grow less if that is refused.
  absl::Status TellMemory();
  absl::Status SaveStates();
  // What is on disk becomes parts.
  absl::Status Split();
  std::optional<double> EstimateRows() const override {
    const std::optional<double> rows = EstimateOf(0);
    if (keys_.empty()) return 1;
    return rows.has_value() ? std::optional(*rows * kGroupsOfRows) : std::nullopt;
  }
  std::string Details(bool has_run) const override;

  const Plan& plan_;
  std::vector<Evaluator> keys_;
  const std::vector<std::unique_ptr<AggregateInput>> aggregates_;
  Groups groups_;
  OperatorMemory memory_;
  rows::WorkCheck check_;
  std::unique_ptr<DividedRows> divided_;  // null: one thread does all
  bool has_begun_ = false;
  std::vector<Part> parts_;  // what is still to be done, the last one first
  size_t groups_given_ = 0;  // of parts before this one
  int64_t bytes_on_disk_ = 0;

  // The part at hand, and how its groups grow.
  Part part_;
  Growth growth_ = Growth::kFree;
  size_t bytes_max_ = 0;  // beyond that states have to go to disk; 0: the account says so
  std::optional<Partitions> waiting_states_;
  std::optional<Partitions> waiting_rows_;
  size_t next_group_ = 0;
  size_t room_ = 1;  // a power of two: for so many groups aggregates have room
  Arena arena_;
  std::vector<ColumnView> key_columns_;  // of the batch at hand
};

absl::StatusOr<bool> AggregateOperator::Produce(rows::Batch* batch) {
  if (!std::exchange(has_begun_, true)) {
    if (absl::Status status = ReadAll(); !status.ok()) return status;
  }
  while (next_group_ == Count() && !parts_.empty()) {
    groups_given_ += Count();
    Part part = std::move(parts_.back());
    parts_.pop_back();
    Begin(std::move(part));
    if (absl::Status status = ReadAll(); !status.ok()) return status;
  }
  arena_.Clear();
  const size_t rows = std::min(rows::kBatchRowsMax, Count() - next_group_);
  if (rows == 0) return false;
  batch->rows = rows;
  for (size_t i = 0; i < keys_.size(); ++i) {
    batch->columns.push_back(groups_.Keys(i).Part(next_group_, rows));
  }
  for (const auto& aggregate : aggregates_) {
    const absl::StatusOr<ColumnView> results = aggregate->Results(next_group_, rows, &arena_);
    if (!results.ok()) return results.status();
    batch->columns.push_back(*results);
  }
  next_group_ += rows;
  return true;
}

void AggregateOperator::Begin(Part part) {
  for (const auto& aggregate : aggregates_) aggregate->Clear();
  groups_ = Groups(TypesOfKeys(plan_));
  memory_.Clear();
  part_ = std::move(part);
  growth_ = Growth::kFree;
  bytes_max_ = 0;
  waiting_states_.reset();
  waiting_rows_.reset();
  next_group_ = 0;
}

absl::Status AggregateOperator::ReadAll() {
  if (absl::Status status = ReadPart(); !status.ok()) return status;
  for (const auto& aggregate : aggregates_) {
    if (absl::Status status = aggregate->Finish(Count()); !status.ok()) return status;
  }
  return Split();
}

absl::Status AggregateOperator::ReadPart() {
  const bool is_input = part_.states == nullptr && part_.rows == nullptr;
  rows::Batch in;
  while (part_.states != nullptr) {
    const absl::StatusOr<bool> more = part_.states->Next(&in);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::Status status = AddStates(in); !status.ok()) return status;
  }
  part_.states.reset();
  if (is_input && divided_ != nullptr) {
    if (absl::Status status = TakeParts(); !status.ok()) return status;
  }
  while (is_input || part_.rows != nullptr) {
    const absl::StatusOr<bool> more = is_input ? NextOfInput(&in) : part_.rows->Next(&in);
    if (!more.ok()) return more.status();
    if (!*more) break;
    if (absl::Status status = Add(in); !status.ok()) return status;
  }
  part_.rows.reset();
  return absl::OkStatus();
}

absl::StatusOr<bool> AggregateOperator::NextOfInput(rows::Batch* in) {
  const bool is_rest = divided_ != nullptr && divided_->HasDivided();
  return is_rest ? divided_->NextOfRest(in) : input().Next(in);
}

absl::Status AggregateOperator::TakeParts() {
  while (growth_ == Growth::kFree) {
    const absl::StatusOr<PartFold*> part = divided_->NextPart(&input());
    if (!part.ok()) return part.status();
    if (*part == nullptr) return absl::OkStatus();
    if (absl::Status status = Merge(static_cast<const PartGroups&>(**part)); !status.ok()) {
      divided_->EndParts();
      return status;
    }
  }
  // Rows of groups that are not known go to disk from now on, which is this thread's work.
  divided_->EndParts();
  return absl::OkStatus();
}

absl::Status AggregateOperator::Merge(const PartGroups& part) {
  constexpr size_t kGroupsAtOnce = 256;
  for (size_t first = 0; first < part.size(); first += kGroupsAtOnce) {
    const size_t count = std::min(kGroupsAtOnce, part.size() - first);
    if (absl::Status status = check_.Step(16 * count); !status.ok()) return status;
    groups_.Find(part.Keys(first, count), count);
    const absl::Span<const uint32_t> groups = groups_.of_rows();
    for (size_t i = 0; i < aggregates_.size(); ++i) {
      aggregates_[i]->Resize(groups_.size());
      for (size_t group = 0; group < count; ++group) {
        absl::Status status =
            aggregates_[i]->Merge(groups[group], part.aggregate(i), static_cast<uint32_t>(first + group));
        if (!status.ok()) return status;
      }
    }
  }
  return TellMemory();
}

absl::Status AggregateOperator::Add(const rows::Batch& in) {
  arena_.Clear();
  key_columns_.clear();
  for (Evaluator& key : keys_) {
    const absl::StatusOr<ColumnView> column = key.Evaluate(in, &arena_, outer());
    if (!column.ok()) return column.status();
    key_columns_.push_back(*column);
  }
  if (growth_ != Growth::kFree) return AddKnown(in);
  groups_.Find(key_columns_, in.rows);
  return AddToAggregates(in);
}

absl::Status AggregateOperator::AddToAggregates(const rows::Batch& in) {
  // What grows with the groups doubles now and then, in each aggregate at the same time.
  const bool doubles = std::bit_ceil(groups_.size()) != std::exchange(room_, std::bit_ceil(groups_.size()));
  for (const auto& aggregate : aggregates_) {
    if (doubles) {
      if (absl::Status status = CheckInterrupted(); !status.ok()) return status;
    }
    if (absl::Status status = aggregate->Add(in, &groups_); !status.ok()) return status;
  }
  return TellMemory();
}

absl::Status AggregateOperator::AddKnown(const rows::Batch& in) {
  if (absl::Status status = check_.Step(8 * in.rows); !status.ok()) return status;
  if (growth_ == Growth::kNone) return waiting_rows_->Append(key_columns_, in.columns, in.rows);
  groups_.FindKnown(key_columns_, in.rows);
  const absl::Span<const uint32_t> groups = groups_.of_rows();
  std::vector<size_t> known;
  std::vector<size_t> unknown;
  for (size_t row = 0; row < in.rows; ++row) (groups[row] == Groups::kNone ? unknown : known).push_back(row);
  if (!unknown.empty()) {
    absl::Status status = waiting_rows_->AppendPlaces(key_columns_, in.columns, unknown);
    if (!status.ok()) return status;
  }
  if (known.empty()) return absl::OkStatus();
  if (unknown.empty()) return AddToAggregates(in);
  rows::Batch part{.rows = known.size(), .columns = {}};
  std::vector<ColumnView> keys;
  for (const ColumnView& column : in.columns) part.columns.push_back(Gather(column, known, &arena_));
  for (const ColumnView& key : key_columns_) keys.push_back(Gather(key, known, &arena_));
  groups_.FindKnown(keys, known.size());
  return AddToAggregates(part);
}

absl::Status AggregateOperator::AddStates(const rows::Batch& in) {
  const std::vector<ColumnView> keys(in.columns.begin(), in.columns.begin() + std::ssize(keys_));
  if (absl::Status status = check_.Step(16 * in.rows); !status.ok()) return status;
  // Each group has one state, so that none is known.
  if (growth_ != Growth::kFree) return waiting_states_->Append(keys, in.columns, in.rows);
  groups_.Find(keys, in.rows);
  const absl::Span<const uint32_t> groups = groups_.of_rows();
  for (size_t i = 0; i < aggregates_.size(); ++i) {
    aggregates_[i]->Resize(groups_.size());
    const ColumnView& states = in.columns[keys_.size() + i];
    for (size_t row = 0; row < in.rows; ++row) {
      if (absl::Status status = aggregates_[i]->Load(groups[row], states.bytes()[row]); !status.ok())
        return status;
    }
  }
  return TellMemory();
}

absl::Status AggregateOperator::TellMemory() {
  size_t bytes = groups_.MemoryBytes();
  for (const auto& aggregate : aggregates_) bytes += aggregate->MemoryBytes();
  if (growth_ != Growth::kFree && bytes <= bytes_max_) return absl::OkStatus();
  const absl::Status refused = memory_.Set(bytes + std::min(bytes, kPartitionBytes));
  if (refused.ok() || !state().SpillsAfter(refused)) return refused;
  // One group cannot be divided, nor rows that no level tells apart.
  if (groups_.size() <= 1 || part_.level == Partitions::kLevelsMax) return refused;
  if (growth_ == Growth::kFree) {
    growth_ = Growth::kKnownGroups;
    bytes_max_ = bytes;
    std::vector<ColumnType> types;
    for (const Type& type : plan_.inputs[0]->types) types.push_back(ColumnTypeOf(type));
    waiting_rows_.emplace(state().spill, name(), std::move(types), part_.level);
    std::vector<ColumnType> state_types = TypesOfKeys(plan_);
    state_types.resize(keys_.size() + aggregates_.size(), ColumnType::kBytes);
    waiting_states_.emplace(state().spill, name(), std::move(state_types), part_.level);
    return absl::OkStatus();
  }
  for (const auto& aggregate : aggregates_) {
    if (!aggregate->CanSave()) return refused;
  }
  return SaveStates();
}

absl::Status AggregateOperator::SaveStates() {
  constexpr size_t kGroupsAtOnce = 64;
  for (size_t first = 0; first < groups_.size(); first += kGroupsAtOnce) {
    const size_t rows = std::min(kGroupsAtOnce, groups_.size() - first);
    if (absl::Status status = check_.Step(64 * rows); !status.ok()) return status;
    std::vector<ColumnView> keys;
    for (size_t i = 0; i < keys_.size(); ++i) keys.push_back(groups_.Keys(i).Part(first, rows));
    std::vector<rows::Column> states;
    for (const auto& aggregate : aggregates_) {
      rows::Column& column = states.emplace_back(ColumnType::kBytes);
      std::string state;
      for (size_t i = 0; i < rows; ++i) {
        state.clear();
        aggregate->Save(static_cast<uint32_t>(first + i), &state);
        column.AppendBytes(state);
      }
    }
    std::vector<ColumnView> columns = keys;
    for (const rows::Column& column : states) columns.push_back(column.View());
    if (absl::Status status = waiting_states_->Append(keys, columns, rows); !status.ok()) return status;
  }
  growth_ = Growth::kNone;
  for (const auto& aggregate : aggregates_) aggregate->Clear();
  groups_ = Groups(TypesOfKeys(plan_));
  memory_.Clear();
  return memory_.Set(kPartitionBytes);
}

absl::Status AggregateOperator::Split() {
  if (growth_ == Growth::kFree) return absl::OkStatus();
  if (absl::Status status = waiting_states_->Finish(); !status.ok()) return status;
  if (absl::Status status = waiting_rows_->Finish(); !status.ok()) return status;
  for (size_t i = 0; i < Partitions::kCount; ++i) {
    Part part{.states = waiting_states_->Take(i), .rows = waiting_rows_->Take(i), .level = part_.level + 1};
    for (const SpilledRows* rows : {part.states.get(), part.rows.get()}) {
      if (rows != nullptr) bytes_on_disk_ += rows->bytes();
    }
    if (part.states != nullptr || part.rows != nullptr) parts_.push_back(std::move(part));
  }
  return absl::OkStatus();
}

std::string AggregateOperator::Details(bool has_run) const {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  for (const ExpressionPtr& key : plan_.expressions) add(ToString(*key));
  for (const AggregateItem& item : plan_.aggregates) {
    std::string arguments;
    for (const ExpressionPtr& argument : item.arguments) {
      arguments += (arguments.empty() ? "" : ", ") + ToString(*argument);
    }
    add(fmt::format("{}({})", item.function != nullptr ? item.function->name : "aggregate", arguments));
  }
  if (!has_run) return text;
  text = fmt::format("{} groups; {}", groups_given_ + Count(), text);
  if (divided_ != nullptr && divided_->HasDivided()) text = divided_->Text() + "; " + text;
  return bytes_on_disk_ == 0 ? text : fmt::format("{}; {} bytes on disk", text, bytes_on_disk_);
}

}  // namespace

absl::StatusOr<OperatorPtr> MakeAggregate(const QueryScope* scope, const Plan& plan, OperatorPtr input,
                                          BuildPart build) {
  std::vector<std::unique_ptr<AggregateInput>> aggregates;
  for (const AggregateItem& item : plan.aggregates) {
    absl::StatusOr<std::unique_ptr<AggregateInput>> aggregate =
        AggregateInput::Create(item, scope, AggregateOperator::NameOf(plan));
    if (!aggregate.ok()) return aggregate.status();
    aggregates.push_back(*std::move(aggregate));
  }
  std::unique_ptr<DividedRows> divided;
  if (build != nullptr && DividedRows::Fits(*scope, *plan.inputs[0]) && PartGroups::Fits(plan)) {
    divided = std::make_unique<DividedRows>(
        scope, *plan.inputs[0], std::move(build),
        [&plan](const QueryScope* part) { return PartGroups::Create(part, plan); });
  }
  return std::make_unique<AggregateOperator>(scope, plan, std::move(aggregates), std::move(input),
                                             std::move(divided));
}

}  // namespace sonde::sql
