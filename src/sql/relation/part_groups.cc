#include "sql/relation/part_groups.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "sql/function/function.h"

namespace sonde::sql {
namespace {

// Aggregates whose results do not depend on the parts in which their rows came.  Those that approximate are none.
constexpr std::array<std::string_view, 33> kExactAggregates = {"ANY_VALUE",
                                                               "ARRAY_AGG",
                                                               "AVG",
                                                               "BIT_AND",
                                                               "BIT_OR",
                                                               "BIT_XOR",
                                                               "CORR",
                                                               "COUNT",
                                                               "COUNTIF",
                                                               "COVAR_POP",
                                                               "COVAR_SAMP",
                                                               "DELTA",
                                                               "FIRST",
                                                               "INCREASE",
                                                               "IRATE",
                                                               "LAST",
                                                               "LOGICAL_AND",
                                                               "LOGICAL_OR",
                                                               "MAX",
                                                               "MAX_BY",
                                                               "MIN",
                                                               "MIN_BY",
                                                               "PERCENTILE_CONT",
                                                               "PERCENTILE_DISC",
                                                               "RATE",
                                                               "STDDEV",
                                                               "STDDEV_POP",
                                                               "STDDEV_SAMP",
                                                               "STRING_AGG",
                                                               "SUM",
                                                               "TIME_WEIGHTED_AVG",
                                                               "VAR_POP",
                                                               "VAR_SAMP"};

bool IsExact(const AggregateItem& item) {
  if (item.function == nullptr || item.function->is_volatile) return false;
  const bool takes_all =
      !item.distinct && item.having == nullptr && item.order_by.empty() && item.limit == nullptr;
  return takes_all && std::ranges::binary_search(kExactAggregates, std::string_view(item.function->name)) &&
         std::ranges::all_of(item.arguments,
                             [](const ExpressionPtr& argument) { return IsSameOnAllThreads(*argument); });
}

std::vector<ColumnType> TypesOfPartKeys(const Plan& plan) {
  std::vector<ColumnType> types;
  for (const ExpressionPtr& key : plan.expressions) types.push_back(ColumnTypeOf(key->type));
  return types;
}

}  // namespace

bool PartGroups::Fits(const Plan& plan) {
  return std::ranges::all_of(plan.aggregates, IsExact) &&
         std::ranges::all_of(plan.expressions,
                             [](const ExpressionPtr& key) { return IsSameOnAllThreads(*key); });
}

PartGroups::PartGroups(const QueryScope* scope, const Plan& plan)
    : key_types_(TypesOfPartKeys(plan)), groups_(key_types_), memory_(*scope->state, "GroupBy") {
  for (const ExpressionPtr& key : plan.expressions) keys_.emplace_back(*key, scope->evaluation());
}

absl::StatusOr<std::unique_ptr<PartGroups>> PartGroups::Create(const QueryScope* scope, const Plan& plan) {
  std::unique_ptr<PartGroups> groups(new PartGroups(scope, plan));
  for (const AggregateItem& item : plan.aggregates) {
    absl::StatusOr<std::unique_ptr<AggregateInput>> aggregate =
        AggregateInput::Create(item, scope, "GroupBy");
    if (!aggregate.ok()) return aggregate.status();
    groups->aggregates_.push_back(*std::move(aggregate));
  }
  return groups;
}

absl::Status PartGroups::Add(const Operator& /*from*/, const rows::Batch& batch) {
  arena_.Clear();
  key_columns_.clear();
  for (Evaluator& key : keys_) {
    const absl::StatusOr<ColumnView> column = key.Evaluate(batch, &arena_);
    if (!column.ok()) return column.status();
    key_columns_.push_back(*column);
  }
  groups_.Find(key_columns_, batch.rows);
  size_t bytes = groups_.MemoryBytes();
  for (const auto& aggregate : aggregates_) {
    if (absl::Status status = aggregate->Add(batch, &groups_); !status.ok()) return status;
    bytes += aggregate->MemoryBytes();
  }
  return memory_.Set(bytes);
}

void PartGroups::Clear() {
  for (const auto& aggregate : aggregates_) aggregate->Clear();
  groups_ = Groups(key_types_);
  memory_.Clear();
}

std::vector<ColumnView> PartGroups::Keys(size_t first, size_t count) const {
  std::vector<ColumnView> keys;
  for (size_t i = 0; i < keys_.size(); ++i) keys.push_back(groups_.Keys(i).Part(first, count));
  return keys;
}

}  // namespace sonde::sql
