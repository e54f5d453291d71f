#include "sql/exec/build.h"

#include <utility>
#include <vector>

#include "base/check.h"
#include "sql/exec/streams.h"
#include "sql/operator/divided_stream.h"
#include "sql/relation/aggregate.h"
#include "sql/relation/gap_fill.h"
#include "sql/relation/join.h"
#include "sql/relation/part_groups.h"
#include "sql/relation/set_operation.h"
#include "sql/relation/sort.h"
#include "sql/relation/unnest.h"
#include "sql/relation/unpack.h"
#include "sql/relation/window.h"
#include "sql/scan/number_unpack.h"
#include "sql/scan/scan.h"
#include "sql/scan/scan_cells.h"
#include "sql/series/newest_buckets.h"
#include "sql/series/series_scan.h"

namespace sonde::sql {

absl::StatusOr<OperatorPtr> BuildOperators(const QueryScope* scope, const Plan& plan) {
  CellSelection selection;
  // The numbers of cells come without the times that are wanted of a row.
  const bool gives_all = scope->state->unpacked_times == nullptr;
  if (plan.kind == Plan::Kind::kUnpack && gives_all &&
      FitsNumberUnpack(plan, *scope->evaluation(), &selection)) {
    return MakeNumberUnpack(scope, plan, selection);
  }
  if (plan.kind == Plan::Kind::kLimit) {
    absl::StatusOr<OperatorPtr> newest = MakeNewestBuckets(scope, plan, BuildOperators);
    if (!newest.ok() || *newest != nullptr) return newest;
  }
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
    case Plan::Kind::kSeries:
      return MakeSeriesScan(scope, plan);
    case Plan::Kind::kUnpack:
      return MakeUnpack(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kUnnest:
      return MakeUnnest(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kFilter:
      return MakeFilter(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kProject:
      return MakeProject(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kAggregate:
      // What cannot be aggregated in parts takes rows that were read in parts.
      if (!PartGroups::Fits(plan)) {
        inputs[0] =
            DivideRows(scope, *plan.inputs[0], std::move(inputs[0]), BuildOperators, RowsCome::kTogether);
      }
      return MakeAggregate(scope, plan, std::move(inputs[0]), BuildOperators);
    case Plan::Kind::kSort:
      return MakeSort(
          scope, plan,
          DivideRows(scope, *plan.inputs[0], std::move(inputs[0]), BuildOperators, RowsCome::kTogether));
    case Plan::Kind::kLimit:
      inputs[0] = DivideRows(scope, *plan.inputs[0], std::move(inputs[0]), BuildOperators, RowsCome::kAtOnce);
      return MakeLimit(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kUnion:
      return MakeUnion(scope, std::move(inputs));
    case Plan::Kind::kJoin:
      return MakeJoin(scope, plan, std::move(inputs[0]), std::move(inputs[1]));
    case Plan::Kind::kSetOperation:
      return MakeSetOperation(scope, plan, std::move(inputs[0]), std::move(inputs[1]));
    case Plan::Kind::kGapFill:
      return MakeGapFill(scope, plan, std::move(inputs[0]));
    case Plan::Kind::kWindow:
      return MakeWindow(scope, plan, std::move(inputs[0]));
  }
  return absl::UnimplementedError("This operator is not built");
}

}  // namespace sonde::sql
