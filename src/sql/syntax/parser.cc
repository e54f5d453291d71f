#include "sql/syntax/parser.h"

#include <fmt/format.h>

#include "sql/syntax/grammar.h"
#include "sql/syntax/literal.h"
#include "sql/syntax/syntax_error.h"

namespace sonde::sql {
namespace {

absl::Status CheckText(std::string_view text) {
  if (text.size() > kQueryTextBytesMax) {
    return absl::InvalidArgumentError(
        fmt::format("Query text has {} bytes; at most {} are allowed", text.size(), kQueryTextBytesMax));
  }
  const size_t good_bytes = Utf8PrefixBytes(text);
  if (good_bytes == text.size()) return absl::OkStatus();
  return ErrorAt(text, Position{static_cast<uint32_t>(good_bytes)},
                 "Syntax error: Query text is not valid UTF-8");
}

}  // namespace

absl::StatusOr<std::unique_ptr<Statement>> ParseStatement(std::string_view text) {
  if (absl::Status status = CheckText(text); !status.ok()) return status;
  TokenStream tokens(text, "statement");
  std::unique_ptr<Statement> statement = Grammar(&tokens).WholeStatement();
  if (tokens.failed()) return tokens.status();
  return statement;
}

absl::StatusOr<ExprPtr> ParseExpression(std::string_view text) {
  if (absl::Status status = CheckText(text); !status.ok()) return status;
  TokenStream tokens(text, "expression");
  ExprPtr expr = Grammar(&tokens).WholeExpression();
  if (tokens.failed()) return tokens.status();
  return expr;
}

}  // namespace sonde::sql
