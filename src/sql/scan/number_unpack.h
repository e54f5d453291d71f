// UNPACK over a scan of numbers: the rows of pages as they lie there, without a cell between.
//
// Shape, order: as Unpack over Scan.
#pragma once

#include "sql/operator/operator.h"
#include "sql/plan/plan.h"
#include "sql/scan/scan_cells.h"

namespace sonde::sql {

// Whether `plan` (kUnpack) is of a scan that can be read so, maybe through a filter of row keys; and which cells it reads.
bool FitsNumberUnpack(const Plan& plan, const EvaluationContext& evaluation, CellSelection* selection);
// `plan` fits; it must outlive the operator, as must the scope.
OperatorPtr MakeNumberUnpack(const QueryScope* scope, const Plan& plan, const CellSelection& selection);

}  // namespace sonde::sql
