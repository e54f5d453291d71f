// Rows that are about to be written, brought in step with what their table has of them.
//
// A correction means the same in every layout: the later one of two values of a field of one point counts,
// and a field that is left out keeps its value.  Where each field has a cell, and the cell the time of its
// point, that is so by itself.  Two kinds of rows take a look at the table:
//   with corrections: keep   Cells have the time when they were written.  They are stamped behind all cells
//                            of the row (in layout offsets, of the column): the clock may have been set back;
//                            other writers' clocks, or stamps of many corrections in a short time, may be
//                            ahead.
//   in layout blob           Points that lack a field get it from the blob that is there.
// Only these rows are read, a thousand in a request.
#pragma once

#include "absl/status/status.h"
#include "model/table_access.h"
#include "series/write/row_batch.h"

namespace sonde::series {

// Just before the rows of `batch` are written.  For blobs, TableAccess::merging() is held until they are:
// alone when batch->has_partial_blobs(), else shared.
absl::Status JoinStored(RowBatch* batch, TableAccess* tables);

}  // namespace sonde::series
