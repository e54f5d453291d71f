#include "promql/syntax/matcher.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"

namespace sonde::promql {
namespace {

TEST(Matcher, TextsWithDotsAreFoundAsByRE2) {
  const std::vector<std::string> parts = {"",    "a",   "ab", "-",    ".*",  ".+",      ".", "\\.", "\\d",
                                          "\\-", "a*",  "b+", "é",    "[a]", "^",       "$", "|",   "a|b",
                                          "\n",  "(a)", "{",  "a{2}", "\\|", "\\Qa\\E", "?"};
  const std::vector<std::string> signs = {"a", "b", "-", ".", "|", "d", "1", "é", "\xFF", "\n", "{"};
  SeededRandom random(5);
  int texts = 0, matches = 0;
  for (int round = 0; round < 20'000; ++round) {
    std::string pattern;
    for (uint64_t i = random.Uniform(5); i > 0; --i) pattern += parts[random.Uniform(parts.size())];
    const auto compiled = CompilePattern(pattern);
    const auto matcher = Matcher::Create(MatchKind::kMatches, "x", pattern);
    ASSERT_EQ(matcher.ok(), compiled.ok());
    if (!matcher.ok()) continue;
    texts += TextPattern::Parse(pattern).has_value() ? 1 : 0;
    const auto other = Matcher::Create(MatchKind::kMatchesNot, "x", pattern);
    for (int i = 0; i < 8; ++i) {
      std::string value;
      for (uint64_t sign = random.Uniform(12); sign > 0; --sign) value += signs[random.Uniform(signs.size())];
      const bool is_match = re2::RE2::FullMatch(value, **compiled);
      ASSERT_EQ(matcher->Matches(value), is_match) << pattern << " and " << value;
      ASSERT_EQ(other->Matches(value), !is_match) << pattern << " and " << value;
      matches += is_match && TextPattern::Parse(pattern) ? 1 : 0;
    }
  }
  EXPECT_GT(texts, 1'000);
  EXPECT_GT(matches, 1'000);
}

TEST(Matcher, TextsKeepTheSignsThatDotsStandFor) {
  const auto matches = [](std::string_view pattern, std::string_view value) {
    const auto text = TextPattern::Parse(pattern);
    return text.has_value() && text->Matches(value);
  };
  EXPECT_TRUE(matches(".+a.+", "aaa"));
  EXPECT_FALSE(matches(".+a.+", "aa"));
  EXPECT_TRUE(matches(".*-12", "web-12"));
  EXPECT_FALSE(matches(".*-12", "web-123"));
  EXPECT_TRUE(matches("web.*", "web"));
  EXPECT_FALSE(matches("web.+", "web"));
  EXPECT_TRUE(matches(".*\\.org", "a.org"));
  EXPECT_FALSE(matches(".*\\.org", "a-org"));
  EXPECT_FALSE(TextPattern::Parse("ab*").has_value());
  EXPECT_FALSE(TextPattern::Parse(".*a.*b").has_value());
}

}  // namespace
}  // namespace sonde::promql
