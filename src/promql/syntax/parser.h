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
#include "promql/syntax/parse_options.h"
#include "promql/syntax/tree.h"

namespace sonde::promql {

// INVALID_ARGUMENT: the query is wrong.  RESOURCE_EXHAUSTED: it is beyond the limits of parse_options.h.
absl::StatusOr<ExpressionPtr> ParseQuery(std::string_view text, const ParseOptions& options);

// The conditions of one selector, as series are asked for.  Errors as ParseQuery.
absl::StatusOr<std::vector<Matcher>> ParseSelector(std::string_view text);

}  // namespace sonde::promql
