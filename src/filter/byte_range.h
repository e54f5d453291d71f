// A range of byte strings in the only form that the evaluator and the hints use: [start, end).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/filter_spec.h"
#include "model/read_hints.h"

namespace sonde {

struct ByteRange {
  std::string start;
  std::optional<std::string> end;  // nullopt: infinity.  (Not "", which no string is smaller than.)

  bool Contains(std::string_view bytes) const { return bytes >= start && (!end.has_value() || bytes < *end); }
  bool IsEmpty() const { return end.has_value() && start >= *end; }
  bool operator==(const ByteRange&) const = default;

  // The range that contains `bytes` only.
  static ByteRange Single(std::string_view bytes);
  // The range of all strings that start with `prefix`.
  static ByteRange Prefix(std::string_view prefix);
};

// Returns the range between two bounds.  An unbounded start is "", an unbounded end is infinity.
ByteRange MakeByteRange(const Bound& start, const Bound& end);
// Whether the bounds show by their form that nothing lies between them: [b, a), [a, a), (a, a], (a, a).  The
// range ("a", "a\0") is none of these forms, although it is empty.
bool IsEmptyByConstruction(const Bound& start, const Bound& end);

// Sets of byte strings: ranges ascending, disjoint, not touching, none empty.
using ByteRanges = std::vector<ByteRange>;

// Brings any ranges into the form of ByteRanges.
ByteRanges NormalizeByteRanges(std::vector<ByteRange> ranges);

ByteRanges UnionOf(ByteRanges a, const ByteRanges& b);
ByteRanges IntersectionOf(const ByteRanges& a, const ByteRanges& b);

// Returns the ranges if there are at most `count_max`, and otherwise one range that contains them all.
ByteRanges AtMost(size_t count_max, ByteRanges ranges);

}  // namespace sonde
