// INSERT: writes the rows of a query as points of a series, and gives one row, how many.
//
// Points go through the writer that all points go through (series/write/point_writer.h), in requests of its size.  They are no
//   transaction: what was written before an error stays.  The same point written again is the same cells, so a statement that
//   was broken off may be sent again.
// Errors: INVALID_ARGUMENT for a row that is no point, with its number and how many points were written before; those of tables.
#pragma once

#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// `rows`: of the types of target.columns.  `target` must outlive it.
OperatorPtr MakeInsert(const QueryScope* scope, const InsertTarget& target, OperatorPtr rows);

}  // namespace sonde::sql
