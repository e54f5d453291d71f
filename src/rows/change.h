// Changes: in the place of a value, how it differs from the value before it.
//
// Order: the values of one series come by time ascending, batch after batch. The first value of a series has
// none before it, and becomes missing.  A missing value stays missing; the next value is compared with the
// last one that was there.  Differences of ints are exact ints, and one that leaves 64 bits makes the column
// wide (rows/column.h).  Rates are doubles.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/types/span.h"
#include "rows/column.h"

namespace sonde::rows {

enum class Change : uint8_t {
  kDelta,     // value - value before
  kIncrease,  // of a counter: the same, but a value below the one before is one since a reset
  kRate,      // kIncrease a second
};
std::optional<Change> ChangeOfName(std::string_view name);  // delta, increase, rate
std::string_view ChangeName(Change change);
// The type of the changes of a column of kInt64 or kDouble.
ColumnType TypeOfChange(Change change, ColumnType type);

// The changes of one column of one series.  Not for several threads.
class Changes {
 public:
  // Replaces *out by the changes of `values`, of kInt64 or kDouble, which are of these times.
  void Apply(Change change, absl::Span<const int64_t> times_micros, const ColumnView& values, Column* out);

 private:
  // Writes to changed[0] and on, which *out holds.  False: a difference of ints leaves 64 bits.
  template <typename Value, typename Changed>
  bool ApplyTo(Change change, absl::Span<const int64_t> times_micros, const Value* values,
               const ColumnView& column, Value* before, Changed* changed, Column* out);
  void ApplyToWide(Change change, absl::Span<const int64_t> times_micros, const ColumnView& values,
                   Column* out);

  bool has_before_ = false;
  int64_t before_micros_ = 0;
  int64_t before_int_ = 0;
  double before_double_ = 0;
};

}  // namespace sonde::rows
