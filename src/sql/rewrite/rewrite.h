// Makes of a plan one that gives the same rows and reads less.
#pragma once

#include "absl/status/status.h"
#include "sql/plan/plan.h"
#include "sql/rewrite/rewrite_options.h"

namespace sonde::sql {

// INVALID_ARGUMENT: WRITE_TIMESTAMP of what is no column family of a table.
absl::Status Rewrite(const RewriteOptions& options, PlanPtr* plan);

}  // namespace sonde::sql
