// The newest buckets of a series, read from its end: GROUP BY a bucket of the time, ORDER BY it DESC, LIMIT.
//
// The query is asked of the points since a time first, then since earlier ones, and at last of all.  It is answered as soon as all of its
// rows are of buckets behind the one in which these points begin, which are whole.  So a question for the last minutes
// costs what these have, and one whose buckets are far between costs up to about a seventh more than without.
#pragma once

#include "absl/status/statusor.h"
#include "sql/operator/divided_rows.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// The operator of `plan` (kLimit); null: it is no such query.  `plan` and `scope` must outlive it.  `build`: BuildOperators, which
// is asked for `plan` again, with ExecutionState::points_from_micros.  Errors: those of the limit and of `build`.
absl::StatusOr<OperatorPtr> MakeNewestBuckets(const QueryScope* scope, const Plan& plan,
                                              const BuildPart& build);

}  // namespace sonde::sql
