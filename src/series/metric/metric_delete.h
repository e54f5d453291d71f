// Deletes samples of the metrics that a selector of Prometheus' means, some rows at a time.
//
// The derived tables of a declared series follow (declared_delete.h).
//
// Threads: the functions may be called at once.
#pragma once

#include <vector>

#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/known/declarations.h"
#include "series/metric/delete_words.h"

namespace sonde::series {

// The memory that it takes does not depend on how much is deleted; when it ends with an error, what came before is deleted, and it can be
// called again.  UNIMPLEMENTED: CheckDeclaredDelete refuses what a selector means; nothing is deleted then.  INVALID_ARGUMENT: a
// pattern that RunQuery refuses.  Else the errors of `interrupted`, of `deleting` and `deleted`, and of the tables.
absl::StatusOr<DeletedCounts> DeleteMetrics(const std::vector<KnownSeriesRef>& known,
                                            const MetricDelete& what, TableAccess* tables);

}  // namespace sonde::series
