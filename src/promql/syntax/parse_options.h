// What the parser takes, and how much of it.
#pragma once

#include <cstddef>

namespace sonde::promql {

constexpr size_t kQueryBytesMax = size_t{1} << 20;
// Expressions within expressions, and all of them together.
constexpr size_t kNestedMax = 1'000;
constexpr size_t kNodesMax = 10'000;

struct ParseOptions {
  // What Prometheus has behind promql-experimental-functions, promql-extended-range-selectors and promql-binop-fill-modifiers.
  bool allows_experimental = false;
};

}  // namespace sonde::promql
