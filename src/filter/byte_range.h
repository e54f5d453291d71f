// A range of byte strings in the one form that the evaluator and the hints use: [start, end).
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
  std::optional<std::string> end;  // nullopt: infinity.  (Not "": nothing is smaller than that.)

  bool Contains(std::string_view bytes) const { return bytes >= start && (!end.has_value() || bytes < *end); }
  bool IsEmpty() const { return end.has_value() && start >= *end; }
  bool operator==(const ByteRange&) const = default;

  // `bytes` itself and nothing else.
  static ByteRange Single(std::string_view bytes);
  // All strings that start with `prefix`.
  static ByteRange Prefix(std::string_view prefix);
};

// The range between the two bounds; unbounded is "" and infinity.
ByteRange MakeByteRange(const Bound& start, const Bound& end);
// Whether the bounds say by themselves that nothing lies between them: [b, a), [a, a), (a, a], (a, a).  The
// range ("a", "a\0") is none of these, although it is empty.
bool IsEmptyByConstruction(const Bound& start, const Bound& end);

// Sets of byte strings: ranges ascending, disjoint, not touching, none empty.
using ByteRanges = std::vector<ByteRange>;

// Any ranges, in that form.
ByteRanges NormalizeByteRanges(std::vector<ByteRange> ranges);

ByteRanges UnionOf(ByteRanges a, const ByteRanges& b);
ByteRanges IntersectionOf(const ByteRanges& a, const ByteRanges& b);

// The ranges if they are at most so many, else one that contains them all.
ByteRanges AtMost(size_t count_max, ByteRanges ranges);

}  // namespace sonde
