// Which cells a scan of a table reads: times, versions, columns, as a filter of rows.
//
// Source: sql.md 2.2 (temporal arguments) and 2.10 (what a scan may leave out).
#pragma once

#include <cstdint>
#include <limits>
#include <optional>

#include "absl/status/statusor.h"
#include "model/filter_spec.h"
#include "sql/expression/evaluator.h"
#include "sql/plan/plan.h"

namespace sonde::sql {

// Times of cells, both ends inside.
struct CellTimes {
  int64_t first_micros = 0;
  int64_t last_micros = std::numeric_limits<int64_t>::max();

  bool IsAll() const { return first_micros <= 0 && last_micros == std::numeric_limits<int64_t>::max(); }
  bool IsEmpty() const { return first_micros > last_micros || last_micros < 0; }
  void KeepFrom(int64_t micros) {
    if (micros > first_micros) first_micros = micros;
  }
  void KeepTo(int64_t micros) {
    if (micros < last_micros) last_micros = micros;
  }
  void KeepAfter(int64_t micros);
  void KeepBefore(int64_t micros);

  bool operator==(const CellTimes&) const = default;
};

// A cell counts if it lies in `times`, is one of the newest `versions` of its column there, and lies in `times_further`.
struct CellSelection {
  CellTimes times;
  std::optional<int64_t> versions;
  // What the UNPACK above asks for.  It comes behind `versions`: of the two newest values those before a time may be none.
  CellTimes times_further;

  bool IsEmpty() const { return times.IsEmpty() || times_further.IsEmpty(); }
};

// What the temporal arguments and the time conditions of a scan come to.
// INVALID_ARGUMENT: an argument is NULL, or latest_n less than 1.
absl::StatusOr<CellSelection> SelectCells(const Plan::Scan& scan, const EvaluationContext& evaluation);

// Whether the scan reads no cells, but only which rows are there.
bool ReadsKeysOnly(const Plan::Scan& scan);

// The filter that lets the cells through which the scan needs; nothing: all cells.  `selection` is not empty.
//
// Where each row counts that has a cell, whatever the columns, and not all families are read as a whole, the filter
// lets all columns through, each with its cells that count, and the scan picks the columns.  An interleave of the
// columns with the first cell of the row, stripped, would give less, but its hints to the engine are the same (the engine must
// give all families either way), and it would copy every cell for each of its branches; the plain chain is one pass in place.
// Where no column is read it is the row's first cell without its value, for which the engine reads no values.
std::optional<FilterSpec> FilterOf(const Plan::Scan& scan, const CellSelection& selection);

}  // namespace sonde::sql
