// Gaps: what stands in rows that have no value, between rows that have one.
//
// Order: rows by time ascending.
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
  kNone,      // rows without values are left out
  kNull,      // they stay without
  kPrevious,  // the value of the row before; missing before the first
  kLinear,    // a double between its neighbours, by their times; missing before the first and behind the last
};
std::optional<Fill> FillOfName(std::string_view name);  // none, null, previous, linear

// kPrevious, in place.  An error of `check` ends it.
absl::Status FillPrevious(Column* values, WorkCheck* check);

// kLinear.  Replaces *between, a column of doubles, by what stands in the gaps of `values`, which are numbers
// of any type; elsewhere it is missing.  So ints stay ints, and the doubles between them lie apart.
absl::Status FillLinear(absl::Span<const int64_t> times_micros, const ColumnView& values, Column* between,
                        WorkCheck* check);

}  // namespace sonde::rows
