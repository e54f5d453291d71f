// Which rows of a declared series a query reads, where the series is indexed (`index: yes`): those of the entities that the index gives.
//
// Rows that are not asked for may be among them; none that is asked for is missing.
//
// Threads: the function may be called at once.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/key/key_codec.h"
#include "series/key/scan_plan.h"
#include "series/query/query_words.h"

namespace sonde::series {

struct IndexedRows {
  ScanPlan plan;
  int64_t entities = 0;  // that the index leaves
};

// Nothing: keys alone say it, since the conditions are of the tags that lead the key, or the index does not have all of the series, or
// leaves too many entities.  `selection`: what the query's conditions say of each tag, and the times of the points; PlanScan takes it.
// Errors: those of the tables and of query.interrupted.
absl::StatusOr<std::optional<IndexedRows>> PlanIndexedRows(const KeyCodec& codec, const Query& query,
                                                           const Selection& selection, TableAccess* tables);

}  // namespace sonde::series
