// Scans of tables.
//
// Order: that of row keys, ascending, or descending if the plan's scan is reversed.
// A row is read at one instant; the scan as a whole is not.
// Errors: those of Tables::Read; FAILED_PRECONDITION: a row is larger than kRowWholeBytesMax.
#pragma once

#include "absl/status/statusor.h"
#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `plan` (kScan) and `scope` must outlive the operator.
// INVALID_ARGUMENT: a temporal argument makes no sense.  UNIMPLEMENTED: as ScanColumns::Create.
absl::StatusOr<OperatorPtr> MakeScan(const QueryScope* scope, const Plan& plan);

}  // namespace sonde::sql
