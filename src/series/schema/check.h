// Checks what a valid declaration will suffer from later: hot spots, lost events, rows that grow too big.
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
  bool is_hot_key = false;  // the writes of a moment go to one place, or to a few
};

// The worst first; of one severity, by line.
std::vector<Finding> CheckSchema(const SeriesSchema& schema);

// FAILED_PRECONDITION with the first error among the findings.
absl::Status RefuseErrors(const SeriesSchema& schema);

// The daily cost of the series as the declaration says it: points that have all fields, values as text.
struct SeriesSizes {
  double series_count = 1;  // of the tags' counts; 1 where one is not declared
  bool has_series_count = false;
  // Estimates for one series:
  double points_per_day = 0;
  double rows_per_day = 0;
  double cells_per_day = 0;
  double name_bytes_per_day = 0;       // row key, family and qualifier, with each cell, as the API sends them
  double row_bytes = 0;                // of a full row, uncompressed, names included
  double rows_written_per_second = 0;  // entries of requests: a point each, or a field of a point
};
// From time.interval, or else from time.resolution when that is a second or more; nothing otherwise.
std::optional<SeriesSizes> EstimateSizes(const SeriesSchema& schema);

// The capacity of one node of Cloud Bigtable (SSD), as its documentation says.
constexpr double kNodeRowsWrittenPerSecond = 14'000;
constexpr double kNodeBytesStored = 5e12;

// 1234567 as 1.23 MB.
std::string BytesText(double bytes);

}  // namespace sonde::series
