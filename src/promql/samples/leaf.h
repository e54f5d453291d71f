// The leaves of a query: selectors, and calls over their ranges, which make rows of series, one by one.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "promql/samples/annotations.h"
#include "promql/samples/matrix.h"
#include "promql/samples/samples.h"
#include "promql/syntax/matcher.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

// What came of some series.
struct SeriesRows {
  Matrix rows;  // with all labels of their series
  Annotations annotations;
  int64_t series = 0;  // those without a row, too
  int64_t samples_read = 0;
  int64_t samples = 0;  // that steps or windows had

  void Add(SeriesRows later);
};

// Makes rows of a series; called by several threads at once.
using RowWork = std::function<absl::Status(SampleSeries* series, SeriesRows* made)>;

// The first place whose time is past `time`, where all times before `place` are not.  Times rise.  It costs little, be it near or far.
inline size_t FirstPast(const std::vector<int64_t>& times, size_t place, int64_t time) {
  size_t stride = 1;
  while (place + stride <= times.size() && times[place + stride - 1] <= time) {
    place += stride;
    stride *= 2;
  }
  const auto begin = times.begin();
  const size_t end = std::min(place + stride - 1, times.size());
  return static_cast<size_t>(std::upper_bound(begin + static_cast<std::ptrdiff_t>(place),
                                              begin + static_cast<std::ptrdiff_t>(end), time) -
                             begin);
}

struct Leaf {
  const Expression* node;  // the selector, or the call
  const std::vector<Matcher>* matchers;
  int64_t start_millis;
  int64_t end_millis;  // included
  RowWork work;
};

}  // namespace sonde::promql
