// Gaps: what stands in rows that have no value, between rows that have one.
//
// Order: rows lie by time, ascending.
// Errors: those of `check`, which end the filling.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "rows/column.h"
#include "rows/work_check.h"

namespace sonde::rows {

enum class Fill : uint8_t {
  kNone,      // nothing: rows without values are left out
  kNull,      // nothing: rows without values stay without
  kPrevious,  // the value of the row before; missing before the first
  kLinear,    // a double between its neighbours, by their times; missing before the first and behind the last
};
std::optional<Fill> FillOfName(std::string_view name);  // none, null, previous, linear

// Fill::kPrevious, in place.
absl::Status FillPrevious(Column* values, WorkCheck* check);

// Fill::kLinear.  Replaces *between by a column of doubles, which has what stands in the gaps of `values` and
// is missing elsewhere.  `values` are numbers of any type: ints stay ints, and the doubles between them lie
// apart.
absl::Status FillLinear(absl::Span<const int64_t> times_micros, const ColumnView& values, Column* between,
                        WorkCheck* check);

}  // namespace sonde::rows
