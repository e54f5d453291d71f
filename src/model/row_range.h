// Sets of rows, in one normal form: ranges [start, end) of row keys, ascending, disjoint, not touching.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace sonde {

// [start, end) by bytes; an empty end is infinity.
struct RowRange {
  std::string start;
  std::string end;

  bool Contains(std::string_view key) const { return key >= start && (end.empty() || key < end); }
  bool IsEmpty() const { return !end.empty() && start >= end; }
  // Exactly one possible key: [key, key 0x00).
  bool IsSingleRow() const {
    return end.size() == start.size() + 1 && end.back() == '\0' && end.compare(0, start.size(), start) == 0;
  }
  bool operator==(const RowRange&) const = default;

  static RowRange All() { return {}; }
  static RowRange Single(std::string_view key);
  static RowRange Prefix(std::string_view prefix);
};

// Returns the union of `ranges`, sorted, joined, and without empty ranges.
std::vector<RowRange> NormalizeRanges(std::vector<RowRange> ranges);

// Whether these ranges are in the normal form.
bool AreNormal(const std::vector<RowRange>& ranges);

// Return the keys that are in both, and the keys that are in none of `ranges`.  Ranges are in the normal form.
std::vector<RowRange> IntersectRanges(const std::vector<RowRange>& a, const std::vector<RowRange>& b);
std::vector<RowRange> ComplementRanges(const std::vector<RowRange>& ranges);

// The part of `ranges` (normal form, DCHECKed) that is in `window`.
std::vector<RowRange> ClipRanges(const std::vector<RowRange>& ranges, const RowRange& window);

}  // namespace sonde
