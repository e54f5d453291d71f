// The rows that a scan reads, as ranges.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "model/row_range.h"
#include "sql/operator/execution_state.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// The first batch of a scan is small, so that the first rows come soon, and each later one is twice as long.
constexpr size_t kRowsOfFirstBatch = 32;

// Where a scan goes on that has read some rows: behind a key, or at it.
struct ScanStart {
  std::string key;
  bool takes_key = false;
};

// Where a scan begins before it has given a row: at the start of its part of the table; nothing: at the start of all its rows.
std::optional<ScanStart> StartOfPart(const Plan::Scan& scan, const ExecutionState& state);
// A start as part of a place.
void PutScanStart(const std::optional<ScanStart>& start, std::string* place);
// Takes it from the front of *place.  False: it is none.
[[nodiscard]] bool GetScanStart(std::string_view* place, std::optional<ScanStart>* start);

// In normal form; nothing of `start`: all of them.
absl::StatusOr<std::vector<RowRange>> ScanRanges(const Plan::Scan& scan, const ExecutionState& state,
                                                 const std::optional<ScanStart>& start);
// About how many rows a scan will read (table/range_estimate.h); nothing: nobody knows.
std::optional<double> EstimateScan(const Plan::Scan& scan, const ExecutionState& state);
// How much a scan has read.
struct ScanCounts {
  int64_t rows = 0;
  int64_t cells = 0;
  int64_t value_bytes = 0;  // 8 of a number

  ScanCounts& operator+=(const ScanCounts& other) {
    rows += other.rows;
    cells += other.cells;
    value_bytes += other.value_bytes;
    return *this;
  }
};
// What EXPLAIN tells of a scan: its ranges, and what it has read if it has run.
std::string ScanText(const Plan::Scan& scan, const std::vector<RowRange>& ranges,
                     const std::optional<ScanCounts>& counts);

}  // namespace sonde::sql
