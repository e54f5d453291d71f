// Keys near which a table could be divided: the ranges that the engine keeps, and the points at which the table
// was split.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "engine/row_store.h"
#include "model/row_range.h"

namespace sonde {

// A key near which a table could be divided.
struct RowKeySample {
  std::string row_key;        // empty: the end of the table, which is the last sample if it is there
  uint64_t offset_bytes = 0;  // about how many bytes come before it; ascending
};

// Returns the samples of a whole table; the last one is the table's end.  `ranges`: all ranges of the table,
// ascending.  `splits`: ascending.  A split inside a range is put where the range's bytes before the split
// would lie, were they spread evenly.
std::vector<RowKeySample> SamplesOf(absl::Span<const RangeStats> ranges,
                                    absl::Span<const std::string> splits);

// Returns, for each range of `clip`, the samples inside it and then its end.  Offsets count from the last
// sample before the first range.  `samples`: as SamplesOf returns them.  `clip`: in normal form.
std::vector<RowKeySample> ClipSamples(const std::vector<RowKeySample>& samples,
                                      absl::Span<const RowRange> clip);

}  // namespace sonde
