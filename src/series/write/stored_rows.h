// Rows that are about to be written, brought in step with what their table has of them.
//
// One meaning of a correction, whatever the layout: of two values of a field of one point the later one
// counts, and a field that is left out keeps its value.  Where each field has a cell, and the cell the time
// of its point, that is so by itself.  It takes a look at the table
//   with corrections: keep   cells have the time when they were written.  They are stamped behind all that
//   the
//                            row (in layout offsets, the column) has: the clock may have been set back, or
//                            other writers' clocks, or stamps of many corrections in a short time, be ahead;
//   in layout blob           for points that do not have all fields: they get those of the blob that is
//   there.
// So only these rows are read, a thousand in a request.
#pragma once

#include "absl/status/status.h"
#include "model/table_access.h"
#include "series/write/row_batch.h"

namespace sonde::series {

// Just before the rows of `batch` are written.  For blobs, TableAccess::merging() is held until they are:
// alone when batch->has_partial_blobs(), else shared.
absl::Status JoinStored(RowBatch* batch, TableAccess* tables);

}  // namespace sonde::series
