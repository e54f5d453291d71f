// Which tables a declaration may name: no two series see each other's points, and no table has rows of two
// definitions.
#pragma once

#include "absl/status/status.h"
#include "model/table_access.h"
#include "series/schema/schema.h"

namespace sonde::series {

// FAILED_PRECONDITION: a table of the declaration is, by the declarations that are stored, one of another
// series, or one that is kept for other things.  The message says whose.
absl::Status CheckTablesAreFree(const SeriesSchema& schema, TableAccess* tables);

// FAILED_PRECONDITION: a derived table has rows that were written when it was declared otherwise under its
// name (by the declarations of the series that are stored, the old ones included), is about to get such rows
// (of a roll-up whose points are written already), or has rows that it never writes. The message says what
// differs, and what to declare.
absl::Status CheckDerivedRows(const SeriesSchema& schema, TableAccess* tables);

}  // namespace sonde::series
