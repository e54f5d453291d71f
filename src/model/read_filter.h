// The filter that a RowRead asks for: the same one in process and over the Bigtable API, so that every
// implementation of TableAccess reads the same cells.
#pragma once

#include "model/filter_spec.h"
#include "model/table_access.h"

namespace sonde {

// A chain of what `read` asks for beside its rows: key, columns or family, times, versions.  A column that is
// named twice counts once.  PassAll: `read` asks for every cell.  BlockAll: `read` names columns, and none of
// them is in the family that it asks for.
FilterSpec FilterOf(const RowRead& read);

}  // namespace sonde
