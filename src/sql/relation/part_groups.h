// The groups of one part of the rows: what a helper makes of it, before it is added to those of the parts before.
//
// Threads: one at a time.  Errors: those of expressions and aggregates, and RESOURCE_EXHAUSTED of the account; nothing spills.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/arena.h"
#include "model/column.h"
#include "rows/batch.h"
#include "sql/expression/evaluator.h"
#include "sql/operator/divided_rows.h"
#include "sql/operator/groups.h"
#include "sql/plan/plan.h"
#include "sql/relation/aggregate_input.h"

namespace sonde::sql {

class PartGroups final : public PartFold {
 public:
  // Whether groups of parts come to the same as the groups of all rows: the aggregates of the plan (kAggregate) take all
  // rows as they come, and merge without loss, and its expressions give the same on every thread.
  static bool Fits(const Plan& plan);

  // Both must outlive this.
  static absl::StatusOr<std::unique_ptr<PartGroups>> Create(const QueryScope* scope, const Plan& plan);

  absl::Status Add(const Operator& from, const rows::Batch& batch) override;
  void Clear() override;

  size_t size() const { return groups_.size(); }
  // The keys of groups [first, first + count), in their order.
  std::vector<ColumnView> Keys(size_t first, size_t count) const;
  const AggregateInput& aggregate(size_t number) const { return *aggregates_[number]; }

 private:
  PartGroups(const QueryScope* scope, const Plan& plan);

  std::vector<ColumnType> key_types_;
  std::vector<Evaluator> keys_;
  std::vector<std::unique_ptr<AggregateInput>> aggregates_;
  Groups groups_;
  OperatorMemory memory_;
  Arena arena_;
  std::vector<ColumnView> key_columns_;  // of the batch at hand
};

}  // namespace sonde::sql
