// A tree made ready for its times: lengths that are calculated, start() and end(), and what is the same at all steps.
#pragma once

#include <cstdint>

#include "absl/status/status.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

struct QueryTimes {
  int64_t start_millis = 0;
  int64_t end_millis = 0;
  int64_t step_millis = 0;
};

// INVALID_ARGUMENT: a length that is calculated is none.
absl::Status Prepare(Expression* query, const QueryTimes& times);

}  // namespace sonde::promql
