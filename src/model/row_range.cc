#include "model/row_range.h"

#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"

namespace sonde {
namespace {

// Whether end `a` is before end `b`; an empty end is infinity.
bool EndLess(std::string_view a, std::string_view b) { return !a.empty() && (b.empty() || a < b); }

}  // namespace

RowRange RowRange::Single(std::string_view key) { return {std::string(key), Successor(key)}; }

RowRange RowRange::Prefix(std::string_view prefix) { return {std::string(prefix), PrefixEnd(prefix)}; }

std::vector<RowRange> NormalizeRanges(std::vector<RowRange> ranges) {
  std::erase_if(ranges, [](const RowRange& range) { return range.IsEmpty(); });
  std::sort(ranges.begin(), ranges.end(),
            [](const RowRange& a, const RowRange& b) { return a.start < b.start; });
  std::vector<RowRange> result;
  for (RowRange& range : ranges) {
    const bool touches = !result.empty() && (result.back().end.empty() || range.start <= result.back().end);
    if (!touches) {
      result.push_back(std::move(range));
    } else if (EndLess(result.back().end, range.end)) {
      result.back().end = std::move(range.end);
    }
  }
  return result;
}

bool AreNormal(const std::vector<RowRange>& ranges) {
  for (size_t i = 0; i < ranges.size(); ++i) {
    if (ranges[i].IsEmpty()) return false;
    if (i > 0 && (ranges[i - 1].end.empty() || ranges[i - 1].end >= ranges[i].start)) return false;
  }
  return true;
}

std::vector<RowRange> IntersectRanges(const std::vector<RowRange>& a, const std::vector<RowRange>& b) {
  std::vector<RowRange> both;
  for (size_t i = 0, j = 0; i < a.size() && j < b.size();) {
    RowRange part{std::max(a[i].start, b[j].start), EndLess(a[i].end, b[j].end) ? a[i].end : b[j].end};
    if (!part.IsEmpty()) both.push_back(std::move(part));
    if (EndLess(a[i].end, b[j].end)) {
      ++i;
    } else {
      ++j;
    }
  }
  return both;
}

std::vector<RowRange> ComplementRanges(const std::vector<RowRange>& ranges) {
  std::vector<RowRange> rest;
  std::string start;
  for (const RowRange& range : ranges) {
    if (start < range.start) rest.push_back({start, range.start});
    if (range.end.empty()) return rest;
    start = range.end;
  }
  rest.push_back({start, ""});
  return rest;
}

std::vector<RowRange> ClipRanges(const std::vector<RowRange>& ranges, const RowRange& window) {
  DCHECK(AreNormal(ranges));
  std::vector<RowRange> result;
  for (const RowRange& range : ranges) {
    RowRange part{std::max(range.start, window.start),
                  EndLess(range.end, window.end) ? range.end : window.end};
    if (!part.IsEmpty()) result.push_back(std::move(part));
  }
  return result;
}

}  // namespace sonde
