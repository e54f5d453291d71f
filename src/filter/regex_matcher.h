// One regular expression of a filter: RE2 syntax, Latin-1 bytes, whole strings, '.' does not match a newline.
//
// Most patterns of real filters are a literal, a prefix, or a list of literals; those never reach RE2.
// For the others the matcher knows when RE2's automaton gave up on a text, so that such matches can be
// charged for what they are: a walk through the whole program at every byte.
//
// Threads: const functions may be called by several at once, each with a budget of its own.
// Memory: RE2 is given `memory_bytes_max` for the program and its automata together.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "filter/byte_range.h"
#include "filter/filter_budget.h"

namespace re2 {
class RE2;
}

namespace sonde {

class RegexMatcher {
 public:
  // INVALID_ARGUMENT with the pattern and RE2's words: not a regular expression, or too large.
  static absl::StatusOr<std::unique_ptr<const RegexMatcher>> Create(std::string_view pattern,
                                                                    int64_t memory_bytes_max);
  ~RegexMatcher();

  // Without counting the cost: for few and short texts (names of families, row keys).
  bool Matches(std::string_view text) const;

  // False as well when the budget refused; its status then says why.
  bool Matches(std::string_view text, FilterBudget* budget) const;

  // True if a match is as cheap as a comparison, so that remembering answers would not pay.
  bool IsSimple() const { return re2_ == nullptr; }

  // A set that contains every match.
  ByteRanges PossibleMatches() const;

 private:
  // What may stand before or after the literal part.
  enum class Wildcard : uint8_t { kNothing, kNoNewline, kAnything };  // "", ".*", "\C*"

  RegexMatcher() = default;

  bool ParseSimple(std::string_view pattern);
  bool MatchesSimple(std::string_view text) const;
  bool MatchesRe2(std::string_view text, FilterBudget* budget) const;
  bool MatchesPieces(std::string_view text, FilterBudget* budget) const;

  Wildcard before_ = Wildcard::kNothing;
  Wildcard after_ = Wildcard::kNothing;
  std::string literal_;
  std::vector<std::string> literals_;  // "a|b|c", ascending; then literal_ and the wildcards are not used

  std::unique_ptr<re2::RE2> re2_;  // null: simple
  uint64_t program_size_ = 0;
};

}  // namespace sonde
