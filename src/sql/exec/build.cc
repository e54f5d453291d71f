#include "sql/exec/build.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "sql/exec/aggregate.h"
#include "sql/exec/join.h"
#include "sql/exec/number_unpack.h"
#include "sql/exec/scan.h"
#include "sql/exec/scan_cells.h"
#include "sql/exec/set_operation.h"
#include "sql/exec/sort.h"
#include "sql/exec/streams.h"
#include "sql/exec/unnest.h"
#include "sql/exec/unpack.h"
#include "sql/exec/window.h"

namespace sonde::sql {

namespace {

// UNPACK over a scan of numbers is one operator; null: it is not that.
absl::StatusOr<OperatorPtr> BuildNumberUnpack(const QueryScope* scope, const Plan& plan) {
  if (plan.kind != Plan::Kind::kUnpack || plan.inputs[0]->kind != Plan::Kind::kScan) return nullptr;
  const absl::StatusOr<CellSelection> selection = SelectCells(*plan.inputs[0]->scan, *scope->evaluation());
  if (!selection.ok()) return selection.status();
  if (!FitsNumberUnpack(plan, *selection)) return nullptr;
  return MakeNumberUnpack(scope, plan, *selection);
}

}  // namespace

absl::StatusOr<OperatorPtr> BuildOperators(const QueryScope* scope, const Plan& plan) {
  absl::StatusOr<OperatorPtr> numbers = BuildNumberUnpack(scope, plan);
  if (!numbers.ok() || *numbers != nullptr) return numbers;
  std::vector<OperatorPtr> inputs;
  for (const PlanPtr& input : plan.inputs) {
    absl::StatusOr<OperatorPtr> built = BuildOperators(scope, *input);
    if (!built.ok()) return built.status();
    inputs.push_back(*std::move(built));
  }
  switch (plan.kind) {
    case Plan::Kind::kSingleRow:
      return MakeSingleRow(scope);
    case Plan::Kind::kScan:
      return MakeScan(scope, plan);
    case Plan::Kind::kUnpack:
      return MakeUnpack(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kUnnest:
      return MakeUnnest(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kFilter:
      return MakeFilter(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kProject:
      return MakeProject(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kAggregate:
      return MakeAggregate(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kSort:
      return MakeSort(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kLimit:
      return MakeLimit(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kUnion:
      return MakeUnion(scope, std::move(inputs));
    case Plan::Kind::kJoin:
      return MakeJoin(scope, plan, std::move(inputs[0]), std::move(inputs[1]));
    case Plan::Kind::kSetOperation:
      return MakeSetOperation(scope, plan, std::move(inputs[0]), std::move(inputs[1]));
    case Plan::Kind::kWindow:
      return MakeWindow(scope, plan, std::move(inputs[0]));
  }
  return absl::UnimplementedError("This operator is not built");
}

}  // namespace sonde::sql
