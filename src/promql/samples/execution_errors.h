// Errors of a query that is carried out, in Prometheus' words.
#pragma once

#include <string_view>

#include "absl/status/status.h"

namespace sonde::promql {

inline absl::Status ExecutionError(std::string_view message) {
  return absl::FailedPreconditionError({message.data(), message.size()});
}

inline absl::Status SameLabelsError() {
  return ExecutionError("vector cannot contain metrics with the same labelset");
}

}  // namespace sonde::promql
