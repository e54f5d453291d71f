// Which derived tables have every point that their series has, so that a query may be answered from them.
//
// Writers give each point to all derived tables, but a table that is declared when there are points already
// begins without these, and a writer whose declaration does not name it passes it over.  So a table is taken
// for complete only by a note that says so (StoreNote, kind kCompleteNote; the text is the declaration that
// it is complete for).  The note is made when the table comes to be together with the first point, or by
// `sonde series rebuild`, and is gone before a writer writes that does not know the table.
//
// Order and period tables only: the others hold something else than points.
#pragma once

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/schema/schema.h"

namespace sonde::series {

constexpr char kCompleteNote[] = "complete";

// Brings the notes in step with the declaration, before anything is written by it.
absl::Status KeepCompleteNotes(const SeriesSchema& schema, TableAccess* tables, const Clock& clock);

// All points of the series were just written to the order and period tables of `schema`.  Nothing is noted
// when the stored declaration is another one.
absl::Status NoteComplete(const SeriesSchema& schema, TableAccess* tables, const Clock& clock);

// Names of order tables, and patterns of period tables.
absl::StatusOr<std::set<std::string>> CompleteTables(const SeriesSchema& schema, TableAccess* tables);

}  // namespace sonde::series
