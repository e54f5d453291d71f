#include "sql/relation/set_operation.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "rows/work_check.h"
#include "sql/expression/evaluator.h"
#include "sql/expression/scatter.h"
#include "sql/operator/groups.h"
#include "sql/operator/selectivity.h"
#include "sql/spill/spill_rows.h"

namespace sonde::sql {
namespace {

// When the account refuses memory, no new groups are made: rows of groups that are known are counted, and given, as before; the
// others wait on disk.  Then each partition of both inputs is worked on like the inputs.
class SetOperation final : public Operator {
 public:
  SetOperation(const QueryScope* scope, const Plan& plan, OperatorPtr first, OperatorPtr second)
      : Operator(scope, plan.set_is_except ? "Except" : "Intersect"),
        plan_(plan),
        types_(TypesOf(plan)),
        groups_(types_),
        memory_(*scope->state, name()),
        check_(state().interrupted) {
    AddInput(std::move(first));
    AddInput(std::move(second));
  }

  void Restart() override {
    Operator::Restart();
    Begin({});
    parts_.clear();
    is_input_ = true;
  }

 private:
  // What is worked on at a time: rows of the second input, and then of the first one.
  struct Part {
    std::unique_ptr<SpilledRows> first;
    std::unique_ptr<SpilledRows> second;
    uint32_t level = 0;  // of its own partitions
  };

  static std::vector<ColumnType> TypesOf(const Plan& plan) {
    std::vector<ColumnType> types;
    for (const Type& type : plan.types) types.push_back(ColumnTypeOf(type));
    return types;
  }

  // At most as many as the first input.
  std::optional<double> EstimateRows() const override {
    const std::optional<double> rows = EstimateOf(0);
    return rows.has_value() && plan_.set_is_distinct ? std::optional(*rows * kGroupsOfRows) : rows;
  }
  absl::StatusOr<bool> Produce(rows::Batch* batch) override;
  void Begin(Part part);
  absl::Status ReadSecond();
  // The next rows of the inputs, or of the part at hand.
  absl::StatusOr<bool> NextOf(bool is_second);
  // Finds the groups of in_.  Rows that wait are of Groups::kNone.
  absl::StatusOr<absl::Span<const uint32_t>> FindGroups(std::optional<Partitions>* waiting);
  // Whether the next row of a group comes through.
  bool Gives(uint32_t group);
  absl::Status TellMemory();
  // What is on disk becomes parts.
  absl::Status Split();

  const Plan& plan_;
  const std::vector<ColumnType> types_;
  bool is_input_ = true;  // the inputs are worked on, not a part of them
  std::vector<Part> parts_;

  // The inputs, or the part at hand, and their groups.
  Part part_;
  Groups groups_;  // of both inputs
  // By group:
  std::vector<uint64_t> counts_;  // rows of the second input, less those that were taken away
  std::vector<uint8_t> is_given_;
  OperatorMemory memory_;
  rows::WorkCheck check_;
  std::optional<Partitions> waiting_first_;  // there is room for no more groups
  std::optional<Partitions> waiting_second_;
  bool is_read_ = false;
  rows::Batch in_;
  std::vector<size_t> places_;
  Arena arena_;
};

void SetOperation::Begin(Part part) {
  part_ = std::move(part);
  groups_ = Groups(types_);
  counts_.clear();
  is_given_.clear();
  memory_.Clear();
  waiting_first_.reset();
  waiting_second_.reset();
  is_read_ = false;
}

absl::StatusOr<bool> SetOperation::NextOf(bool is_second) {
  if (is_input_) return input(is_second ? 1 : 0).Next(&in_);
  SpilledRows* const rows = is_second ? part_.second.get() : part_.first.get();
  if (rows == nullptr) return false;
  if (absl::Status status = check_.Step(16 * rows::kBatchRowsMax); !status.ok()) return status;
  return rows->Next(&in_);
}

absl::StatusOr<absl::Span<const uint32_t>> SetOperation::FindGroups(std::optional<Partitions>* waiting) {
  if (waiting_first_.has_value()) {
    groups_.FindKnown(in_.columns, in_.rows);
    const absl::Span<const uint32_t> groups = groups_.of_rows();
    places_.clear();
    for (size_t row = 0; row < in_.rows; ++row) {
      if (groups[row] == Groups::kNone) places_.push_back(row);
    }
    absl::Status status = (*waiting)->AppendPlaces(in_.columns, in_.columns, places_);
    if (!status.ok()) return status;
    return groups;
  }
  groups_.Find(in_.columns, in_.rows);
  counts_.resize(groups_.size());
  is_given_.resize(groups_.size());
  if (absl::Status status = TellMemory(); !status.ok()) return status;
  return groups_.of_rows();
}

absl::Status SetOperation::TellMemory() {
  const size_t bytes = groups_.MemoryBytes() + counts_.capacity() * (sizeof(uint64_t) + sizeof(uint8_t));
  const absl::Status refused = memory_.Set(bytes + std::min(bytes, 2 * Partitions::kBufferBytes));
  if (refused.ok() || !state().SpillsAfter(refused)) return refused;
  if (part_.level == Partitions::kLevelsMax) return refused;
  waiting_first_.emplace(state().spill, name(), types_, part_.level);
  waiting_second_.emplace(state().spill, name(), types_, part_.level);
  return absl::OkStatus();
}

absl::Status SetOperation::ReadSecond() {
  while (true) {
    const absl::StatusOr<bool> more = NextOf(/*is_second=*/true);
    if (!more.ok()) return more.status();
    if (!*more) break;
    const absl::StatusOr<absl::Span<const uint32_t>> groups = FindGroups(&waiting_second_);
    if (!groups.ok()) return groups.status();
    for (const Groups::Run& run : groups_.runs()) {
      if (run.group != Groups::kNone) counts_[run.group] += run.rows;
    }
  }
  is_read_ = true;
  return absl::OkStatus();
}

bool SetOperation::Gives(uint32_t group) {
  if (group == Groups::kNone) return false;
  const bool is_in_second = counts_[group] > 0;
  if (plan_.set_is_distinct) {
    return is_in_second != plan_.set_is_except && std::exchange(is_given_[group], 1) == 0;
  }
  if (is_in_second) --counts_[group];
  return is_in_second != plan_.set_is_except;
}

absl::Status SetOperation::Split() {
  if (!waiting_first_.has_value()) return absl::OkStatus();
  if (absl::Status status = waiting_first_->Finish(); !status.ok()) return status;
  if (absl::Status status = waiting_second_->Finish(); !status.ok()) return status;
  for (size_t i = 0; i < Partitions::kCount; ++i) {
    Part part{.first = waiting_first_->Take(i), .second = waiting_second_->Take(i), .level = part_.level + 1};
    // Rows of the second input alone give nothing.
    if (part.first != nullptr) parts_.push_back(std::move(part));
  }
  return absl::OkStatus();
}

absl::StatusOr<bool> SetOperation::Produce(rows::Batch* batch) {
  if (!is_read_) {
    if (absl::Status status = ReadSecond(); !status.ok()) return status;
  }
  arena_.Clear();
  const absl::StatusOr<bool> more = NextOf(/*is_second=*/false);
  if (!more.ok()) return more;
  if (!*more) {
    if (absl::Status status = Split(); !status.ok()) return status;
    if (parts_.empty()) {
      Begin({});
      is_read_ = true;
      return is_input_ = false;
    }
    Part part = std::move(parts_.back());
    parts_.pop_back();
    is_input_ = false;
    Begin(std::move(part));
    return true;  // asked again
  }
  const absl::StatusOr<absl::Span<const uint32_t>> groups = FindGroups(&waiting_first_);
  if (!groups.ok()) return groups.status();
  places_.clear();
  for (size_t row = 0; row < in_.rows; ++row) {
    if (Gives((*groups)[row])) places_.push_back(row);
  }
  batch->rows = places_.size();
  for (const ColumnView& column : in_.columns) {
    batch->columns.push_back(Gather(column, places_, &arena_));
  }
  return true;
}

}  // namespace

OperatorPtr MakeSetOperation(const QueryScope* scope, const Plan& plan, OperatorPtr first,
                             OperatorPtr second) {
  return std::make_unique<SetOperation>(scope, plan, std::move(first), std::move(second));
}

}  // namespace sonde::sql
