// Scans of numbers, the newest of each column: without a cell between.
//
// Shape, order: as Scan.
#pragma once

#include "sql/operator/operator.h"
#include "sql/plan/plan.h"
#include "sql/scan/scan_cells.h"

namespace sonde::sql {

// `scan` has no history, and NumberSource::Fits it.  It must outlive the operator, as must the scope.
OperatorPtr MakeNumberScan(const QueryScope* scope, const Plan::Scan& scan, const CellSelection& selection);

}  // namespace sonde::sql
