// A condition on one label of a series.
//
// A label that a series does not have is the empty text.  Patterns match whole values; `.` matches every sign.
// Threads: a matcher may be asked by several threads at once.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "re2/re2.h"

namespace sonde::promql {

// The label that names the metric.
constexpr char kMetricLabel[] = "__name__";

enum class MatchKind { kEqual, kNotEqual, kMatches, kMatchesNot };

std::string_view TextOf(MatchKind kind);

// A pattern for whole values.  INVALID_ARGUMENT: Go's words for what is wrong with `pattern`.
absl::StatusOr<std::shared_ptr<const re2::RE2>> CompilePattern(std::string_view pattern);

// A pattern that is a text with `.*` or `.+` before it, behind it, or both: found in values without RE2, of ten times as many a second.
struct TextPattern {
  std::string text;
  // The least count of signs before and behind the text; nothing: none may be there.
  std::optional<size_t> before, behind;

  // Nothing: the pattern is another one.
  static std::optional<TextPattern> Parse(std::string_view pattern);
  // `value`: ASCII, where each sign is a byte.
  bool Matches(std::string_view value) const;
};

class Matcher {
 public:
  // INVALID_ARGUMENT: as CompilePattern.
  static absl::StatusOr<Matcher> Create(MatchKind kind, std::string name, std::string value);

  MatchKind kind() const { return kind_; }
  const std::string& name() const { return name_; }
  const std::string& value() const { return value_; }
  bool Matches(std::string_view value) const;
  // A pattern of RE2 that matches the values in question, those that Matches refuses where the matcher is negative.
  std::string Pattern() const;
  // As it stands between braces.
  std::string Text() const;

 private:
  Matcher(MatchKind kind, std::string name, std::string value)
      : kind_(kind), name_(std::move(name)), value_(std::move(value)) {}

  MatchKind kind_;
  std::string name_;
  std::string value_;
  bool MatchesPattern(std::string_view value) const;

  std::shared_ptr<const re2::RE2> pattern_;  // of kMatches and kMatchesNot
  std::optional<TextPattern> text_pattern_;  // where pattern_ is one
};

}  // namespace sonde::promql
