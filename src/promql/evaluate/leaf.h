// The leaves of a query: selectors, and calls over their ranges, which make rows of series, one by one.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "promql/evaluate/annotations.h"
#include "promql/evaluate/matrix.h"
#include "promql/evaluate/samples.h"
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

struct Leaf {
  const Expression* node;  // the selector, or the call
  const std::vector<Matcher>* matchers;
  int64_t start_millis;
  int64_t end_millis;  // included
  RowWork work;
};

}  // namespace sonde::promql
