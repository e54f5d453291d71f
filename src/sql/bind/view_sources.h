// What the query of a logical view reads from, as its record says it.
#pragma once

#include <string_view>

#include "catalog/record/sql_views.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// Sets `tables` and `views` of `view`, whose query was bound to `query`.
//
// A view needs a family of a table if its plan reads it, or if its text has the family's name.  So a family that the plan does not read,
// as nobody wants its column, is needed where it is named.  A view that gives all columns (*) needs those that there were.
void SetSources(BoundQuery* query, LogicalViewRecord* view);

}  // namespace sonde::sql
