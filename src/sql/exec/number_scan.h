// Scans of numbers, the newest of each column: without a cell between.
//
// Shape, order: as Scan.
#pragma once

#include "sql/exec/operator.h"
#include "sql/exec/scan_cells.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `scan` has no history, and NumberSource::Fits it.  It must outlive the operator, as must the scope.
OperatorPtr MakeNumberScan(const QueryScope* scope, const Plan::Scan& scan, const CellSelection& selection);

}  // namespace sonde::sql
