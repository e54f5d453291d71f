// A query's text as a tree, with Prometheus' errors.
//
// The first error wins: syntax before types, and in the order of the text.  Its message is
// "LINE:COLUMN: parse error: TEXT", columns counted in bytes from 1.
// Threads: all functions may be called at once.
#pragma once

#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

constexpr size_t kQueryBytesMax = size_t{1} << 20;
// Expressions within expressions, and all of them together.
constexpr size_t kNestedMax = 1'000;
constexpr size_t kNodesMax = 10'000;

struct ParseOptions {
  // Functions and aggregations that Prometheus has behind promql-experimental-functions.
  bool allows_experimental = false;
};

// INVALID_ARGUMENT: the query is wrong.  RESOURCE_EXHAUSTED: it is beyond the limits above.
absl::StatusOr<ExpressionPtr> ParseQuery(std::string_view text, const ParseOptions& options);

// The conditions of one selector, as series are asked for.  Errors as ParseQuery.
absl::StatusOr<std::vector<Matcher>> ParseSelector(std::string_view text);

}  // namespace sonde::promql
