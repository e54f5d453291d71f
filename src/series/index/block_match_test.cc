#include "series/index/block_match.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "series/known/known_series.h"

namespace sonde::series {
namespace {

using promql::Matcher;
using promql::MatchKind;

constexpr MatchKind kKinds[] = {MatchKind::kEqual, MatchKind::kNotEqual, MatchKind::kMatches,
                                MatchKind::kMatchesNot};
const std::vector<std::string> kValues = {"a", "ab", "abc", "abd",  "b", "ba", "a|b", "a.b", "a+b",
                                          "é", "éa", "aé",  "\xFF", "A", "aa", "aab", "ac",  "a\nb"};
const std::vector<std::string> kPatterns = {
    "",     "a",     "a|b",     "ab|abc|x", ".*",    ".+",     "a.*", "ab?",    "abc?",
    "é?a",  "aé*",   "(a|b).*", "a{0,1}",   "(?i)a", "a(?i)B", "^a$", "^(?:a)", "[ab].",
    "a.b",  "a\\.b", "a\\+b",   "a+b?",     "|a",    "a|",     "|",   "ab|.*",  "(ab)*",
    "éa|a", "x.*",   "a\nb",    "[^a]",     "..",    "ab{1}",  "a$",  "\\Qa|b"};

class BlockMatchTest : public testing::Test {
 protected:
  // The labels of `count` entities, of which one in three lacks each.
  void Make(RandomSource* random, size_t count, size_t base) {
    std::vector<std::string> texts;
    for (size_t i = 0; i < count; ++i) {
      std::string text;
      std::map<std::string, std::string>& labels = labels_.emplace_back();
      for (const std::string name : {"x", "y"}) {
        if (random->Uniform(3) == 0) continue;
        labels[name] = kValues[random->Uniform(kValues.size())];
        if (!text.empty()) text += ',';
        text += name + "=";
        AppendEscaped(labels[name], &text);
      }
      texts.push_back(text.empty() ? kNoLabelsText : text);
    }
    block_ = EntityBlock::Make({"x", "y"}, texts, base);
    ASSERT_NE(block_, nullptr);
  }

  void ExpectNaive(const std::vector<Matcher>& matchers) {
    PositionSet expected;
    for (size_t i = 0; i < labels_.size(); ++i) {
      const bool is_in = std::all_of(matchers.begin(), matchers.end(), [&](const Matcher& matcher) {
        const auto label = labels_[i].find(matcher.name());
        return matcher.Matches(label == labels_[i].end() ? "" : label->second);
      });
      if (is_in) expected.Add(block_->base() + i);
    }
    std::string text;
    for (const Matcher& matcher : matchers) text += matcher.Text() + " ";
    EXPECT_EQ(MatchBlock(*block_, matchers), expected) << text;
  }

  std::vector<std::map<std::string, std::string>> labels_;
  std::shared_ptr<const EntityBlock> block_;
};

TEST_F(BlockMatchTest, EachMatcherIsAsOfEachEntity) {
  SeededRandom random(1);
  Make(&random, 200, 0);
  for (const MatchKind kind : kKinds) {
    for (const std::string name : {"x", "none"}) {
      for (const std::string& pattern : kPatterns) {
        const auto matcher = Matcher::Create(kind, name, pattern);
        ASSERT_TRUE(matcher.ok()) << pattern;
        ExpectNaive({*matcher});
      }
    }
    for (const std::string& value : kValues) {
      const auto matcher = Matcher::Create(kind, "x", value);
      if (matcher.ok()) ExpectNaive({*matcher});
    }
  }
}

TEST_F(BlockMatchTest, AllMatchersHold) {
  SeededRandom random(2);
  Make(&random, 300, 77);
  for (int round = 0; round < 500; ++round) {
    std::vector<Matcher> matchers;
    for (size_t i = random.Uniform(5); i > 0; --i) {
      const std::string name = random.Uniform(2) == 0 ? "x" : random.Uniform(8) == 0 ? "none" : "y";
      const auto matcher =
          Matcher::Create(kKinds[random.Uniform(4)], name, kPatterns[random.Uniform(kPatterns.size())]);
      ASSERT_TRUE(matcher.ok());
      matchers.push_back(*matcher);
    }
    ExpectNaive(matchers);
  }
}

}  // namespace
}  // namespace sonde::series
