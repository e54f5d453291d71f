#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/arena.h"
#include "model/datum.h"
#include "sql/function/utf8.h"
#include "sql/testing/function_calls.h"
#include "sql/testing/test_expression.h"
#include "sql/text/string_test_support.h"

namespace sonde::sql {
namespace {

// What GoogleSQL's reference implementation answers.
TEST(StringPieces, Substr) {
  ExpectAll({
      // clang-format off
      {R"(SUBSTR('abcdef', -9223372036854775807))", R"(STRING: "abcdef")"},
      {R"(SUBSTR('abcdef', -7))", R"(STRING: "abcdef")"},
      {R"(SUBSTR('abcdef', -6))", R"(STRING: "abcdef")"},
      {R"(SUBSTR('abcdef', -2))", R"(STRING: "ef")"},
      {R"(SUBSTR('abcdef', -1))", R"(STRING: "f")"},
      {R"(SUBSTR('abcdef', 0))", R"(STRING: "abcdef")"},
      {R"(SUBSTR('abcdef', 1))", R"(STRING: "abcdef")"},
      {R"(SUBSTR('abcdef', 2))", R"(STRING: "bcdef")"},
      {R"(SUBSTR('abcdef', 6))", R"(STRING: "f")"},
      {R"(SUBSTR('abcdef', 7))", R"(STRING: "")"},
      {R"(SUBSTR('abcdef', 9223372036854775807))", R"(STRING: "")"},
      {R"(SUBSTR('abcdef', -7, 2))", R"(STRING: "ab")"},
      {R"(SUBSTR('abcdef', -6, 2))", R"(STRING: "ab")"},
      {R"(SUBSTR('abcdef', -3, 2))", R"(STRING: "de")"},
      {R"(SUBSTR('abcdef', -3, 10))", R"(STRING: "def")"},
      {R"(SUBSTR('abcdef', 0, 0))", R"(STRING: "")"},
      {R"(SUBSTR('abcdef', 0, 2))", R"(STRING: "ab")"},
      {R"(SUBSTR('abcdef', 1, 1))", R"(STRING: "a")"},
      {R"(SUBSTR('abcdef', 2, 3))", R"(STRING: "bcd")"},
      {R"(SUBSTR('abcdef', 2, -1))", R"(OUT_OF_RANGE: Third argument in SUBSTR() cannot be negative)"},
      {R"(SUBSTR('abcdef', 5, 9))", R"(STRING: "ef")"},
      {R"(SUBSTR('abcdef', 7, 1))", R"(STRING: "")"},
      {R"(SUBSTR('abcdef', 3, 9223372036854775807))", R"(STRING: "cdef")"},
      {R"(SUBSTR('abcdef', -2, 9223372036854775807))", R"(STRING: "ef")"},
      {R"(SUBSTR('héé日本z', -9223372036854775807))", R"(STRING: "héé日本z")"},
      {R"(SUBSTR('héé日本z', -7))", R"(STRING: "héé日本z")"},
      {R"(SUBSTR('héé日本z', -6))", R"(STRING: "héé日本z")"},
      {R"(SUBSTR('héé日本z', -2))", R"(STRING: "本z")"},
      {R"(SUBSTR('héé日本z', -1))", R"(STRING: "z")"},
      {R"(SUBSTR('héé日本z', 0))", R"(STRING: "héé日本z")"},
      {R"(SUBSTR('héé日本z', 1))", R"(STRING: "héé日本z")"},
      {R"(SUBSTR('héé日本z', 2))", R"(STRING: "éé日本z")"},
      {R"(SUBSTR('héé日本z', 6))", R"(STRING: "z")"},
      {R"(SUBSTR('héé日本z', 7))", R"(STRING: "")"},
      {R"(SUBSTR('héé日本z', 9223372036854775807))", R"(STRING: "")"},
      {R"(SUBSTR('héé日本z', -7, 2))", R"(STRING: "hé")"},
      {R"(SUBSTR('héé日本z', -6, 2))", R"(STRING: "hé")"},
      {R"(SUBSTR('héé日本z', -3, 2))", R"(STRING: "日本")"},
      {R"(SUBSTR('héé日本z', -3, 10))", R"(STRING: "日本z")"},
      {R"(SUBSTR('héé日本z', 0, 0))", R"(STRING: "")"},
      {R"(SUBSTR('héé日本z', 0, 2))", R"(STRING: "hé")"},
      {R"(SUBSTR('héé日本z', 1, 1))", R"(STRING: "h")"},
      {R"(SUBSTR('héé日本z', 2, 3))", R"(STRING: "éé日")"},
      {R"(SUBSTR('héé日本z', 2, -1))", R"(OUT_OF_RANGE: Third argument in SUBSTR() cannot be negative)"},
      {R"(SUBSTR('héé日本z', 5, 9))", R"(STRING: "本z")"},
      {R"(SUBSTR('héé日本z', 7, 1))", R"(STRING: "")"},
      {R"(SUBSTR('héé日本z', 3, 9223372036854775807))", R"(STRING: "é日本z")"},
      {R"(SUBSTR('héé日本z', -2, 9223372036854775807))", R"(STRING: "本z")"},
      {R"(SUBSTR(b'abcdef', -9223372036854775807))", R"(BYTES: b"abcdef")"},
      {R"(SUBSTR(b'abcdef', -7))", R"(BYTES: b"abcdef")"},
      {R"(SUBSTR(b'abcdef', -6))", R"(BYTES: b"abcdef")"},
      {R"(SUBSTR(b'abcdef', -2))", R"(BYTES: b"ef")"},
      {R"(SUBSTR(b'abcdef', -1))", R"(BYTES: b"f")"},
      {R"(SUBSTR(b'abcdef', 0))", R"(BYTES: b"abcdef")"},
      {R"(SUBSTR(b'abcdef', 1))", R"(BYTES: b"abcdef")"},
      {R"(SUBSTR(b'abcdef', 2))", R"(BYTES: b"bcdef")"},
      {R"(SUBSTR(b'abcdef', 6))", R"(BYTES: b"f")"},
      {R"(SUBSTR(b'abcdef', 7))", R"(BYTES: b"")"},
      {R"(SUBSTR(b'abcdef', 9223372036854775807))", R"(BYTES: b"")"},
      {R"(SUBSTR(b'abcdef', -7, 2))", R"(BYTES: b"ab")"},
      {R"(SUBSTR(b'abcdef', -6, 2))", R"(BYTES: b"ab")"},
      {R"(SUBSTR(b'abcdef', -3, 2))", R"(BYTES: b"de")"},
      {R"(SUBSTR(b'abcdef', -3, 10))", R"(BYTES: b"def")"},
      {R"(SUBSTR(b'abcdef', 0, 0))", R"(BYTES: b"")"},
      {R"(SUBSTR(b'abcdef', 0, 2))", R"(BYTES: b"ab")"},
      {R"(SUBSTR(b'abcdef', 1, 1))", R"(BYTES: b"a")"},
      {R"(SUBSTR(b'abcdef', 2, 3))", R"(BYTES: b"bcd")"},
      {R"(SUBSTR(b'abcdef', 2, -1))", R"(OUT_OF_RANGE: Third argument in SUBSTR() cannot be negative)"},
      {R"(SUBSTR(b'abcdef', 5, 9))", R"(BYTES: b"ef")"},
      {R"(SUBSTR(b'abcdef', 7, 1))", R"(BYTES: b"")"},
      {R"(SUBSTR(b'abcdef', 3, 9223372036854775807))", R"(BYTES: b"cdef")"},
      {R"(SUBSTR(b'abcdef', -2, 9223372036854775807))", R"(BYTES: b"ef")"},
      {R"(SUBSTR('', 1))", R"(STRING: "")"},
      {R"(SUBSTR('', -1, 1))", R"(STRING: "")"},
      {R"(SUBSTR('éé', -3, 1))", R"(STRING: "é")"},
      {R"(SUBSTR('éé', -4, 1))", R"(STRING: "é")"},
      {R"(SUBSTR('abc', NULL))", R"(STRING: NULL)"},
      {R"(SUBSTR('abc', 1, NULL))", R"(STRING: NULL)"},
      {R"(SUBSTR(CAST(NULL AS STRING), 1, -1))", R"(STRING: NULL)"},
      {R"(SUBSTR('0123456789abcdefghijé', 18))", R"(STRING: "hijé")"},
      {R"(SUBSTR('0123456789é123456789abcdefghij', -25, 20))", R"(STRING: "56789é123456789abcde")"},
      // clang-format on
  });
}

TEST(StringPieces, Substring) {
  ExpectAll({
      // clang-format off
      {R"(SUBSTRING('abcdef', 2, 2))", R"(STRING: "bc")"},
      // clang-format on
  });
}

TEST(StringPieces, Left) {
  ExpectAll({
      // clang-format off
      {R"(LEFT('abc', -1))", R"(OUT_OF_RANGE: Second argument in LEFT() cannot be negative)"},
      {R"(LEFT('abc', 0))", R"(STRING: "")"},
      {R"(LEFT('abc', 1))", R"(STRING: "a")"},
      {R"(LEFT('abc', 2))", R"(STRING: "ab")"},
      {R"(LEFT('abc', 5))", R"(STRING: "abc")"},
      {R"(LEFT('abc', 9223372036854775807))", R"(STRING: "abc")"},
      {R"(LEFT('日本語', 0))", R"(STRING: "")"},
      {R"(LEFT('日本語', 1))", R"(STRING: "日")"},
      {R"(LEFT('日本語', 2))", R"(STRING: "日本")"},
      {R"(LEFT('日本語', 5))", R"(STRING: "日本語")"},
      {R"(LEFT('日本語', 9223372036854775807))", R"(STRING: "日本語")"},
      {R"(LEFT(b'\xff\xfe', 0))", R"(BYTES: b"")"},
      {R"(LEFT(b'\xff\xfe', 1))", R"(BYTES: b"\xff")"},
      {R"(LEFT(b'\xff\xfe', 2))", R"(BYTES: b"\xff\xfe")"},
      {R"(LEFT(b'\xff\xfe', 5))", R"(BYTES: b"\xff\xfe")"},
      {R"(LEFT(b'\xff\xfe', 9223372036854775807))", R"(BYTES: b"\xff\xfe")"},
      {R"(LEFT('', 0))", R"(STRING: "")"},
      {R"(LEFT('', 1))", R"(STRING: "")"},
      {R"(LEFT('', 2))", R"(STRING: "")"},
      {R"(LEFT('', 5))", R"(STRING: "")"},
      {R"(LEFT('', 9223372036854775807))", R"(STRING: "")"},
      {R"(LEFT('0123456789é0123456789', 12))", R"(STRING: "0123456789é0")"},
      {R"(LEFT(b'abc', -1))", R"(OUT_OF_RANGE: Second argument in LEFT() cannot be negative)"},
      // clang-format on
  });
}

TEST(StringPieces, Right) {
  ExpectAll({
      // clang-format off
      {R"(RIGHT('abc', -1))", R"(OUT_OF_RANGE: Second argument in RIGHT() cannot be negative)"},
      {R"(RIGHT('abc', 0))", R"(STRING: "")"},
      {R"(RIGHT('abc', 1))", R"(STRING: "c")"},
      {R"(RIGHT('abc', 2))", R"(STRING: "bc")"},
      {R"(RIGHT('abc', 5))", R"(STRING: "abc")"},
      {R"(RIGHT('abc', 9223372036854775807))", R"(STRING: "abc")"},
      {R"(RIGHT('日本語', 0))", R"(STRING: "")"},
      {R"(RIGHT('日本語', 1))", R"(STRING: "語")"},
      {R"(RIGHT('日本語', 2))", R"(STRING: "本語")"},
      {R"(RIGHT('日本語', 5))", R"(STRING: "日本語")"},
      {R"(RIGHT('日本語', 9223372036854775807))", R"(STRING: "日本語")"},
      {R"(RIGHT(b'\xff\xfe', 0))", R"(BYTES: b"")"},
      {R"(RIGHT(b'\xff\xfe', 1))", R"(BYTES: b"\xfe")"},
      {R"(RIGHT(b'\xff\xfe', 2))", R"(BYTES: b"\xff\xfe")"},
      {R"(RIGHT(b'\xff\xfe', 5))", R"(BYTES: b"\xff\xfe")"},
      {R"(RIGHT(b'\xff\xfe', 9223372036854775807))", R"(BYTES: b"\xff\xfe")"},
      {R"(RIGHT('', 0))", R"(STRING: "")"},
      {R"(RIGHT('', 1))", R"(STRING: "")"},
      {R"(RIGHT('', 2))", R"(STRING: "")"},
      {R"(RIGHT('', 5))", R"(STRING: "")"},
      {R"(RIGHT('', 9223372036854775807))", R"(STRING: "")"},
      {R"(RIGHT('0123456789é0123456789', 12))", R"(STRING: "9é0123456789")"},
      {R"(RIGHT(b'abc', -1))", R"(OUT_OF_RANGE: Second argument in RIGHT() cannot be negative)"},
      // clang-format on
  });
}

TEST(StringPieces, Trim) {
  ExpectAll({
      // clang-format off
      {R"(TRIM('  a b  '))", R"(STRING: "a b")"},
      {R"(TRIM('\t\n\u00a0x\u3000\u2003'))", R"(STRING: "x")"},
      {R"(TRIM('\u200bx\u200b'))", R"(STRING: "​x​")"},
      {R"(TRIM(''))", R"(STRING: "")"},
      {R"(TRIM('   '))", R"(STRING: "")"},
      {R"(TRIM('xyx', 'x'))", R"(STRING: "y")"},
      {R"(TRIM('xyx', ''))", R"(STRING: "xyx")"},
      {R"(TRIM('éaéé', 'é'))", R"(STRING: "a")"},
      {R"(TRIM('abcba', 'ab'))", R"(STRING: "c")"},
      {R"(TRIM('😀a😀', 'z😀'))", R"(STRING: "a")"},
      {R"(TRIM('xxx', 'x'))", R"(STRING: "")"},
      {R"(TRIM(b'xyx', b'x'))", R"(BYTES: b"y")"},
      {R"(TRIM(b'\xffa\xff\xfe', b'\xfe\xff'))", R"(BYTES: b"a")"},
      {R"(TRIM(b'aaa', b'a'))", R"(BYTES: b"")"},
      {R"(TRIM(b'abc', b''))", R"(BYTES: b"abc")"},
      {R"(TRIM('abc', CAST(NULL AS STRING)))", R"(STRING: NULL)"},
      // clang-format on
  });
}

TEST(StringPieces, Ltrim) {
  ExpectAll({
      // clang-format off
      {R"(LTRIM('  a b  '))", R"(STRING: "a b  ")"},
      {R"(LTRIM('\t\n\u00a0x\u3000\u2003'))", R"(STRING: "x　 ")"},
      {R"(LTRIM('\u200bx\u200b'))", R"(STRING: "​x​")"},
      {R"(LTRIM(''))", R"(STRING: "")"},
      {R"(LTRIM('   '))", R"(STRING: "")"},
      {R"(LTRIM('xyx', 'x'))", R"(STRING: "yx")"},
      {R"(LTRIM('xyx', ''))", R"(STRING: "xyx")"},
      {R"(LTRIM('éaéé', 'é'))", R"(STRING: "aéé")"},
      {R"(LTRIM('abcba', 'ab'))", R"(STRING: "cba")"},
      {R"(LTRIM('😀a😀', 'z😀'))", R"(STRING: "a😀")"},
      {R"(LTRIM('xxx', 'x'))", R"(STRING: "")"},
      {R"(LTRIM(b'xyx', b'x'))", R"(BYTES: b"yx")"},
      {R"(LTRIM(b'\xffa\xff\xfe', b'\xfe\xff'))", R"(BYTES: b"a\xff\xfe")"},
      {R"(LTRIM(b'aaa', b'a'))", R"(BYTES: b"")"},
      {R"(LTRIM(b'abc', b''))", R"(BYTES: b"abc")"},
      {R"(LTRIM('abc', CAST(NULL AS STRING)))", R"(STRING: NULL)"},
      // clang-format on
  });
}

TEST(StringPieces, Rtrim) {
  ExpectAll({
      // clang-format off
      {R"(RTRIM('  a b  '))", R"(STRING: "  a b")"},
      {R"(RTRIM('\t\n\u00a0x\u3000\u2003'))", R"(STRING: "\t\n x")"},
      {R"(RTRIM('\u200bx\u200b'))", R"(STRING: "​x​")"},
      {R"(RTRIM(''))", R"(STRING: "")"},
      {R"(RTRIM('   '))", R"(STRING: "")"},
      {R"(RTRIM('xyx', 'x'))", R"(STRING: "xy")"},
      {R"(RTRIM('xyx', ''))", R"(STRING: "xyx")"},
      {R"(RTRIM('éaéé', 'é'))", R"(STRING: "éa")"},
      {R"(RTRIM('abcba', 'ab'))", R"(STRING: "abc")"},
      {R"(RTRIM('😀a😀', 'z😀'))", R"(STRING: "😀a")"},
      {R"(RTRIM('xxx', 'x'))", R"(STRING: "")"},
      {R"(RTRIM(b'xyx', b'x'))", R"(BYTES: b"xy")"},
      {R"(RTRIM(b'\xffa\xff\xfe', b'\xfe\xff'))", R"(BYTES: b"\xffa")"},
      {R"(RTRIM(b'aaa', b'a'))", R"(BYTES: b"")"},
      {R"(RTRIM(b'abc', b''))", R"(BYTES: b"abc")"},
      {R"(RTRIM('abc', CAST(NULL AS STRING)))", R"(STRING: NULL)"},
      // clang-format on
  });
}

TEST(StringPieces, Split) {
  ExpectAll({
      // clang-format off
      {R"(SPLIT('a,b,c'))", R"(ARRAY<STRING>: ["a", "b", "c"])"},
      {R"(SPLIT(''))", R"(ARRAY<STRING>: [""])"},
      {R"(SPLIT(','))", R"(ARRAY<STRING>: ["", ""])"},
      {R"(SPLIT('abc'))", R"(ARRAY<STRING>: ["abc"])"},
      {R"(SPLIT('a#b##c', '#'))", R"(ARRAY<STRING>: ["a", "b", "", "c"])"},
      {R"(SPLIT('a#b##c', '##'))", R"(ARRAY<STRING>: ["a#b", "c"])"},
      {R"(SPLIT('aaa', 'aa'))", R"(ARRAY<STRING>: ["", "a"])"},
      {R"(SPLIT('aaaa', 'aa'))", R"(ARRAY<STRING>: ["", "", ""])"},
      {R"(SPLIT('日本語', ''))", R"(ARRAY<STRING>: ["日", "本", "語"])"},
      {R"(SPLIT('', ''))", R"(ARRAY<STRING>: [""])"},
      {R"(SPLIT('', 'x'))", R"(ARRAY<STRING>: [""])"},
      {R"(SPLIT('a😀b', '😀'))", R"(ARRAY<STRING>: ["a", "b"])"},
      {R"(SPLIT('x', 'xyz'))", R"(ARRAY<STRING>: ["x"])"},
      {R"(SPLIT(b'a,b', b','))", R"(ARRAY<BYTES>: [b"a", b"b"])"},
      {R"(SPLIT(b'abc', b''))", R"(ARRAY<BYTES>: [b"a", b"b", b"c"])"},
      {R"(SPLIT(b'', b','))", R"(ARRAY<BYTES>: [b""])"},
      {R"(SPLIT(b'', b''))", R"(ARRAY<BYTES>: [b""])"},
      {R"(SPLIT(b'\xff\x00\xff', b'\x00'))", R"(ARRAY<BYTES>: [b"\xff", b"\xff"])"},
      {R"(SPLIT('a,b', CAST(NULL AS STRING)))", R"(ARRAY<STRING>: NULL)"},
      {R"(SPLIT(CAST(NULL AS STRING), ','))", R"(ARRAY<STRING>: NULL)"},
      {R"(SPLIT('abXcdXef', 'X'))", R"(ARRAY<STRING>: ["ab", "cd", "ef"])"},
      {R"(SPLIT('a|b|', '|'))", R"(ARRAY<STRING>: ["a", "b", ""])"},
      {R"(SPLIT('|a', '|'))", R"(ARRAY<STRING>: ["", "a"])"},
      // clang-format on
  });
}

// The characters of a text, found byte by byte.
std::vector<std::string> CharactersOf(std::string_view text) {
  std::vector<std::string> characters;
  for (const char c : text) {
    if ((c & 0xc0) != 0x80) characters.emplace_back();
    characters.back() += c;
  }
  return characters;
}

std::string NaiveSubstr(std::string_view text, int64_t position, int64_t length) {
  const std::vector<std::string> characters = CharactersOf(text);
  const auto count = static_cast<int64_t>(characters.size());
  int64_t first = position > 0 ? position - 1 : position == 0 ? 0 : std::max<int64_t>(count + position, 0);
  std::string part;
  for (; first < count && length > 0; ++first, --length) part += characters[first];
  return part;
}

TEST(StringPieces, SubstrIsWhatANaiveOneGives) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 300; ++i) {
    const std::string text = RandomText(random, 40);
    const auto position = static_cast<int64_t>(random() % 100) - 50;
    const auto length = static_cast<int64_t>(random() % 50);
    SCOPED_TRACE(text);
    EXPECT_EQ(Called("SUBSTR", {text.c_str(), position, length}),
              TextOf(Value::String(NaiveSubstr(text, position, length))));
    EXPECT_EQ(Called("LEFT", {text.c_str(), length}), TextOf(Value::String(NaiveSubstr(text, 0, length))));
    EXPECT_EQ(Called("RIGHT", {text.c_str(), length}),
              TextOf(Value::String(length == 0 ? "" : NaiveSubstr(text, -length, length))));
    EXPECT_EQ(Called("LENGTH", {text.c_str()}),
              TextOf(Value::Int(static_cast<int64_t>(CharactersOf(text).size()))));
  }
}

TEST(StringPieces, WhatSplitGivesJoinedIsTheOriginal) {
  std::mt19937_64 random(2);
  for (int i = 0; i < 300; ++i) {
    const std::string text = RandomText(random, 60);
    const std::string delimiter = RandomText(random, 2);
    SCOPED_TRACE(text);
    const absl::StatusOr<Value> split = CallFunction("SPLIT", {text.c_str(), delimiter.c_str()});
    ASSERT_TRUE(split.ok()) << split.status();
    std::string joined;
    for (size_t piece = 0; piece < split->datum().size; ++piece) {
      const std::string_view part = split->datum().items[piece].bytes();
      EXPECT_TRUE(delimiter.empty() || part.find(delimiter) == std::string_view::npos);
      if (piece > 0) joined += delimiter;
      joined += part;
    }
    EXPECT_EQ(joined, text);
  }
}

}  // namespace
}  // namespace sonde::sql
