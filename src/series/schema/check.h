// What a valid declaration will suffer from later: hot spots, lost events, rows that grow too big.
//
// The rules are those of the Bigtable documents on schemas for time series; each finding says which thing it
// is about, why that hurts, and what to do instead.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "series/schema/schema.h"

namespace sonde::series {

enum class Severity : uint8_t {
  kNote,
  kWarning,
  kError,  // events would be lost, or one node would take all writes: loading refuses
};

std::string_view SeverityName(Severity severity);

struct Finding {
  Severity severity = Severity::kNote;
  int line = 0;
  std::string reason;
  std::string remedy;
};

// The worst first; of one severity, by line.
std::vector<Finding> CheckSchema(const SeriesSchema& schema);

// FAILED_PRECONDITION with the first error among the findings.
absl::Status RefuseErrors(const SeriesSchema& schema);

// What one series costs, where the declaration says how often it has a point.
struct SeriesSizes {
  double points_per_day = 0;
  double rows_per_day = 0;
  double cells_per_day = 0;
  double name_bytes_per_day = 0;  // family and qualifier, with each cell
  double row_bytes = 0;           // of a full row, uncompressed, names included
};
// From time.interval, or else from time.resolution when that is a second or more; nothing otherwise.
std::optional<SeriesSizes> EstimateSizes(const SeriesSchema& schema);

// 1234567 as 1.23 MB.
std::string BytesText(double bytes);

}  // namespace sonde::series
