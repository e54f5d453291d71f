// Functions of the samples in a window; there is at least one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "promql/samples/annotations.h"
#include "promql/samples/execution_errors.h"
#include "promql/samples/matrix.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

// Samples of one series in a window, and the window.
struct Window {
  const int64_t* times;
  const double* values;
  size_t count;
  int64_t step_millis;  // the time of the step
  int64_t from_millis;  // exclusive
  int64_t to_millis;    // inclusive
  double range_seconds;
};

struct WindowCall {
  Annotations* annotations;
  const Expression* node;
  std::vector<double> parameters;  // of the step, in the order of the arguments
  absl::Status status;             // an error that ends the query
};

// Nothing: the step has no value.
using WindowFunction = std::optional<double> (*)(const Window& window, WindowCall* call);

// Null: there is none of this name.
WindowFunction FindWindowFunction(std::string_view name);

// rate, increase, delta and their neighbours (window_rates.cc).
WindowFunction FindRateFunction(std::string_view name);

}  // namespace sonde::promql
