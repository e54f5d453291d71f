// Whether a declaration may take the place of the one that is stored.
#pragma once

#include "absl/status/status.h"
#include "model/table_access.h"
#include "series/schema/schema.h"

namespace sonde::series {

// FAILED_PRECONDITION when points that are stored could not be read by this declaration: rows of its tables
// that it does not decode; or a stored declaration of this series with points in a table, a shape of rows, a
// field, or a piece of time that this one does not have; or an open series of this name; or tables that it
// may not have (table_claims.h).  The message says which table, what differs, and what to declare.
absl::Status CheckAgainstStored(const SeriesSchema& schema, TableAccess* tables);

}  // namespace sonde::series
