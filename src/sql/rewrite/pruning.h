// Leaves out columns that nothing reads, and makes scans give single cells where only these are wanted.
#pragma once

#include "absl/status/status.h"
#include "sql/plan/plan.h"
#include "sql/rewrite/rewrite_options.h"

namespace sonde::sql {

// The plan gives the same columns.  Subqueries are narrowed, too.
// INVALID_ARGUMENT: WRITE_TIMESTAMP of what is no column family of a table.
absl::Status NarrowColumns(const RewriteOptions& options, PlanPtr* plan);

}  // namespace sonde::sql
