#include "sql/plan/rewrite.h"

#include "absl/status/status.h"

namespace sonde::sql {

absl::Status Rewrite(const RewriteOptions& /*options*/, PlanPtr* /*plan*/) { return absl::OkStatus(); }

}  // namespace sonde::sql
