#include "sql/function/utf8.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>

#include "sql/text/string_test_support.h"

namespace sonde::sql {
namespace {

TEST(Utf8, TakesBackEveryCharacterThatItAppends) {
  for (CodePoint character = 0; character < 0x110000; ++character) {
    if (character >= 0xd800 && character < 0xe000) continue;
    std::string text;
    AppendCharacter(character, &text);
    std::string_view front = text;
    std::string_view back = text;
    ASSERT_EQ(TakeCharacter(&front), character);
    ASSERT_EQ(TakeLastCharacter(&back), character);
    ASSERT_TRUE(front.empty() && back.empty());
    ASSERT_EQ(CountCharacters(text), 1);
  }
}

TEST(Utf8, CountsAsWalkingDoes) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 2'000; ++i) {
    const std::string text = RandomText(random, 50);
    size_t count = 0;
    bool is_ascii = true;
    for (std::string_view rest = text; !rest.empty(); ++count) is_ascii &= TakeCharacter(&rest) < 128;
    EXPECT_EQ(CountCharacters(text), count);
    EXPECT_EQ(IsAscii(text), is_ascii);
    const size_t some = random() % (count + 2);
    const size_t first = BytesOfFirst(text, some);
    EXPECT_EQ(CountCharacters(std::string_view(text).substr(0, first)), std::min(some, count));
    EXPECT_EQ(BytesOfLast(text, count - std::min(some, count)), text.size() - first);
  }
}

TEST(Utf8, ReadsNothingBehindABrokenEnd) {
  for (const std::string_view text : {"\xf0\x9f", "\xe6", "\xc3", "\x80\x80", "a\xff"}) {
    std::string_view rest = text;
    while (!rest.empty()) TakeCharacter(&rest);
    EXPECT_LE(BytesOfFirst(text, 3), text.size());
    EXPECT_LE(BytesOfLast(text, 3), text.size());
  }
}

}  // namespace
}  // namespace sonde::sql
