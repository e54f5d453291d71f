// What queries read: series with their samples, and where they come from.
#pragma once

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "promql/evaluate/labels.h"
#include "promql/syntax/matcher.h"

namespace sonde::promql {

// The bits of the NaN that says that a series has ended; every other NaN is a value.
constexpr uint64_t kStaleBits = 0x7FF0000000000002;

bool IsStale(double value);

struct SampleSeries {
  Labels labels;
  std::vector<int64_t> times;  // milliseconds since 1970, rising
  std::vector<double> values;  // one a time
};

class SampleSource {
 public:
  virtual ~SampleSource() = default;

  // Series that fulfil all `matchers`, sorted by their labels, each once, with their samples of [start, end], both
  // inclusive.  A series without samples there may be left out.  Errors of the store; INVALID_ARGUMENT: the
  // series cannot be told apart; RESOURCE_EXHAUSTED: there are too many of them.
  virtual absl::StatusOr<std::vector<SampleSeries>> Select(const std::vector<Matcher>& matchers,
                                                           int64_t start_millis, int64_t end_millis) = 0;
};

}  // namespace sonde::promql
