#include "filter/regex_cost.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde {
namespace {

std::string Repeated(const std::string& text, size_t bytes) {
  std::string result;
  while (result.size() + text.size() <= bytes) result += text;
  return result;
}

constexpr int64_t kMib = 1 << 20;

TEST(RegexCost, IsSmallForHonestPatterns) {
  EXPECT_LT(RegexCost(""), 1'000);
  EXPECT_LT(RegexCost("meter#[0-9]{4}#.*"), 4'000);
  EXPECT_LT(RegexCost("\\d{4}-\\d{2}-\\d{2}T\\d{2}:\\d{2}:\\d{2}Z"), 20'000);
  std::string words;
  for (int i = 0; words.size() < 20'000; ++i) words += "|(word" + std::to_string(i * 7919) + "[0-9]+)";
  EXPECT_LT(RegexCost(words), 5 * kMib / 2);
}

// Each of these takes RE2 more than 4 MiB, or more than 50 ms, to compile.
TEST(RegexCost, IsLargeForBombs) {
  for (const char* bomb :
       {"a{0,1000}", "[ab]{1000}", "(a{0,30}){0,30}", "\\pL", "[\\pL\\pN]", "a?", "a.|b.|"}) {
    EXPECT_GT(RegexCost(Repeated(bomb, 20'400)), 5 * kMib / 2) << bomb;
  }
  EXPECT_GT(RegexCost("(?i)[" + Repeated("\\pL", 20'400) + "]"), 5 * kMib / 2);
  EXPECT_GT(RegexCost(Repeated("(\\pL{0,30}\\C+)[\\x80-\\xff]?|", 3'000)), 5 * kMib / 2);
  EXPECT_GT(RegexCost(Repeated("\\p{Greek}{999,}", 60)), 5 * kMib / 2);
  EXPECT_GT(RegexCost(Repeated("[ab]*(a|ab|)+(((a|ab|){10,1000}|ab|)*a?)*?|", 400)), 5 * kMib / 2);
  EXPECT_GT(RegexCost(Repeated("(.*a*\\C*?)ab{100,500}|", 400)), 5 * kMib / 2);
  EXPECT_GT(RegexCost("[acegikmoq]{2,1000}|[acegikmoq]{3,1000}"), 5 * kMib / 2);
}

// Things that may be left out cost by the square of their number when nothing stands between them.
TEST(RegexCost, OptionalThingsInARow) {
  for (const char* optional : {"a?", "a*", "(?:a)?", "(?:a|)", "(a?|b*)", "(?:a?b*)", "a?^", "a{0,1}", "a*?",
                               "(a?)+", "(?:|a)", "(?P<n>a?)", "a?\\b", "(?i)a?"}) {
    const std::string row = Repeated(optional, 20'400);
    EXPECT_GT(RegexCost(row), 5 * kMib / 2) << optional;
    EXPECT_GT(RegexCost("x(" + row + ")y"), 5 * kMib / 2) << optional;
  }
  EXPECT_GT(RegexCost("(" + Repeated("a?b?c?", 300) + "){30}"), 5 * kMib / 2);
  EXPECT_GT(RegexCost("((a?b?c?){30}){30}"), 3 * 900 * 3 * 900 / 2);
  // In the way of 1,500, so many more.
  EXPECT_GT(RegexCost(Repeated("a?", 3'000) + "(" + Repeated("ab|", 6'000) + ")"), 5 * kMib / 2);
}

// But not so when something must stand between them.
TEST(RegexCost, OptionalThingsApart) {
  EXPECT_LT(RegexCost(Repeated("ab?c", 8'000)), kMib);
  EXPECT_LT(RegexCost(Repeated("(?:ab?c)", 8'000)), kMib);
  EXPECT_LT(RegexCost(Repeated("(?:ab)?c", 8'000)), kMib);
  EXPECT_LT(RegexCost(Repeated("(?:a?|b)c", 8'000)), 3 * kMib / 2);
  EXPECT_LT(RegexCost(Repeated("[0-9]+\\.?x", 8'000)), 5 * kMib / 2);
}

TEST(RegexCost, RepetitionsMultiply) {
  const int64_t one = RegexCost("([abc][abc][abc]){300}");
  EXPECT_GT(one, 300 * 100);
  EXPECT_GT(RegexCost("(([abc][abc][abc]){300}){3}"), one + 600 * 3 * 100);
  EXPECT_EQ(RegexCost("([abc][abc][abc]){300,}"), one);
  EXPECT_GT(RegexCost("([abc][abc][abc]){3,300}"), one);
  std::string nested = "a";
  for (int i = 0; i < 100; ++i) nested = "(" + nested + "){1000}";
  EXPECT_GT(RegexCost(nested), int64_t{1} << 30);
  EXPECT_LE(RegexCost(nested), kRegexCostMax);
}

// Braces that are no repetition, brackets in classes, quoted text.
TEST(RegexCost, ReadsPatternsAsRe2Does) {
  EXPECT_LT(RegexCost("\\x{1000}\\{1000}a{,1000}{a{1000"), 5'000);
  EXPECT_LT(RegexCost("[{1000}]"), 1'000);
  EXPECT_LT(RegexCost("[]{1000}]"), 1'000);
  EXPECT_LT(RegexCost("[[:alpha:]{1000}]"), 2'000);
  EXPECT_LT(RegexCost("\\Qa{1000}\\E"), 1'000);
  EXPECT_GT(RegexCost("\\Qa\\E{1000}"), 100'000);
  EXPECT_GT(RegexCost("[a\\]]{1000}"), 100'000);
  EXPECT_GT(RegexCost("[^]a]{1000}"), 100'000);
  for (const char* any : {"(", ")", "[", "[^", "\\", "{", "{}", "{1", "\\x{", "\\Q", "(((", ")))", "[[:"}) {
    EXPECT_GE(RegexCost(any), 0) << any;
  }
}

}  // namespace
}  // namespace sonde
