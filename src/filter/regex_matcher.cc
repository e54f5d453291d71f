#include "filter/regex_matcher.h"

#include <fmt/format.h>
#include <re2/re2.h>
#include <re2/set.h>
#include <string.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "filter/regex_cost.h"

namespace sonde {
namespace {

// An automaton that walks over this many bytes of a text does a unit of work.
constexpr size_t kSearchedBytesPerUnit = 4;
constexpr size_t kWalkedBytesPerUnit = 3;
constexpr uint64_t kUnitsPerMatch = 40;
// From so many bytes of a text on, the clock is looked at before a match.
constexpr size_t kLongTextBytes = 4096;
// A pattern that costs more to compile is large: a state of its automaton may take a tenth of a millisecond.
// All that fit into an automaton of a smaller one take 20 ms.
constexpr int64_t kLargePatternCostMin = 32 << 10;
// Such a one walks over so many bytes of a long text first, and then over eight times as many, each time from
// the beginning, as long as that takes little time; otherwise over an eighth more.
constexpr size_t kFirstPieceBytes = 256;
constexpr int64_t kQuickPieceNanos = 1'000'000;
// Where matches lie is asked only of patterns that cost no more than this to compile once more.
constexpr int64_t kPossibleMatchCostMax = 128 << 10;
constexpr int64_t kPossibleMatchMemoryBytes = 256 << 10;
constexpr int kPossibleMatchBytesMax = 128;

bool IsMeta(char c) { return std::string_view("\\.+*?()|[]{}^$").find(c) != std::string_view::npos; }

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Takes one character that stands for itself from the front: a plain one, an escaped punctuation mark, or
// \xHH.
std::optional<char> TakeLiteral(std::string_view* pattern) {
  const char first = pattern->front();
  if (!IsMeta(first)) {
    pattern->remove_prefix(1);
    return first;
  }
  if (first != '\\' || pattern->size() < 2) return std::nullopt;
  const char second = (*pattern)[1];
  if (second == 'x' && pattern->size() >= 4) {
    const int high = HexDigit((*pattern)[2]);
    const int low = HexDigit((*pattern)[3]);
    if (high < 0 || low < 0) return std::nullopt;
    pattern->remove_prefix(4);
    return static_cast<char>(high * 16 + low);
  }
  const bool is_punctuation = second > 0x20 && second < 0x7F && second != '_' &&
                              !(second >= '0' && second <= '9') && !(second >= 'A' && second <= 'Z') &&
                              !(second >= 'a' && second <= 'z');
  if (!is_punctuation) return std::nullopt;
  pattern->remove_prefix(2);
  return second;
}

// The literals of "a|b|c"; nullopt if there is anything else in the pattern.
std::optional<std::vector<std::string>> ParseLiterals(std::string_view pattern) {
  std::vector<std::string> literals(1);
  while (!pattern.empty()) {
    if (pattern.front() == '|') {
      pattern.remove_prefix(1);
      literals.emplace_back();
      continue;
    }
    const std::optional<char> c = TakeLiteral(&pattern);
    if (!c.has_value()) return std::nullopt;
    literals.back().push_back(*c);
  }
  return literals;
}

bool HasNoNewline(std::string_view text) { return text.find('\n') == std::string_view::npos; }

}  // namespace

namespace regex_internal {
namespace {

// The budget of the match that this thread is in; null: none that can be stopped.
thread_local FilterBudget* matching_budget = nullptr;

// Thrown through RE2 out of a match.  RE2 calls the hook with nothing but guards on the stack, and before it
// touches the states that are full, so that the automaton stays as it is.
struct Abandoned {};

void StopIfRefused(const re2::hooks::DFAStateCacheReset&) {
  if (matching_budget != nullptr && !matching_budget->Check()) throw Abandoned();
}

RE2::Options Options(int64_t memory_bytes_max) {
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(memory_bytes_max);
  return options;
}

re2::StringPiece Piece(std::string_view text) { return {text.data(), text.size()}; }

}  // namespace

class Automaton {
 public:
  // INVALID_ARGUMENT: not a regular expression.  RESOURCE_EXHAUSTED: too large.
  static absl::StatusOr<std::unique_ptr<const Automaton>> Compile(std::string_view pattern,
                                                                  int64_t memory_bytes_max) {
    static const bool is_hooked = [] {
      re2::hooks::SetDFAStateCacheResetHook(StopIfRefused);
      return true;
    }();
    (void)is_hooked;
    auto automaton = std::make_unique<Automaton>(memory_bytes_max);
    std::string error;
    if (automaton->set_.Add(Piece(pattern), &error) < 0) {
      return absl::InvalidArgumentError(fmt::format("'{}' is not a regular expression of RE2 syntax: {}",
                                                    Printable(pattern), Printable(error)));
    }
    if (!automaton->set_.Compile()) {
      return absl::ResourceExhaustedError(
          fmt::format("'{}' is too large: its automaton does not fit into {} bytes of memory",
                      Printable(pattern), memory_bytes_max));
    }
    return automaton;
  }

  explicit Automaton(int64_t memory_bytes_max) : set_(Options(memory_bytes_max), RE2::ANCHOR_BOTH) {}

  bool Matches(std::string_view text, FilterBudget* budget) const {
    FilterBudget* const outer = std::exchange(matching_budget, budget);
    RE2::Set::ErrorInfo error{RE2::Set::kNoError};
    bool matches = false;
    try {
      matches = set_.Match(Piece(text), nullptr, &error);
    } catch (const Abandoned&) {
    }
    matching_budget = outer;
    if (error.kind == RE2::Set::kOutOfMemory) {
      return budget->Refuse(absl::ResourceExhaustedError("a regular expression ran out of its memory"));
    }
    return matches;
  }

 private:
  RE2::Set set_;
};

}  // namespace regex_internal

using regex_internal::Automaton;

RegexMatcher::RegexMatcher() = default;
RegexMatcher::~RegexMatcher() = default;

bool RegexMatcher::IsSimplePattern(std::string_view pattern) { return RegexMatcher().ParseSimple(pattern); }

absl::StatusOr<std::unique_ptr<const RegexMatcher>> RegexMatcher::Create(std::string_view pattern,
                                                                         int64_t memory_bytes_max) {
  std::unique_ptr<RegexMatcher> matcher(new RegexMatcher());
  if (matcher->ParseSimple(pattern)) {
    matcher->possible_matches_ = matcher->PossibleSimpleMatches();
    return matcher;
  }
  absl::StatusOr<std::unique_ptr<const Automaton>> automaton = Automaton::Compile(pattern, memory_bytes_max);
  if (!automaton.ok()) return automaton.status();
  matcher->automaton_ = *std::move(automaton);
  const int64_t cost = RegexCost(pattern);
  matcher->is_large_ = cost >= kLargePatternCostMin;
  if (cost > kPossibleMatchCostMax) {
    matcher->possible_matches_ = {ByteRange{}};
    return matcher;
  }
  // Only RE2 itself says where its matches lie.
  const RE2 re2(regex_internal::Piece(pattern), regex_internal::Options(kPossibleMatchMemoryBytes));
  std::string least;
  std::string greatest;
  if (!re2.ok() || !re2.PossibleMatchRange(&least, &greatest, kPossibleMatchBytesMax)) {
    matcher->possible_matches_ = {ByteRange{}};
    return matcher;
  }
  ByteRange range{std::move(least), Successor(greatest)};
  if (!range.IsEmpty()) matcher->possible_matches_ = {std::move(range)};
  return matcher;
}

bool RegexMatcher::ParseSimple(std::string_view pattern) {
  if (std::optional<std::vector<std::string>> literals = ParseLiterals(pattern); literals.has_value()) {
    if (literals->size() == 1) {
      literal_ = std::move(literals->front());
      return true;
    }
    std::sort(literals->begin(), literals->end());
    literals->erase(std::unique(literals->begin(), literals->end()), literals->end());
    literals_ = std::move(*literals);
    return true;
  }
  const auto take_wildcard = [&pattern] {
    for (const auto& [text, wildcard] : {std::pair{std::string_view(".*"), Wildcard::kNoNewline},
                                         std::pair{std::string_view("\\C*"), Wildcard::kAnything}}) {
      if (!pattern.starts_with(text)) continue;
      // ".*?", ".*+", ".**" are something else, or an error.
      const std::string_view rest = pattern.substr(text.size());
      if (!rest.empty() && std::string_view("?*+{").find(rest.front()) != std::string_view::npos) break;
      pattern = rest;
      return wildcard;
    }
    return Wildcard::kNothing;
  };
  before_ = take_wildcard();
  while (!pattern.empty()) {
    if (const std::optional<char> c = TakeLiteral(&pattern); c.has_value()) {
      literal_.push_back(*c);
      continue;
    }
    after_ = take_wildcard();
    break;
  }
  // "x.*y" is left to RE2, and so is a newline that one of two wildcards would have to leave to the other.
  const bool both = before_ != Wildcard::kNothing && after_ != Wildcard::kNothing;
  return pattern.empty() && (!both || (before_ == after_ && HasNoNewline(literal_)));
}

bool RegexMatcher::MatchesSimple(std::string_view text) const {
  if (!literals_.empty()) {
    return std::binary_search(literals_.begin(), literals_.end(), text, std::less<std::string_view>());
  }
  if (before_ == Wildcard::kNothing && after_ == Wildcard::kNothing) return text == literal_;
  if (before_ == Wildcard::kNothing) {
    return text.starts_with(literal_) &&
           (after_ == Wildcard::kAnything || HasNoNewline(text.substr(literal_.size())));
  }
  if (after_ == Wildcard::kNothing) {
    return text.ends_with(literal_) &&
           (before_ == Wildcard::kAnything || HasNoNewline(text.substr(0, text.size() - literal_.size())));
  }
  // Linear, which std::string_view::find is not.
  return (literal_.empty() ||
          memmem(text.data(), text.size(), literal_.data(), literal_.size()) != nullptr) &&
         (before_ == Wildcard::kAnything || HasNoNewline(text));
}

bool RegexMatcher::Matches(std::string_view text, FilterBudget* budget) const {
  if (is_large_) budget->ExpectLongSteps();
  if (IsSimple()) {
    const bool searches = before_ != Wildcard::kNothing && after_ != Wildcard::kNothing;
    const size_t bytes_per_unit = searches ? kSearchedBytesPerUnit : kComparedBytesPerUnit;
    return budget->Work(1 + text.size() / bytes_per_unit) && MatchesSimple(text);
  }
  if (!budget->Work(kUnitsPerMatch + text.size() / kWalkedBytesPerUnit)) return false;
  const size_t long_bytes = is_large_ ? kFirstPieceBytes : kLongTextBytes;
  if (text.size() >= long_bytes && !budget->Check()) return false;
  if (is_large_ && !PrepareAutomaton(text, budget)) return false;
  return automaton_->Matches(text, budget);
}

// The states that are reached on the way are kept.  False when the budget refused.
bool RegexMatcher::PrepareAutomaton(std::string_view text, FilterBudget* budget) const {
  size_t bytes = kFirstPieceBytes;
  while (bytes < text.size()) {
    (void)automaton_->Matches(text.substr(0, bytes), budget);
    if (!budget->Check()) return false;
    bytes = budget->last_step_nanos() < kQuickPieceNanos ? bytes * 8 : bytes + bytes / 8;
  }
  return true;
}

ByteRanges RegexMatcher::PossibleSimpleMatches() const {
  if (literals_.size() > kPossibleRangesMax) {
    return {ByteRange{literals_.front(), Successor(literals_.back())}};
  }
  ByteRanges ranges;
  for (const std::string& literal : literals_) ranges.push_back(ByteRange::Single(literal));
  if (!literals_.empty()) return NormalizeByteRanges(std::move(ranges));
  if (before_ != Wildcard::kNothing) return {ByteRange{}};
  return {after_ == Wildcard::kNothing ? ByteRange::Single(literal_) : ByteRange::Prefix(literal_)};
}

}  // namespace sonde
