// Random trees, and random damage to their texts: what is printed is read as the same tree, and nothing else
// happens.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.h"
#include "sql/syntax/lexer.h"
#include "sql/syntax/random_query_test_support.h"
#include "sql/syntax/syntax_test_support.h"

namespace sonde::sql::syntax_test {
namespace {

constexpr int kTrees = 2'000;
constexpr int kDamaged = 4'000;

TEST(SyntaxProperty, PrintsWhatItReads) {
  for (int seed = 0; seed < kTrees; ++seed) {
    SeededRandom random(seed);
    const auto statement = RandomQuery(&random).OneStatement();
    ASSERT_EQ(RoundTripFault(*statement), "") << "seed " << seed;
  }
}

// The tokens of a text, one of which is dropped, doubled, or replaced by one from elsewhere.
std::string Damaged(const std::string& text, RandomSource* random) {
  std::vector<std::string> tokens;
  for (const Token& token : CutIntoTokens(text).tokens)
    tokens.push_back(text.substr(token.offset, token.bytes));
  for (uint64_t count = 1 + random->Uniform(3); count > 0 && !tokens.empty(); --count) {
    const size_t at = random->Uniform(tokens.size());
    const size_t other = random->Uniform(tokens.size());
    switch (random->Uniform(3)) {
      case 0:
        tokens.erase(tokens.begin() + static_cast<std::ptrdiff_t>(at));
        break;
      case 1:
        tokens.insert(tokens.begin() + static_cast<std::ptrdiff_t>(at), std::string(tokens[other]));
        break;
      default:
        tokens[at] = tokens[other];
    }
  }
  std::string damaged;
  for (const std::string& token : tokens) damaged += token + " ";
  return damaged;
}

TEST(SyntaxProperty, ReadsOrRefusesDamagedTexts) {
  int good_count = 0;
  for (int seed = 0; seed < kDamaged; ++seed) {
    SeededRandom random(seed);
    const std::string text = Damaged(Print(*RandomQuery(&random).OneStatement()), &random);
    const auto statement = ParseStatement(text);
    if (!statement.ok()) {
      ASSERT_NE(std::string(statement.status().message()).find(" [at 1:"), std::string::npos) << text;
      continue;
    }
    ++good_count;
    ASSERT_EQ(RoundTripFault(**statement), "") << text;
    const auto again = ParseStatement(Print(**statement));
    ASSERT_TRUE(again.ok());
    ASSERT_EQ(Print(**statement), Print(**again)) << text;
  }
  EXPECT_GT(good_count, kDamaged / 50);
}

}  // namespace
}  // namespace sonde::sql::syntax_test
