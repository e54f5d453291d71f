// Changes of numbers from row to row: each value becomes what it is more than the value before it.
//
// Order: the values of a sequence (the readings of one counter) come by time ascending, batch after batch.
// Missing: the first value of a sequence has none before it, and becomes missing.  A missing value stays
//   missing; the next one is compared with the last that was there.
// Types: differences of ints are ints, and exact: one that leaves 64 bits widens its column (rows/column.h).
//   Rates are doubles.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "absl/types/span.h"
#include "rows/column.h"

namespace sonde::rows {

enum class Change : uint8_t {
  kDelta,     // value - value before
  kIncrease,  // the same; but a value below the one before is one since a reset, and so the whole increase
  kRate,      // kIncrease, by the second
};
std::optional<Change> ChangeOfName(std::string_view name);  // delta, increase, rate
std::string_view ChangeName(Change change);
// The type of the changes of a column of kInt64 or kDouble.
ColumnType TypeOfChange(Change change, ColumnType type);

// The changes of one sequence.  Not for several threads.
class Changes {
 public:
  // Replaces *out by the changes of `values` (kInt64 or kDouble), each of which has its time in
  // `times_micros`.
  void Apply(Change change, absl::Span<const int64_t> times_micros, const ColumnView& values, Column* out);

 private:
  // Writes the changes to `changed`, the array of *out.  False: a difference of ints leaves 64 bits.
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
