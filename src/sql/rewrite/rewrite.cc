#include "sql/rewrite/rewrite.h"

#include "absl/status/status.h"
#include "sql/plan/constant.h"
#include "sql/plan/plan_tree.h"
#include "sql/plan/try.h"
#include "sql/rewrite/newest_points.h"
#include "sql/rewrite/pruning.h"
#include "sql/rewrite/pushdown.h"
#include "sql/rewrite/scan_facts.h"

namespace sonde::sql {
namespace {

void FoldPlan(Plan* plan) {
  ForEachExpression(plan, [](ExpressionPtr* expression) { FoldConstants(expression); });
  ForEachSubquery(plan, [](Expression::Kind /*kind*/, PlanPtr* subquery) { FoldPlan(subquery->get()); });
  for (PlanPtr& input : plan->inputs) FoldPlan(input.get());
}

}  // namespace

absl::Status Rewrite(const RewriteOptions& options, PlanPtr* plan) {
  FoldPlan(plan->get());
  PushFilters(plan);
  if (options.newest_points) UseNewestPoints(plan);
  SONDE_TRY(NarrowColumns(options, plan));
  CollectScanFacts(plan);
  return absl::OkStatus();
}

}  // namespace sonde::sql
