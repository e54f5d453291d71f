// Reads the text of a query.
//
//   absl::StatusOr<std::unique_ptr<Statement>> statement = ParseStatement("SELECT cf['q'] FROM t LIMIT 10");
//
// Errors, INVALID_ARGUMENT, in GoogleSQL's words and with a place:
//   "Syntax error: ..."             the text is no query
//   "Statement not supported: ..."  the text begins as another statement (INSERT, CREATE, ...) does
//   "... not supported"             the text is GoogleSQL that has no meaning here (PIVOT, @@variables, ...)
//   the text is longer than kQueryTextBytesMax, or nests deeper than kNestingMax, or a list is longer than
//   kListMax, or the tree would be higher than kTreeHeightMax
// Threads: any number may parse at once.
// Cost: one pass; time and memory are linear in the text.  The stack is bounded, by kNestingMax while a text is
//   read, by kTreeHeightMax while a tree is walked or freed.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "absl/status/statusor.h"
#include "sql/syntax/tree.h"

namespace sonde::sql {

constexpr size_t kQueryTextBytesMax = 1 << 20;
constexpr int kNestingMax = 100;  // of expressions, queries and types in each other
constexpr int kTreeHeightMax =
    1'000;  // of expressions and joins upon each other: a chain a + b + c is a tree of its length
constexpr size_t kListMax = 100'000;  // of elements in one list

// A trailing semicolon is taken.  EXPLAIN [ANALYZE] may stand in front.
absl::StatusOr<std::unique_ptr<Statement>> ParseStatement(std::string_view text);
// An expression by itself.
absl::StatusOr<ExprPtr> ParseExpression(std::string_view text);

}  // namespace sonde::sql
