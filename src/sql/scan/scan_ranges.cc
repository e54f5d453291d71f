#include "sql/scan/scan_ranges.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/bytes.h"
#include "sql/plan/key_ranges.h"

namespace sonde::sql {

absl::StatusOr<std::vector<RowRange>> ScanRanges(const Plan::Scan& scan, const ExecutionState& state,
                                                 const std::optional<ScanStart>& start) {
  absl::StatusOr<std::vector<RowRange>> ranges =
      state.scan_ranges != nullptr ? *state.scan_ranges : KeyRanges(scan, state.evaluation);
  if (!ranges.ok() || !start.has_value()) return ranges;
  RowRange rest;
  if (scan.reversed) {
    rest.end = start->takes_key ? Successor(start->key) : start->key;
    // The first key of all has none before it, and the end of a range cannot be empty.
    if (rest.end.empty()) return std::vector<RowRange>();
  } else {
    rest.start = start->takes_key ? start->key : Successor(start->key);
  }
  return ClipRanges(*ranges, rest);
}

std::string RangesText(const Plan::Scan& scan, const std::vector<RowRange>& ranges) {
  constexpr size_t kShown = 4;
  std::string text =
      fmt::format("{}{}, {} ranges", scan.table->name, scan.reversed ? " in reverse" : "", ranges.size());
  for (size_t i = 0; i < std::min(ranges.size(), kShown); ++i) {
    const RowRange& range = ranges[i];
    text +=
        fmt::format(" [{}, {})", Printable(range.start), range.end.empty() ? "..." : Printable(range.end));
  }
  return text;
}

}  // namespace sonde::sql
