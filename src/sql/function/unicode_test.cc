#include "sql/function/unicode.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sql/function/utf8.h"
#include "sql/text/string_test_support.h"

namespace sonde::sql {
namespace {

TEST(Unicode, NormalFormsOfNormalFormsAreTheSame) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 1'000; ++i) {
    std::string text;
    for (int character = 0; character < 8; ++character) {
      CodePoint point = static_cast<CodePoint>(random() % 0x3000);
      if (random() % 4 == 0) point = 0x300 + random() % 0x50;
      if (random() % 8 == 0) point = 0xac00 + random() % 11'172;
      AppendCharacter(point + 1, &text);
    }
    SCOPED_TRACE(text);
    const std::string composed = Normalized(text, NormalForm::kNfc);
    const std::string decomposed = Normalized(text, NormalForm::kNfd);
    EXPECT_EQ(Normalized(composed, NormalForm::kNfc), composed);
    EXPECT_EQ(Normalized(decomposed, NormalForm::kNfd), decomposed);
    EXPECT_EQ(Normalized(decomposed, NormalForm::kNfc), composed);
    EXPECT_EQ(Normalized(composed, NormalForm::kNfd), decomposed);
    const std::string compatible = Normalized(text, NormalForm::kNfkd);
    EXPECT_EQ(Normalized(Normalized(text, NormalForm::kNfkc), NormalForm::kNfkd), compatible);
  }
}

TEST(Unicode, CompatibleFormsReplaceLigaturesAndWidths) {
  EXPECT_EQ(Normalized("ﬁ①Ａ", NormalForm::kNfkc), "fi1A");
  EXPECT_EQ(Normalized("ﷺ", NormalForm::kNfkd).size(), 33);
}

TEST(Unicode, LongRunsOfMarksTakeLittleTime) {
  std::string text = "a";
  for (int i = 0; i < 100'000; ++i) {
    AppendCharacter(0x315, &text);
    AppendCharacter(0x300, &text);
  }
  const std::string normalized = Normalized(text, NormalForm::kNfd);
  EXPECT_EQ(normalized.size(), text.size());
  EXPECT_EQ(normalized.find("\u0315"), 1 + 200'000);
}

TEST(Unicode, WhiteSpaceIsThatOfUnicode) {
  size_t count = 0;
  for (CodePoint character = 0; character < 0x110000; ++character) count += IsWhiteSpace(character) ? 1 : 0;
  EXPECT_EQ(count, 25);
}

TEST(Unicode, UpperOfEveryCharacterIsUpper) {
  for (CodePoint character = 0x80; character < 0x11000; ++character) {
    if (character >= 0xd800 && character < 0xe000) continue;
    std::string text;
    AppendCharacter(character, &text);
    const std::string upper = ToUpper(text);
    EXPECT_EQ(ToUpper(upper), upper) << character;
    EXPECT_LE(upper.size(), 3 * text.size());
  }
}

}  // namespace
}  // namespace sonde::sql
