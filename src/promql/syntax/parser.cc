#include "promql/syntax/parser.h"

#include <fmt/format.h>

#include "promql/syntax/grammar.h"

namespace sonde::promql {
namespace {

absl::Status CheckSize(std::string_view text) {
  if (text.size() <= kQueryBytesMax) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      fmt::format("the query has {} bytes; allowed: {}", text.size(), kQueryBytesMax));
}

}  // namespace

absl::StatusOr<ExpressionPtr> ParseQuery(std::string_view text, const ParseOptions& options) {
  if (absl::Status status = CheckSize(text); !status.ok()) return status;
  Grammar grammar(text, options);
  ExpressionPtr result = grammar.ReadAll();
  if (!grammar.status().ok()) return grammar.status();
  return result;
}

absl::StatusOr<std::vector<Matcher>> ParseSelector(std::string_view text) {
  if (absl::Status status = CheckSize(text); !status.ok()) return status;
  Grammar grammar(text, {});
  std::vector<Matcher> result = grammar.ReadSelectorOnly();
  if (!grammar.status().ok()) return grammar.status();
  return result;
}

}  // namespace sonde::promql
