// Deletes samples of a declared series, and what its derived tables have of them.
//
// In this order: copies (orders, periods), whose rows go as those of the series do; tables of newest values, which get the newest value
// before the time that is deleted; the series' own tables, whose pieces of roll-ups are marked before, and computed anew behind.  So
// what is broken off is completed by the same call again, and roll-ups by the next writer.  A piece of a roll-up that some points are
// forgotten of stays as it is.  Entities stay in the index (known/indexed_series.h), which finds no points of them then.
//
// Threads: the functions may be called at once.
#pragma once

#include "absl/status/status.h"
#include "model/table_access.h"
#include "series/metric/delete_words.h"
#include "series/metric/metric_scan.h"

namespace sonde::series {

// Whether samples of the scan, of a declared series, can be deleted.  UNIMPLEMENTED: it is of a derived table; or a table holds all fields of a
// point as one value (layout blob), and only some of its numbers are meant.
absl::Status CheckDeclaredDelete(const MetricScan& scan);

// Errors: as DeleteMetrics.
absl::Status DeleteDeclared(MetricScan scan, const MetricDelete& what, TableAccess* tables,
                            DeletedCounts* counts);

}  // namespace sonde::series
