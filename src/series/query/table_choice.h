// From which tables a query is answered: the series' own, or derived ones that narrow it more.
//
// A copy (an order table, or tables of periods) is read only where it gives the same answer: it is complete
// (write/complete_tables.h), keeps apart what the series' own table keeps apart, and what is asked for is not
// forgotten in one of the two earlier than in the other.  And only where it promises to read less than half:
// what each part of a key leaves of all points is guessed from the declaration, as no statistics are kept.
#pragma once

#include <optional>
#include <vector>

#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/key/scan_plan.h"
#include "series/query/query_plan.h"
#include "series/schema/schema.h"

namespace sonde::series {

// A table, and what is to be read from it.
struct TablePart {
  SeriesSchema schema;
  Selection selection;
  bool may_be_missing = false;  // a period without points has no table
};

// `selection`: the query's, perhaps with more time.  Empty: the series' own tables are best.  Otherwise the
// parts in the order of time.  Errors: of the notes that are read.
absl::StatusOr<std::vector<TablePart>> ChooseCopies(const SeriesSchema& schema, const QueryPlan& plan,
                                                    const Selection& selection, TableAccess* tables);

// The table of newest values that answers a question for the newest point of each series of all time: a point
// has the values of the newest time, and those of other fields are of older points.  Nothing where the answer
// would not be the one of the series' own tables: the table is not complete; it can't tell which of two
// points is the newer one, or which readings of one point count; or it has what is forgotten, in a way that
// the time of the question does not say.
absl::StatusOr<std::optional<LatestTable>> ChooseLatest(const SeriesSchema& schema, const Query& query,
                                                        TableAccess* tables);

}  // namespace sonde::series
