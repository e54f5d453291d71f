// INSERT: writes the rows of a query as points of a series, and gives one row: how many points it wrote, how many rows it refused,
// and the number of the first of these, with the reason (NULL: none).
//
// A row that is no point (NULL in a tag or in the time, no field, a value that the series cannot have) is refused, and the others
//   are written, as with every other way that points come in.
// Points go through the writer that all points go through (series/write/point_writer.h), in requests of its size.  They are no
//   transaction: what was written before an error stays.  The same point written again is the same cells, so a statement that
//   was broken off may be sent again.
// Errors: INVALID_ARGUMENT: no row is a point; the text has the first one's number and reason.  Those of the query and of tables,
//   with how many points were written before.
#pragma once

#include <cstddef>

#include "sql/operator/operator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// What is gathered before it is written takes so many bytes.
constexpr size_t kInsertBytes = size_t{4} << 20;

// `rows`: of the types of target.columns.  `target` must outlive it.
OperatorPtr MakeInsert(const QueryScope* scope, const InsertTarget& target, OperatorPtr rows);

}  // namespace sonde::sql
