// Which derived tables have every point that their series has, so that a query may be answered from them.
//
// Writers give each point to all derived tables, but a table that is declared when there are points already
// begins without these, and a writer whose declaration does not name it passes it over.  So a table is taken
// for complete only by a note that says so (StoreNote, kind kCompleteNote; the text is the declaration that
// it is complete for).  The note is made when the table comes to be together with the first point, or by
// `sonde series rebuild`, and is gone before a writer writes that does not know the table.
//
// A change of the declaration carries the note on where the table has, by the one as by the other, what it
// should (derived_tables.h), and else takes it away; so does making the table anew.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/known/derived_tables.h"
#include "series/schema/check.h"
#include "series/schema/schema.h"

namespace sonde::series {

constexpr char kCompleteNote[] = "complete";

// Before the declaration is stored: takes away the notes of what is not complete for it, or is none of its
// tables.  So whoever writes by a declaration that is stored has no note that is wrong, though the process
// that stored it died right behind it.
absl::Status DropWrongNotes(const SeriesSchema& schema, TableAccess* tables);
// After it is stored, and before anything is written by it: notes what is complete since there is no point
// yet, and that the others are so for this declaration.
absl::Status KeepCompleteNotes(const SeriesSchema& schema, TableAccess* tables, const Clock& clock);

// All points of the series were just written to the derived tables of `schema`.  Nothing is noted when the
// stored declaration is another one.
absl::Status NoteComplete(const SeriesSchema& schema, TableAccess* tables, const Clock& clock);

// By DerivedTable::name.
absl::StatusOr<std::set<std::string>> CompleteTables(const SeriesSchema& schema, TableAccess* tables);

// A warning for each table of `schema` that is not complete, and for its index, and the command that fills it.
absl::StatusOr<std::vector<Finding>> FindIncompleteTables(const SeriesSchema& schema, TableAccess* tables);

// Whether there are rows; of periods, tables.
absl::StatusOr<bool> HasRows(const DerivedTable& derived, TableAccess* tables);

}  // namespace sonde::series
