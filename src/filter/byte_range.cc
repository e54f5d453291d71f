#include "filter/byte_range.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"

namespace sonde {
namespace {

// Compares two ends; infinity is the greatest.
bool EndsBefore(const std::optional<std::string>& a, const std::optional<std::string>& b) {
  if (!a.has_value()) return false;
  return !b.has_value() || *a < *b;
}

}  // namespace

ByteRange ByteRange::Single(std::string_view bytes) { return {std::string(bytes), Successor(bytes)}; }

ByteRange ByteRange::Prefix(std::string_view prefix) {
  std::string end = PrefixEnd(prefix);
  if (end.empty()) return {std::string(prefix), std::nullopt};
  return {std::string(prefix), std::move(end)};
}

ByteRange MakeByteRange(const Bound& start, const Bound& end) {
  ByteRange range;
  if (start.kind == Bound::Kind::kClosed) range.start = start.value;
  if (start.kind == Bound::Kind::kOpen) range.start = Successor(start.value);
  if (end.kind == Bound::Kind::kClosed) range.end = Successor(end.value);
  if (end.kind == Bound::Kind::kOpen) range.end = end.value;
  return range;
}

bool IsEmptyByConstruction(const Bound& start, const Bound& end) {
  if (end.kind == Bound::Kind::kUnbounded) return false;
  const std::string_view first = start.kind == Bound::Kind::kUnbounded ? std::string_view() : start.value;
  if (first != end.value) return first > end.value;
  return start.kind == Bound::Kind::kOpen || end.kind == Bound::Kind::kOpen;
}

ByteRanges NormalizeByteRanges(std::vector<ByteRange> ranges) {
  std::erase_if(ranges, [](const ByteRange& range) { return range.IsEmpty(); });
  std::sort(ranges.begin(), ranges.end(),
            [](const ByteRange& a, const ByteRange& b) { return a.start < b.start; });
  ByteRanges result;
  for (ByteRange& range : ranges) {
    if (!result.empty() && (!result.back().end.has_value() || range.start <= *result.back().end)) {
      if (EndsBefore(result.back().end, range.end)) result.back().end = std::move(range.end);
    } else {
      result.push_back(std::move(range));
    }
  }
  return result;
}

ByteRanges AtMost(size_t count_max, ByteRanges ranges) {
  if (ranges.size() <= count_max) return ranges;
  return {ByteRange{std::move(ranges.front().start), std::move(ranges.back().end)}};
}

ByteRanges UnionOf(ByteRanges a, const ByteRanges& b) {
  a.insert(a.end(), b.begin(), b.end());
  return NormalizeByteRanges(std::move(a));
}

ByteRanges IntersectionOf(const ByteRanges& a, const ByteRanges& b) {
  ByteRanges result;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    ByteRange both{std::max(a[i].start, b[j].start), EndsBefore(a[i].end, b[j].end) ? a[i].end : b[j].end};
    if (!both.IsEmpty()) result.push_back(std::move(both));
    if (EndsBefore(a[i].end, b[j].end)) {
      ++i;
    } else {
      ++j;
    }
  }
  return result;
}

}  // namespace sonde
