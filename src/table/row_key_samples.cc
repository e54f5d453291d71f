#include "table/row_key_samples.h"

#include <optional>

namespace sonde {

std::vector<RowKeySample> SamplesOf(absl::Span<const RangeStats> ranges,
                                    absl::Span<const std::string> splits) {
  std::vector<RowKeySample> samples;
  uint64_t offset_bytes = 0;
  auto split = splits.begin();
  for (const RangeStats& range : ranges) {
    auto last = split;
    while (last != splits.end() && (range.end_key.empty() || *last < range.end_key)) ++last;
    const auto inside = static_cast<uint64_t>(last - split);
    for (uint64_t i = 1; split != last; ++split, ++i) {
      samples.push_back({*split, offset_bytes + range.bytes * i / (inside + 1)});
    }
    if (split != splits.end() && *split == range.end_key) ++split;
    offset_bytes += range.bytes;
    samples.push_back({range.end_key, offset_bytes});
  }
  return samples;
}

std::vector<RowKeySample> ClipSamples(const std::vector<RowKeySample>& samples,
                                      absl::Span<const RowRange> clip) {
  std::vector<RowKeySample> clipped;
  std::optional<uint64_t> offset_before;
  auto at = samples.begin();
  for (const RowRange& range : clip) {
    uint64_t last_offset = 0;
    for (; !at->row_key.empty() && at->row_key <= range.start; ++at) last_offset = at->offset_bytes;
    if (!offset_before.has_value()) offset_before = last_offset;
    for (; !at->row_key.empty() && (range.end.empty() || at->row_key < range.end); ++at) {
      clipped.push_back({at->row_key, at->offset_bytes - *offset_before});
    }
    clipped.push_back({range.end, at->offset_bytes - *offset_before});
  }
  return clipped;
}

}  // namespace sonde
