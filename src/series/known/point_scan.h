// The points of a declared series as they are stored: what rebuilds, rewrites and measures go by.
#pragma once

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "model/table_access.h"
#include "series/key/row_points.h"
#include "series/key/scan_plan.h"

namespace sonde::series {

struct ScanStats {
  int64_t ranges = 0;
  int64_t rows = 0;
  int64_t cells = 0;
  int64_t value_bytes = 0;
  int64_t points = 0;
  bool is_full_scan = false;
};

// Calls `point` for each point of the selection until it answers false: version by version, in the order of
// the row keys, within a row by time.  The point's values are those of selection.fields, or of all fields; in
// layout columns, a point comes once for each field.  `stats` may be null; the scan's figures are added to
// it.
// Errors: those of PlanScan, KeyCodec::Decode, RowPoints::Read, `tables` and `point`.
absl::Status ScanPoints(
    const SeriesSchema& schema, const Selection& selection, TableAccess* tables,
    const std::function<absl::StatusOr<bool>(const DecodedKey& key, const RowPoint& point)>& point,
    ScanStats* stats = nullptr);

// Whether a series has points, of any version; a table that is missing has none.  Errors: as ScanPoints.
absl::StatusOr<bool> HasAnyPoint(const SeriesSchema& schema, TableAccess* tables);

}  // namespace sonde::series
