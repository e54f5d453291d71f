#include "sql/exec/set_operation.h"

#include <utility>

#include "sql/exec/groups.h"
#include "sql/expression/evaluator.h"

namespace sonde::sql {
namespace {

class SetOperation final : public Operator {
 public:
  SetOperation(const QueryScope* scope, const Plan& plan, OperatorPtr first, OperatorPtr second)
      : Operator(scope, plan.set_is_except ? "Except" : "Intersect"),
        plan_(plan),
        rows_(TypesOf(plan)),
        memory_(*scope->state, name()) {
    AddInput(std::move(first));
    AddInput(std::move(second));
  }

  void Restart() override {
    Operator::Restart();
    rows_.Clear();
    counts_.clear();
    is_given_.clear();
    memory_.Clear();
    is_read_ = false;
  }

 private:
  static std::vector<ColumnType> TypesOf(const Plan& plan) {
    std::vector<ColumnType> types;
    for (const Type& type : plan.types) types.push_back(ColumnTypeOf(type));
    return types;
  }

  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (!is_read_) {
      if (absl::Status status = ReadSecond(); !status.ok()) return status;
    }
    arena_.Clear();
    const absl::StatusOr<bool> more = input(0).Next(&in_);
    if (!more.ok() || !*more) return more;
    rows_.Find(in_.columns, in_.rows);
    counts_.resize(rows_.size());
    is_given_.resize(rows_.size());
    if (absl::Status status = memory_.Set(Bytes()); !status.ok()) return status;
    places_.clear();
    const absl::Span<const uint32_t> groups = rows_.of_rows();
    for (size_t row = 0; row < in_.rows; ++row) {
      if (Gives(groups[row])) places_.push_back(row);
    }
    batch->rows = places_.size();
    for (const ColumnView& column : in_.columns) {
      batch->columns.push_back(Gather(column, places_, &arena_));
    }
    return true;
  }

  // Whether the next row of a group comes through.
  bool Gives(uint32_t group) {
    const bool is_in_second = counts_[group] > 0;
    if (plan_.set_is_distinct) {
      return is_in_second != plan_.set_is_except && std::exchange(is_given_[group], 1) == 0;
    }
    if (is_in_second) --counts_[group];
    return is_in_second != plan_.set_is_except;
  }

  absl::Status ReadSecond() {
    while (true) {
      const absl::StatusOr<bool> more = input(1).Next(&in_);
      if (!more.ok()) return more.status();
      if (!*more) break;
      rows_.Find(in_.columns, in_.rows);
      counts_.resize(rows_.size());
      for (const Groups::Run& run : rows_.runs()) counts_[run.group] += run.rows;
      if (absl::Status status = memory_.Set(Bytes()); !status.ok()) return status;
    }
    is_read_ = true;
    return absl::OkStatus();
  }

  size_t Bytes() const { return rows_.MemoryBytes() + counts_.capacity() * (sizeof(uint64_t) + 1); }

  const Plan& plan_;
  Groups rows_;  // of both inputs
  // By group:
  std::vector<uint64_t> counts_;  // rows of the second input, less those that were taken away
  std::vector<uint8_t> is_given_;
  OperatorMemory memory_;
  bool is_read_ = false;
  rows::Batch in_;
  std::vector<size_t> places_;
  Arena arena_;
};

}  // namespace

OperatorPtr MakeSetOperation(const QueryScope* scope, const Plan& plan, OperatorPtr first,
                             OperatorPtr second) {
  return std::make_unique<SetOperation>(scope, plan, std::move(first), std::move(second));
}

}  // namespace sonde::sql
