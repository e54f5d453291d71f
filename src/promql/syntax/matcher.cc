#include "promql/syntax/matcher.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

#include "promql/syntax/words.h"

namespace sonde::promql {
namespace {

std::string_view GoWords(re2::RE2::ErrorCode code) {
  switch (code) {
    case re2::RE2::ErrorBadEscape:
      return "invalid escape sequence";
    case re2::RE2::ErrorBadCharClass:
      return "invalid character class";
    case re2::RE2::ErrorBadCharRange:
      return "invalid character class range";
    case re2::RE2::ErrorMissingBracket:
      return "missing closing ]";
    case re2::RE2::ErrorMissingParen:
      return "missing closing )";
    case re2::RE2::ErrorUnexpectedParen:
      return "unexpected )";
    case re2::RE2::ErrorTrailingBackslash:
      return "trailing backslash at end of expression";
    case re2::RE2::ErrorRepeatArgument:
      return "missing argument to repetition operator";
    case re2::RE2::ErrorRepeatSize:
      return "invalid repeat count";
    case re2::RE2::ErrorRepeatOp:
      return "invalid nested repetition operator";
    case re2::RE2::ErrorBadPerlOp:
      return "invalid or unsupported Perl syntax";
    case re2::RE2::ErrorBadUTF8:
      return "invalid UTF-8";
    case re2::RE2::ErrorBadNamedCapture:
      return "invalid named capture";
    default:
      return "expression too large";
  }
}

// Go knows `(?<name>x)`, which RE2 of this version writes `(?P<name>x)` only.
std::string WithNamedGroups(std::string_view pattern) {
  std::string result;
  for (size_t i = 0; i < pattern.size(); ++i) {
    if (pattern[i] == '\\' && i + 1 < pattern.size()) {
      result.append(pattern.substr(i++, 2));
      continue;
    }
    const std::string_view rest = pattern.substr(i);
    const bool is_group = rest.substr(0, 3) == "(?<" && rest.size() > 3 && rest[3] != '=' && rest[3] != '!';
    if (is_group) {
      result += "(?P<";
      i += 2;
    } else {
      result.push_back(pattern[i]);
    }
  }
  return result;
}

// RE2 reads `\C`, one byte, which Go refuses.
bool HasByteEscape(std::string_view pattern) {
  for (size_t i = 0; i + 1 < pattern.size(); ++i) {
    if (pattern[i] != '\\') continue;
    if (pattern[i + 1] == 'C') return true;
    ++i;
  }
  return false;
}

bool IsAscii(std::string_view text) {
  uint64_t all = 0;
  while (text.size() >= sizeof(uint64_t)) {
    uint64_t bytes = 0;
    std::memcpy(&bytes, text.data(), sizeof(bytes));
    all |= bytes;
    text.remove_prefix(sizeof(uint64_t));
  }
  for (const char c : text) all |= static_cast<unsigned char>(c);
  return (all & 0x8080808080808080U) == 0;
}

// Takes `.*` or `.+` from the front.
std::optional<size_t> TakeDots(std::string_view* pattern) {
  const std::string_view dots = pattern->substr(0, 2);
  if (dots != ".*" && dots != ".+") return std::nullopt;
  pattern->remove_prefix(2);
  return dots[1] == '+' ? 1 : 0;
}

}  // namespace

std::optional<TextPattern> TextPattern::Parse(std::string_view pattern) {
  constexpr std::string_view kSigns = ".+*?()[]{}^$|";
  TextPattern found;
  found.before = TakeDots(&pattern);
  while (!pattern.empty() && kSigns.find(pattern[0]) == std::string_view::npos) {
    if (pattern[0] == '\\') {
      // A sign that means something by itself; letters and digits behind it mean something else.
      if (pattern.size() < 2 || kSigns.find(pattern[1]) == std::string_view::npos) return std::nullopt;
      pattern.remove_prefix(1);
    }
    found.text += pattern[0];
    pattern.remove_prefix(1);
  }
  found.behind = TakeDots(&pattern);
  // A sign of repetition behind the text, or a pattern that goes on.
  if (!pattern.empty()) return std::nullopt;
  return found;
}

bool TextPattern::Matches(std::string_view value) const {
  if (value.size() < text.size() + before.value_or(0) + behind.value_or(0)) return false;
  if (!before && !behind) return value == text;
  if (!before) return value.starts_with(text);
  if (!behind) return value.ends_with(text);
  const size_t at = value.find(text, *before);
  return at != std::string_view::npos && at + text.size() + *behind <= value.size();
}

std::string_view TextOf(MatchKind kind) {
  switch (kind) {
    case MatchKind::kEqual:
      return "=";
    case MatchKind::kNotEqual:
      return "!=";
    case MatchKind::kMatches:
      return "=~";
    case MatchKind::kMatchesNot:
      return "!~";
  }
  return "";
}

absl::StatusOr<std::shared_ptr<const re2::RE2>> CompilePattern(std::string_view pattern) {
  if (HasByteEscape(pattern)) {
    return absl::InvalidArgumentError("error parsing regexp: invalid escape sequence: `\\C`");
  }
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  auto result = std::make_shared<const re2::RE2>(WithNamedGroups(pattern), options);
  if (result->ok()) return result;
  return absl::InvalidArgumentError(
      fmt::format("error parsing regexp: {}: `{}`", GoWords(result->error_code()), result->error_arg()));
}

absl::StatusOr<Matcher> Matcher::Create(MatchKind kind, std::string name, std::string value) {
  Matcher result(kind, std::move(name), std::move(value));
  if (kind == MatchKind::kMatches || kind == MatchKind::kMatchesNot) {
    auto pattern = CompilePattern(result.value_);
    if (!pattern.ok()) return pattern.status();
    result.pattern_ = *std::move(pattern);
    result.text_pattern_ = TextPattern::Parse(result.value_);
  }
  return result;
}

bool Matcher::MatchesPattern(std::string_view value) const {
  if (text_pattern_ && IsAscii(value)) return text_pattern_->Matches(value);
  return re2::RE2::FullMatch(value, *pattern_);
}

bool Matcher::Matches(std::string_view value) const {
  switch (kind_) {
    case MatchKind::kEqual:
      return value == value_;
    case MatchKind::kNotEqual:
      return value != value_;
    case MatchKind::kMatches:
      return MatchesPattern(value);
    case MatchKind::kMatchesNot:
      return !MatchesPattern(value);
  }
  return false;
}

std::string Matcher::Pattern() const {
  return pattern_ == nullptr ? re2::RE2::QuoteMeta(value_) : pattern_->pattern();
}

std::string Matcher::Text() const {
  const std::string name = IsPlainLabelName(name_) ? name_ : Quoted(name_);
  return fmt::format("{}{}{}", name, TextOf(kind_), Quoted(value_));
}

}  // namespace sonde::promql
