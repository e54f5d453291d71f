#include "sql/syntax/literal.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace sonde::sql {
namespace {

// The value, or the error and where it is.
std::string Read(std::string_view literal) {
  std::string value;
  const auto error = ReadLiteral(literal, &value);
  return error ? error->message + " at " + std::to_string(error->offset) : value;
}

TEST(Literal, ReadsEscapes) {
  EXPECT_EQ(Read(R"('\a\b\f\n\r\t\v\\\?\"\'\`')"), "\a\b\f\n\r\t\v\\?\"'`");
  EXPECT_EQ(Read(R"('\101\x41\X4a\u00e9\U0001F600')"), "AAJ\xC3\xA9\xF0\x9F\x98\x80");
  EXPECT_EQ(Read(R"('\377\xff')"), "\xC3\xBF\xC3\xBF");
  EXPECT_EQ(Read(R"(b'\377\xff\000')"), std::string("\xFF\xFF\0", 3));
  EXPECT_EQ(Read(R"(`a\`b`)"), "a`b");
}

TEST(Literal, LeavesRawOnesAsTheyAre) {
  EXPECT_EQ(Read(R"(r'\n\'')"), R"(\n\')");
  EXPECT_EQ(Read(R"(bR"""\x "" """)"), R"(\x "" )");
}

TEST(Literal, HasOneEndOfLine) { EXPECT_EQ(Read("'''a\r\nb\rc\nd'''"), "a\nb\nc\nd"); }

TEST(Literal, RefusesWhatIsNoUtf8) {
  EXPECT_EQ(Read("'a\xFF'"), "Structurally invalid UTF8 string: a\\xff at 2");
  EXPECT_EQ(Read("b'a\xFF'"), "a\xFF");
}

TEST(Literal, KnowsUtf8) {
  EXPECT_EQ(Utf8PrefixBytes("a\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80"), 10);
  for (const std::string_view bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xC3", "\xE2\x82", "\xF0\x9F\x98", "\xC3("}) {
    EXPECT_EQ(Utf8PrefixBytes(bad), 0) << testing::PrintToString(bad);
  }
}

TEST(Literal, ReadsBackWhatItWrites) {
  EXPECT_EQ(QuotedString("it's\n\x01\x7F\xC3\xA9\\"), R"('it\'s\n\x01\x7f)"
                                                      "\xC3\xA9"
                                                      R"(\\')");
  EXPECT_EQ(QuotedBytes("\xFF'"), R"(b'\xff\'')");
  EXPECT_EQ(QuotedName("a`b"), R"(`a\`b`)");
  SeededRandom random(1);
  for (int round = 0; round < 2'000; ++round) {
    std::string bytes;
    for (uint64_t i = random.Uniform(9); i > 0; --i) bytes.push_back(static_cast<char>(random.Uniform(256)));
    EXPECT_EQ(Read(QuotedBytes(bytes)), bytes);
    const std::string text = bytes.substr(0, Utf8PrefixBytes(bytes));
    EXPECT_EQ(Read(QuotedString(text)), text);
    EXPECT_EQ(Read(QuotedName(text)), text);
  }
}

}  // namespace
}  // namespace sonde::sql
