// Moves the points of earlier versions of a declaration into the table of its present one.
//
// 1. CopyVersions reads the table of each earlier version in the order of its keys, and writes its points
//    under the present key.  It keeps its place beside the stored declaration, so that it goes on where it
//    was broken off.  Queries still read the earlier tables; they see no point twice.
// 2. The owner of the declaration takes the copied versions out of it.  Writers and queries then know the new
//    table only.
// 3. FinishVersions copies the points and corrections that were written into the earlier tables since, and
//    drops those tables.  It must run after the last writer has the new declaration.
//
// Where both tables have a value of a point, one of them counts:
//   the earlier table's   if it was written after the row was copied, and the new table's was not
//   the new table's       otherwise
// Hashes tell which values were copied: table CopiedTable(series, table), which is dropped with the earlier
// one, has a row with the key of each copied row.  Its column "d:h" has a Fingerprint2011 for each copied
// value: 8 bytes, big-endian, ascending.
//
// The newest value of a point is moved.  The older values that `corrections: keep` has kept are not.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/clock.h"
#include "model/table_access.h"
#include "series/schema/schema.h"

namespace sonde::series {

std::string CopiedTable(const std::string& series, const std::string& table);

struct RewriteTotals {
  int64_t versions = 0;
  int64_t rows = 0;    // that were read
  int64_t points = 0;  // that were written
};

// Answers whether to go on; called after each batch, whose end is then on record.
using RewriteProgress = std::function<bool(const RewriteTotals&)>;

// CANCELLED: `progress` said no; the next call goes on from there.
absl::StatusOr<RewriteTotals> CopyVersions(const SeriesSchema& schema, TableAccess* tables,
                                           const Clock& clock, const RewriteProgress& progress);

// FAILED_PRECONDITION: the declaration still has a version that was copied, or none was.
absl::StatusOr<RewriteTotals> FinishVersions(const SeriesSchema& schema, TableAccess* tables,
                                             const Clock& clock, const RewriteProgress& progress);

}  // namespace sonde::series
