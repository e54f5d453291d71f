// Moves the points of earlier versions of a declaration into the table of its present one.
//
// 1. CopyVersions reads each earlier version's table in the order of its keys, and writes its points under
// the
//    present key.  How far it came is kept beside the stored declaration, so that it goes on where it was
//    broken off.  Queries go on to read the earlier tables: a point is never seen twice.
// 2. Whoever owns the declaration takes the copied versions out of it.  Writers and queries then know the new
//    table only.
// 3. FinishVersions copies what was written into the earlier tables since, points and corrections, and drops
//    those tables.  It must run after the last writer has the new declaration.
//
// A value that both tables have is the earlier table's where that was written after it was copied, unless the
// new table's was written since, too: that one then is the later one.  What was copied is known by its
// hashes: table CopiedTable(series, table), dropped with the earlier one, has a row with the key of each row
// that was copied, column "d:h": a Fingerprint2011 of 8 bytes, big-endian, ascending, for each value.
//
// Only the newest value of a point is moved, not what `corrections: keep` has kept.
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
