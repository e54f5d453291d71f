// Scans of series.
#pragma once

#include "absl/status/statusor.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// Order: the points of one series may come in any order, and those of several by turns.
// Places: behind any point, but not of the newest points.
// `plan` (kSeries) and `scope` must outlive the operator.  Errors: those of SelectPoints, and of the series.
absl::StatusOr<OperatorPtr> MakeSeriesScan(const QueryScope* scope, const Plan& plan);

}  // namespace sonde::sql
