// Evaluates expressions that are written as SQL, for tables of tests: literals, arrays, structs, operators, calls,
// SAFE., CAST, EXTRACT, lambdas.  Parts that are not functions (IF, AND, CASE) are missing.
//
//   EXPECT_EQ(Evaluated("SUBSTR('abc', 2)"), "STRING: \"bc\"");
//   EXPECT_EQ(Evaluated("1/0"), "OUT_OF_RANGE: division by zero: 1 / 0");
//
// Each call in the expression is checked in all forms of columns (function_test_support.h).
#pragma once

#include <string>
#include <string_view>

#include "absl/types/span.h"
#include "sql/function/call.h"

namespace sonde::sql {

std::string Evaluated(std::string_view expression, const StatementFacts& facts = {});

struct ExpressionCase {
  std::string_view expression;
  std::string_view expected;
};
// Expects that each expression gives what stands beside it.
void ExpectAll(absl::Span<const ExpressionCase> cases, const StatementFacts& facts = {});

}  // namespace sonde::sql
