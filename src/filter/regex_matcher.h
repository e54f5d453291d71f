// One regular expression of a filter: RE2 syntax, Latin-1 bytes, whole strings, '.' does not match a newline.
//
// Most patterns of real filters are a literal, a prefix, or a list of literals; these never reach RE2.  All
// others are matched by RE2's automaton alone (RE2::Set).  RE2's other ways to match cannot be stopped, and
// are bounded only by the text's length times the pattern's.  Whenever the automaton's memory is full, the
// budget is asked whether to go on.  A large pattern may take 0.2 s until then, so with a large pattern a
// long text is walked over in pieces, and the budget is asked after each.
//
// Threads: const functions may be called by several at once, each with a budget of its own. Memory: RE2 gets
// a limit for the program and its automaton together, and keeps to it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "filter/byte_range.h"
#include "filter/filter_budget.h"

namespace sonde::regex_internal {
class Automaton;
}

namespace sonde {

class RegexMatcher {
 public:
  // INVALID_ARGUMENT, with the pattern and RE2's words: it is no regular expression.  RESOURCE_EXHAUSTED: its
  // automaton does not fit into the memory.
  static absl::StatusOr<std::unique_ptr<const RegexMatcher>> Create(std::string_view pattern,
                                                                    int64_t memory_bytes_max);
  ~RegexMatcher();

  // Also returns false if the budget refused; its status then says why.
  bool Matches(std::string_view text, FilterBudget* budget) const;

  // Whether a matcher of the pattern would be simple.
  static bool IsSimplePattern(std::string_view pattern);
  // Whether a match is as cheap as a comparison, so that it does not pay to remember answers.
  bool IsSimple() const { return automaton_ == nullptr; }

  // The only text that matches, if the pattern is written as a literal, quoted or not.  Otherwise null.
  const std::string* Literal() const {
    const bool is_literal =
        IsSimple() && literals_.empty() && before_ == Wildcard::kNothing && after_ == Wildcard::kNothing;
    return is_literal ? &literal_ : nullptr;
  }

  // A set that contains every match, of at most kPossibleRangesMax ranges.
  static constexpr size_t kPossibleRangesMax = 512;
  const ByteRanges& PossibleMatches() const { return possible_matches_; }

 private:
  // The wildcard that stands before or after the literal part.
  enum class Wildcard : uint8_t { kNothing, kNoNewline, kAnything };  // "", ".*", "\C*"

  RegexMatcher();

  bool ParseSimple(std::string_view pattern);
  bool PrepareAutomaton(std::string_view text, FilterBudget* budget) const;
  bool MatchesSimple(std::string_view text) const;
  ByteRanges PossibleSimpleMatches() const;

  Wildcard before_ = Wildcard::kNothing;
  Wildcard after_ = Wildcard::kNothing;
  std::string literal_;
  std::vector<std::string> literals_;  // "a|b|c", ascending; literal_ and the wildcards are not used if there
                                       // are any

  std::unique_ptr<const regex_internal::Automaton> automaton_;  // null: the pattern is simple
  bool is_large_ = false;                                       // the pattern is large
  ByteRanges possible_matches_;
};

}  // namespace sonde
