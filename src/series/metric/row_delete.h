// Deletes values of the points that a scan means, some rows at a time, whatever the layout of the rows.
//
// Threads: the function may be called at once.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/metric/delete_words.h"
#include "series/metric/metric_scan.h"
#include "series/query/query_plan.h"
#include "series/query/series_scan.h"

namespace sonde::series {

struct RowDelete {
  std::vector<size_t> fields;  // those of the scan, whose values go.  In layout blob, whole points go
  // Told of each row from which something goes; may add to what is written to it.
  std::function<absl::Status(const SeriesScan& rows, RowWrite* write)> row;
  bool tells_all_points = false;  // `row` sees all points that go; else some of each row
  // Around each write of some of these rows.  May be null.
  std::function<absl::Status()> before_write = nullptr;
  std::function<absl::Status()> after_write = nullptr;
};

// Makes the scan's query one of what is to be deleted: its times, also what is forgotten.
absl::StatusOr<QueryPlan> PlanDelete(const MetricDelete& what, MetricScan* scan);

// How many rows were written.  The memory that it takes does not depend on that; after an error, what came before is deleted, and it can
// be called again.  No table is an empty one.  Errors: those of the tables and of the functions; DATA_LOSS as SeriesScan::Read.
absl::StatusOr<int64_t> DeleteRowsOf(SeriesScan* rows, const RowDelete& what, TableAccess* tables);

}  // namespace sonde::series
