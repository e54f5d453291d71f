// What is read in parts where it is not simply the rows of a table: a series.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "model/divided_ranges.h"
#include "model/row_range.h"

namespace sonde::sql {

// Threads: one at a time.
class DividedSource {
 public:
  virtual ~DividedSource() = default;
  // The rows that are read, of one table, in normal form.
  virtual const std::vector<RowRange>& ranges() const = 0;
  // Divides some of them.  Less than two parts: it is not worth while.  Errors: those of the table.
  virtual absl::StatusOr<DividedRanges> Divide(const std::vector<RowRange>& ranges) const = 0;
  // All parts were read: so many rows.
  virtual void NoteDivided(uint64_t rows) = 0;
};

}  // namespace sonde::sql
