// Makes the filter of a RowRead.  In process and over the Bigtable API it is the same filter, so that every
// implementation of TableAccess reads the same cells.
#pragma once

#include "model/filter_spec.h"
#include "model/table_access.h"

namespace sonde {

// Returns a chain for all that `read` asks for beside its rows: key, columns or family, times, versions.  A
// column that is named twice counts once.  The result is PassAll if `read` asks for every cell.  It is
// BlockAll if `read` names columns, and none of them is in the family that it asks for.
FilterSpec FilterOf(const RowRead& read);

}  // namespace sonde
