// `anchored` and `smoothed`: windows that have samples from beyond their ends, as far as the lookback reaches.
//
// An anchored window begins with the last sample at or before its begin.  A smoothed one has values at both ends, between the samples
// around them.
#pragma once

#include <cstdint>
#include <string_view>

#include "promql/functions/window_functions.h"
#include "promql/samples/samples.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

// How far beyond a range its samples are looked for, in milliseconds.
struct WindowMargins {
  int64_t before = 0;
  int64_t behind = 0;
};
WindowMargins MarginsOf(Extension extension, int64_t lookback_millis);

// A function of windows that have samples within these margins.  Null: `name` has none.
WindowFunction FindExtendedFunction(std::string_view name, Extension extension);
// The names that FindExtendedFunction knows, sorted, with ", " between them.
std::string_view ExtendedFunctionNames(Extension extension);

// The value at `time` between the samples around it, or that of the last one where none comes behind it.  `series` has no stale markers.
// Nothing: there is no sample at or before it within the lookback.
std::optional<double> SmoothedValue(const SampleSeries& series, int64_t time, int64_t lookback_millis);

// Makes the samples of (from, to] of what are the samples within the margins: with values at both ends.  `extension` is one.
void ExtendToEnds(Extension extension, int64_t from_millis, int64_t to_millis, SampleSeries* series);

}  // namespace sonde::promql
