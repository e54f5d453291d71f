#include "filter/regex_matcher.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include "base/random.h"

namespace sonde {
namespace {

constexpr int64_t kMemoryBytes = 1 << 20;

std::unique_ptr<const RegexMatcher> Make(std::string_view pattern) {
  absl::StatusOr<std::unique_ptr<const RegexMatcher>> matcher = RegexMatcher::Create(pattern, kMemoryBytes);
  EXPECT_TRUE(matcher.ok()) << matcher.status();
  return std::move(*matcher);
}

bool Matches(std::string_view pattern, std::string_view text) {
  const auto matcher = Make(pattern);
  FilterBudget budget;
  const bool matches = matcher->Matches(text, &budget);
  EXPECT_TRUE(budget.status().ok());
  return matches;
}

TEST(RegexMatcher, MatchesWholeStrings) {
  EXPECT_TRUE(Matches("abc", "abc"));
  EXPECT_FALSE(Matches("abc", "abcd"));
  EXPECT_FALSE(Matches("b+", "abb"));
  EXPECT_TRUE(Matches("", ""));
  EXPECT_FALSE(Matches("", "a"));
}

TEST(RegexMatcher, AlternationStaysInsideTheAnchors) {
  EXPECT_TRUE(Matches("a|b", "b"));
  EXPECT_FALSE(Matches("a|b", "ab"));
  EXPECT_FALSE(Matches("a+|b+", "aab"));
  EXPECT_FALSE(Matches("foo.*|bar", "xbar"));
  EXPECT_TRUE(Matches("foo.*|bar", "bar"));
}

TEST(RegexMatcher, DotLeavesOutTheNewlineAndBackslashCDoesNot) {
  EXPECT_FALSE(Matches("a.b", "a\nb"));
  EXPECT_TRUE(Matches("a\\Cb", "a\nb"));
  EXPECT_FALSE(Matches("a.*", "a\n"));
  EXPECT_TRUE(Matches("a\\C*", "a\nxyz"));
  EXPECT_FALSE(Matches(".*a", "\na"));
  EXPECT_TRUE(Matches("\\C*a", "\na"));
  EXPECT_TRUE(Matches("a\n.*", "a\nb"));
  EXPECT_TRUE(Matches(".*\n.*", "a\nb"));
  EXPECT_FALSE(Matches(".*", "\n"));
}

TEST(RegexMatcher, BytesAreLatin1) {
  EXPECT_TRUE(Matches("\xff\xfe", "\xff\xfe"));
  EXPECT_TRUE(Matches("\\xff.", "\xff\xfe"));
  EXPECT_TRUE(Matches("\\C\\C\\C", "\xe2\x98\x83"));
  EXPECT_FALSE(Matches("\\C", "\xe2\x98\x83"));
  EXPECT_TRUE(Matches("j\xc2\xa7+adams",
                      "j\xc2\xa7"
                      "adams"));
  EXPECT_TRUE(Matches("[\\x80-\\xff]+", "\x80\xff"));
  EXPECT_TRUE(Matches(std::string_view("a\0b", 3), std::string_view("a\0b", 3)));
  EXPECT_TRUE(Matches("a\\x00b", std::string_view("a\0b", 3)));
}

TEST(RegexMatcher, LiteralsAndPrefixesNeedNoAutomaton) {
  for (const char* simple : {"", "abc", "a\\.b", "a\\x41", "abc.*", "abc\\C*", ".*", "\\C*", ".*abc", "a|b|c",
                             ".*abc.*", "\\C*abc\\C*", "\\-\\~"}) {
    EXPECT_TRUE(Make(simple)->IsSimple()) << simple;
  }
  for (const char* other :
       {"a+", "a.c", "a.*c", "[a]", "(a)", "a*", "^a", "a{2}", ".*?", "\\d", "\\Qa\\E", "a|b.*"}) {
    EXPECT_FALSE(Make(other)->IsSimple()) << other;
  }
}

TEST(RegexMatcher, ErrorsNameThePattern) {
  for (const auto& [pattern, message] :
       {std::pair{"a(", "'a(' is not a regular expression of RE2 syntax: missing ): a("},
        std::pair{"\xff[", "'\\xff[' is not a regular expression of RE2 syntax: missing ]: ["},
        std::pair{".**", "'.**' is not a regular expression of RE2 syntax: bad repetition operator: **"},
        std::pair{"a\\", "'a\\x5c' is not a regular expression of RE2 syntax: trailing \\x5c"}}) {
    const auto matcher = RegexMatcher::Create(pattern, kMemoryBytes);
    EXPECT_EQ(matcher.status().code(), absl::StatusCode::kInvalidArgument) << pattern;
    EXPECT_EQ(std::string(matcher.status().message()), message);
  }
  EXPECT_EQ(RegexMatcher::Create("((a{100}){100}){100}", kMemoryBytes).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(
      RegexMatcher::Create("[ab]{1000}[cd]{1000}", 64 << 10).status(),
      absl::ResourceExhaustedError(
          "'[ab]{1000}[cd]{1000}' is too large: its automaton does not fit into 65536 bytes of memory"));
}

// Everything that the simple matchers claim, and the ranges, against RE2 itself.
TEST(RegexMatcher, AgreesWithRe2) {
  const std::vector<std::string> parts = {"a",   "b", "ab",    ".*",    "\\C*", "\n", "|",     "\\.",
                                          "\\-", ".", "\\x0a", "\\xe9", "\xe9", "a*", "(a|b)", "[ab]",
                                          "^",   "$", "\\n",   "\\_",   "\\ ",  "{",  "}",     "]",
                                          "?",   "+", "\\x4",  "\\t",   "-",    "\\]"};
  const std::vector<std::string> pieces = {"a", "b", "ab", "\n", ".", "-", "\xe9", "{", "]", "_", " ", "x"};
  RE2::Options options(RE2::Latin1);
  options.set_log_errors(false);
  for (uint64_t seed = 0; seed < 20'000; ++seed) {
    SeededRandom random(seed);
    std::string pattern;
    for (uint64_t count = random.Uniform(5); count > 0; --count)
      pattern += parts[random.Uniform(parts.size())];
    const RE2 re2(pattern, options);
    const auto matcher = RegexMatcher::Create(pattern, kMemoryBytes);
    ASSERT_EQ(matcher.ok(), re2.ok()) << "seed " << seed << " pattern " << pattern;
    if (!re2.ok()) continue;
    const ByteRanges possible = (*matcher)->PossibleMatches();
    FilterBudget budget;
    for (int i = 0; i < 8; ++i) {
      std::string text;
      for (uint64_t count = random.Uniform(4); count > 0; --count)
        text += pieces[random.Uniform(pieces.size())];
      const bool matches = RE2::FullMatch(text, re2);
      ASSERT_EQ((*matcher)->Matches(text, &budget), matches)
          << "seed " << seed << " pattern " << pattern << " text " << text;
      if (!matches) continue;
      bool is_possible = false;
      for (const ByteRange& range : possible) is_possible |= range.Contains(text);
      ASSERT_TRUE(is_possible) << "seed " << seed << " pattern " << pattern << " text " << text;
    }
  }
}

TEST(RegexMatcher, KnowsWhereMatchesLie) {
  EXPECT_EQ(Make("abc")->PossibleMatches(), (ByteRanges{{"abc", std::string("abc\0", 4)}}));
  EXPECT_EQ(Make("b|a")->PossibleMatches(),
            (ByteRanges{{"a", std::string("a\0", 2)}, {"b", std::string("b\0", 2)}}));
  EXPECT_EQ(Make("ab.*")->PossibleMatches(), (ByteRanges{{"ab", "ac"}}));
  EXPECT_EQ(Make("\xff\\C*")->PossibleMatches(), (ByteRanges{{"\xff", std::nullopt}}));
  EXPECT_EQ(Make(".*ab")->PossibleMatches(), (ByteRanges{{"", std::nullopt}}));
  const ByteRanges range = Make("meter#[0-9]+#.*")->PossibleMatches();
  ASSERT_EQ(range.size(), 1);
  EXPECT_TRUE(range[0].start.starts_with("meter#0"));
  EXPECT_TRUE(range[0].end->starts_with("meter#9") || range[0].end->starts_with("meter#:")) << *range[0].end;
}

// A text on which an automaton for "a, then 1000 more" needs a new state at every byte.
std::string Hard(size_t bytes) {
  SeededRandom random(1);
  std::string text(bytes, 'a');
  for (char& c : text) c = random.Uniform(2) == 0 ? 'a' : 'b';
  return text;
}

// A sanitizer makes the steps between two looks at the clock some times as long.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr int64_t kStoppedAfterNanos = 1'000'000'000;
#else
constexpr int64_t kStoppedAfterNanos = 150'000'000;
#endif

TEST(RegexMatcher, RefusesAMatchThatDefeatsTheAutomaton) {
  for (const size_t count : {1000, 20}) {
    const auto matcher = Make("[ab]*a[ab]{" + std::to_string(count) + "}c");
    FilterBudget budget({.row_cpu_ms = 50});
    budget.StartRow(0);
    const int64_t start_nanos = ThreadCpuNanos();
    EXPECT_FALSE(matcher->Matches(Hard(4 << 20), &budget));
    EXPECT_LT(ThreadCpuNanos() - start_nanos, kStoppedAfterNanos);
    EXPECT_EQ(budget.status().code(), absl::StatusCode::kResourceExhausted);
    const std::string message(budget.status().message());
    EXPECT_TRUE(message.ends_with("and was not done; it may take 50 ms")) << message;
    // It was stopped in the middle, and is as good as before.
    FilterBudget other;
    EXPECT_TRUE(matcher->Matches(Hard(900) + "a" + std::string(count, 'b') + "c", &other));
  }
}

TEST(RegexMatcher, TimesAreCountedForManyShortMatches) {
  const auto matcher = Make("[ab]*a[ab]{40}c");
  FilterBudget budget({.row_cpu_ms = 20});
  budget.StartRow(0);
  uint64_t matches = 0;
  const int64_t start_nanos = ThreadCpuNanos();
  for (uint64_t seed = 1; budget.status().ok() && matches < 10'000'000; ++matches) {
    SeededRandom random(seed++);
    std::string text(100, 'a');
    for (char& c : text) c = random.Uniform(2) == 0 ? 'a' : 'b';
    (void)matcher->Matches(text, &budget);
  }
  EXPECT_EQ(budget.status().code(), absl::StatusCode::kResourceExhausted);
  EXPECT_LT(ThreadCpuNanos() - start_nanos, 200'000'000);
}

TEST(RegexMatcher, SearchesInLinearTime) {
  const std::string needle(10'000, 'a');
  const auto matcher = Make(".*" + needle + "b.*");
  ASSERT_TRUE(matcher->IsSimple());
  FilterBudget budget;
  const int64_t start_nanos = ThreadCpuNanos();
  EXPECT_FALSE(matcher->Matches(std::string(1 << 20, 'a'), &budget));
  EXPECT_LT(ThreadCpuNanos() - start_nanos, 100'000'000);
}

TEST(RegexMatcher, AllowsALongHonestAlternationOnALargeValue) {
  std::string pattern;
  for (int i = 0; pattern.size() < 20'000; ++i) pattern += "|(word" + std::to_string(i * 7919) + "[0-9]+)";
  const auto matcher = Make(pattern.substr(1));
  FilterBudget budget;
  EXPECT_FALSE(matcher->Matches(std::string(1 << 20, 'w'), &budget));
  EXPECT_TRUE(matcher->Matches("word7919" + std::string(1 << 20, '5'), &budget));
  EXPECT_TRUE(budget.status().ok()) << budget.status();
}

}  // namespace
}  // namespace sonde
