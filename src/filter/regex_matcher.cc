#include "filter/regex_matcher.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <optional>

#include "base/bytes.h"

namespace sonde {
namespace {

// Steps, if RE2's automaton gives up: bytes of the text times instructions of the program.  Up to so many, a
// match takes a millisecond at worst, and is measured by sampling; longer ones are measured each.
constexpr uint64_t kSampledSteps = 100'000;
// So many steps, if they are avoided by the automaton, count as one unit of work.
constexpr uint64_t kStepsPerUnit = 256;
constexpr size_t kComparedBytesPerUnit = 16;
// Long texts are tried in pieces, each so many times the one before.
constexpr size_t kPieceBytesMin = 64;
constexpr size_t kPieceGrowth = 4;
// Once a piece took so long, it tells how long the whole text will take.  (Before, it may be the automaton's
// start: an honest list of a thousand words spends 10 ms on its first bytes.)
constexpr int64_t kTellingNanos = 50'000'000;
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

RegexMatcher::~RegexMatcher() = default;

absl::StatusOr<std::unique_ptr<const RegexMatcher>> RegexMatcher::Create(std::string_view pattern,
                                                                         int64_t memory_bytes_max) {
  std::unique_ptr<RegexMatcher> matcher(new RegexMatcher());
  if (matcher->ParseSimple(pattern)) return matcher;
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  options.set_never_capture(true);
  options.set_max_mem(memory_bytes_max);
  matcher->re2_ = std::make_unique<RE2>(pattern, options);
  if (!matcher->re2_->ok()) {
    return absl::InvalidArgumentError(fmt::format("'{}' is not a regular expression of RE2 syntax: {}",
                                                  Printable(pattern), Printable(matcher->re2_->error())));
  }
  matcher->program_size_ = static_cast<uint64_t>(std::max(1, matcher->re2_->ProgramSize()));
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
  return text.find(literal_) != std::string_view::npos &&
         (before_ == Wildcard::kAnything || HasNoNewline(text));
}

bool RegexMatcher::Matches(std::string_view text) const {
  return IsSimple() ? MatchesSimple(text) : RE2::FullMatch(text, *re2_);
}

bool RegexMatcher::Matches(std::string_view text, FilterBudget* budget) const {
  if (IsSimple()) return budget->Work(1 + text.size() / kComparedBytesPerUnit) && MatchesSimple(text);
  return MatchesRe2(text, budget);
}

bool RegexMatcher::MatchesRe2(std::string_view text, FilterBudget* budget) const {
  const uint64_t steps = text.size() * program_size_;
  if (!budget->Work(1 + steps / kStepsPerUnit)) return false;
  if (steps > kSampledSteps) return MatchesPieces(text, budget);
  if (!budget->TakesSample()) return RE2::FullMatch(text, *re2_);
  const int64_t start_nanos = budget->CpuNanos();
  const bool matches = RE2::FullMatch(text, *re2_);
  const int64_t nanos = budget->CpuNanos() - start_nanos;
  return budget->ChargeMatches(nanos * static_cast<int64_t>(FilterBudget::kMatchesPerSample)) && matches;
}

// Nothing stops RE2 within a text.  So a text that may take long is tried in growing pieces from its front,
// whose answers do not matter, only the time they take; a piece that is dull costs a quarter of the next.
bool RegexMatcher::MatchesPieces(std::string_view text, FilterBudget* budget) const {
  size_t piece_bytes = std::max<size_t>(kSampledSteps / program_size_, kPieceBytesMin);
  while (true) {
    const std::string_view piece = text.substr(0, piece_bytes);
    const int64_t start_nanos = budget->CpuNanos();
    const bool matches = RE2::FullMatch(piece, *re2_);
    const int64_t nanos = budget->CpuNanos() - start_nanos;
    if (!budget->ChargeMatches(nanos)) return false;
    if (piece.size() == text.size()) return matches;
    if (nanos >= kTellingNanos) {
      const double times = static_cast<double>(text.size()) / static_cast<double>(piece.size());
      const auto expected_nanos = static_cast<int64_t>(static_cast<double>(nanos) * times);
      if (!budget->AdmitMatch(expected_nanos, text.size())) return false;
    }
    piece_bytes *= kPieceGrowth;
  }
}

ByteRanges RegexMatcher::PossibleMatches() const {
  if (!IsSimple()) {
    std::string least;
    std::string greatest;
    if (!re2_->PossibleMatchRange(&least, &greatest, kPossibleMatchBytesMax)) return {ByteRange{}};
    ByteRange range{std::move(least), Successor(greatest)};
    return range.IsEmpty() ? ByteRanges{} : ByteRanges{std::move(range)};
  }
  ByteRanges ranges;
  for (const std::string& literal : literals_)
    ranges = UnionOf(std::move(ranges), {ByteRange::Single(literal)});
  if (!literals_.empty()) return ranges;
  if (before_ != Wildcard::kNothing) return {ByteRange{}};
  return {after_ == Wildcard::kNothing ? ByteRange::Single(literal_) : ByteRange::Prefix(literal_)};
}

}  // namespace sonde
