// Functions of the samples in a window; there is at least one.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "promql/evaluate/evaluator.h"

namespace sonde::promql {

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
