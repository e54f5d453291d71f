#include "sql/exec/aggregate.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sql/exec/aggregate_input.h"
#include "sql/exec/groups.h"
#include "sql/expression/evaluator.h"
#include "sql/function/function.h"

namespace sonde::sql {
namespace {

class AggregateOperator final : public Operator {
 public:
  AggregateOperator(const QueryScope* scope, const Plan& plan,
                    std::vector<std::unique_ptr<AggregateInput>> aggregates, OperatorPtr from)
      : Operator(scope, plan.expressions.empty() ? "Aggregate" : "GroupBy"),
        plan_(plan),
        aggregates_(std::move(aggregates)),
        groups_(TypesOfKeys(plan)),
        memory_(*scope->state, name()) {
    for (const ExpressionPtr& key : plan.expressions) keys_.emplace_back(*key, evaluation());
    AddInput(std::move(from));
  }

  void Restart() override {
    Operator::Restart();
    for (const auto& aggregate : aggregates_) aggregate->Clear();
    groups_.Clear();
    memory_.Clear();
    is_read_ = false;
    next_group_ = 0;
  }

 private:
  static std::vector<ColumnType> TypesOfKeys(const Plan& plan) {
    std::vector<ColumnType> types;
    for (const ExpressionPtr& key : plan.expressions) types.push_back(ColumnTypeOf(key->type));
    return types;
  }

  absl::StatusOr<bool> Produce(rows::Batch* batch) override {
    if (!is_read_) {
      if (absl::Status status = ReadAll(); !status.ok()) return status;
    }
    arena_.Clear();
    const size_t groups = Count();
    const size_t rows = std::min(rows::kBatchRowsMax, groups - next_group_);
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

  // Without keys there is one group, also of no rows.
  size_t Count() const { return keys_.empty() ? 1 : groups_.size(); }

  absl::Status ReadAll() {
    rows::Batch in;
    while (true) {
      const absl::StatusOr<bool> more = input().Next(&in);
      if (!more.ok()) return more.status();
      if (!*more) break;
      if (absl::Status status = Add(in); !status.ok()) return status;
    }
    is_read_ = true;
    for (const auto& aggregate : aggregates_) {
      if (absl::Status status = aggregate->Finish(Count()); !status.ok()) return status;
    }
    return absl::OkStatus();
  }

  absl::Status Add(const rows::Batch& in) {
    arena_.Clear();
    key_columns_.clear();
    for (Evaluator& key : keys_) {
      const absl::StatusOr<ColumnView> column = key.Evaluate(in, &arena_, outer());
      if (!column.ok()) return column.status();
      key_columns_.push_back(*column);
    }
    groups_.Find(key_columns_, in.rows);
    size_t bytes = groups_.MemoryBytes();
    for (const auto& aggregate : aggregates_) {
      if (absl::Status status = aggregate->Add(in, &groups_); !status.ok()) return status;
      bytes += aggregate->MemoryBytes();
    }
    return memory_.Set(bytes);
  }
  std::string Details(bool has_run) const override;

  const Plan& plan_;
  std::vector<Evaluator> keys_;
  const std::vector<std::unique_ptr<AggregateInput>> aggregates_;
  Groups groups_;
  OperatorMemory memory_;
  bool is_read_ = false;
  size_t next_group_ = 0;
  Arena arena_;
  std::vector<ColumnView> key_columns_;  // of the batch at hand
};

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
  return has_run ? fmt::format("{} groups; {}", Count(), text) : text;
}

}  // namespace

absl::StatusOr<OperatorPtr> MakeAggregate(const QueryScope* scope, const Plan& plan, OperatorPtr input) {
  std::vector<std::unique_ptr<AggregateInput>> aggregates;
  for (const AggregateItem& item : plan.aggregates) {
    absl::StatusOr<std::unique_ptr<AggregateInput>> aggregate = AggregateInput::Create(item, scope);
    if (!aggregate.ok()) return aggregate.status();
    aggregates.push_back(*std::move(aggregate));
  }
  return std::make_unique<AggregateOperator>(scope, plan, std::move(aggregates), std::move(input));
}

}  // namespace sonde::sql
