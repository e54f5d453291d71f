#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sql/testing/function_calls.h"
#include "sql/testing/test_expression.h"
#include "sql/text/string_test_support.h"

namespace sonde::sql {
namespace {

// What GoogleSQL's reference implementation answers.
TEST(StringSearch, StartsWith) {
  ExpectAll({
      // clang-format off
      {R"(STARTS_WITH('bar', 'b'))", R"(BOOL: true)"},
      {R"(STARTS_WITH('bar', 'bar'))", R"(BOOL: true)"},
      {R"(STARTS_WITH('bar', 'bars'))", R"(BOOL: false)"},
      {R"(STARTS_WITH('bar', ''))", R"(BOOL: true)"},
      {R"(STARTS_WITH('', ''))", R"(BOOL: true)"},
      {R"(STARTS_WITH('', 'a'))", R"(BOOL: false)"},
      {R"(STARTS_WITH('été', 'é'))", R"(BOOL: true)"},
      {R"(STARTS_WITH(b'\xff\xfe', b'\xff'))", R"(BOOL: true)"},
      {R"(STARTS_WITH(b'\xff\xfe', b'\xfe'))", R"(BOOL: false)"},
      {R"(STARTS_WITH('a', CAST(NULL AS STRING)))", R"(BOOL: NULL)"},
      // clang-format on
  });
}

TEST(StringSearch, EndsWith) {
  ExpectAll({
      // clang-format off
      {R"(ENDS_WITH('bar', 'b'))", R"(BOOL: false)"},
      {R"(ENDS_WITH('bar', 'bar'))", R"(BOOL: true)"},
      {R"(ENDS_WITH('bar', 'bars'))", R"(BOOL: false)"},
      {R"(ENDS_WITH('bar', ''))", R"(BOOL: true)"},
      {R"(ENDS_WITH('', ''))", R"(BOOL: true)"},
      {R"(ENDS_WITH('', 'a'))", R"(BOOL: false)"},
      {R"(ENDS_WITH('été', 'é'))", R"(BOOL: true)"},
      {R"(ENDS_WITH(b'\xff\xfe', b'\xff'))", R"(BOOL: false)"},
      {R"(ENDS_WITH(b'\xff\xfe', b'\xfe'))", R"(BOOL: true)"},
      {R"(ENDS_WITH('a', CAST(NULL AS STRING)))", R"(BOOL: NULL)"},
      // clang-format on
  });
}

TEST(StringSearch, Strpos) {
  ExpectAll({
      // clang-format off
      {R"(STRPOS('foo@example.com', '@'))", R"(INT64: 4)"},
      {R"(STRPOS('abc', ''))", R"(INT64: 1)"},
      {R"(STRPOS('', ''))", R"(INT64: 1)"},
      {R"(STRPOS('', 'a'))", R"(INT64: 0)"},
      {R"(STRPOS('ééa', 'a'))", R"(INT64: 3)"},
      {R"(STRPOS('ééa日a', '日a'))", R"(INT64: 4)"},
      {R"(STRPOS(b'\xc3\xa9a', b'a'))", R"(INT64: 3)"},
      {R"(STRPOS(b'abc', b''))", R"(INT64: 1)"},
      {R"(STRPOS('abcabc', 'cab'))", R"(INT64: 3)"},
      {R"(STRPOS('abc', 'abcd'))", R"(INT64: 0)"},
      {R"(STRPOS('aaab', 'ab'))", R"(INT64: 3)"},
      {R"(STRPOS(CAST(NULL AS STRING), 'a'))", R"(INT64: NULL)"},
      // clang-format on
  });
}

TEST(StringSearch, Instr) {
  ExpectAll({
      // clang-format off
      {R"(INSTR('banana', 'an'))", R"(INT64: 2)"},
      {R"(INSTR('banana', 'an', 1, 1))", R"(INT64: 2)"},
      {R"(INSTR('banana', 'an', 1, 2))", R"(INT64: 4)"},
      {R"(INSTR('banana', 'an', 2, 1))", R"(INT64: 2)"},
      {R"(INSTR('banana', 'an', 3, 2))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'an', -1, 1))", R"(INT64: 4)"},
      {R"(INSTR('banana', 'an', -1, 2))", R"(INT64: 2)"},
      {R"(INSTR('banana', 'an', -3, 1))", R"(INT64: 4)"},
      {R"(INSTR('banana', 'an', -6, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'an', -7, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'an', -8, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'an', 7, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'an', 8, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'an', 1, 9))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'an', -2))", R"(INT64: 4)"},
      {R"(INSTR('banana', 'an', 2))", R"(INT64: 2)"},
      {R"(INSTR('banana', 'a'))", R"(INT64: 2)"},
      {R"(INSTR('banana', 'a', 1, 1))", R"(INT64: 2)"},
      {R"(INSTR('banana', 'a', 1, 2))", R"(INT64: 4)"},
      {R"(INSTR('banana', 'a', 2, 1))", R"(INT64: 2)"},
      {R"(INSTR('banana', 'a', 3, 2))", R"(INT64: 6)"},
      {R"(INSTR('banana', 'a', -1, 1))", R"(INT64: 6)"},
      {R"(INSTR('banana', 'a', -1, 2))", R"(INT64: 4)"},
      {R"(INSTR('banana', 'a', -3, 1))", R"(INT64: 4)"},
      {R"(INSTR('banana', 'a', -6, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'a', -7, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'a', -8, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'a', 7, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'a', 8, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'a', 1, 9))", R"(INT64: 0)"},
      {R"(INSTR('banana', 'a', -2))", R"(INT64: 4)"},
      {R"(INSTR('banana', 'a', 2))", R"(INT64: 2)"},
      {R"(INSTR('héhéhé', 'hé'))", R"(INT64: 1)"},
      {R"(INSTR('héhéhé', 'hé', 1, 1))", R"(INT64: 1)"},
      {R"(INSTR('héhéhé', 'hé', 1, 2))", R"(INT64: 3)"},
      {R"(INSTR('héhéhé', 'hé', 2, 1))", R"(INT64: 3)"},
      {R"(INSTR('héhéhé', 'hé', 3, 2))", R"(INT64: 5)"},
      {R"(INSTR('héhéhé', 'hé', -1, 1))", R"(INT64: 5)"},
      {R"(INSTR('héhéhé', 'hé', -1, 2))", R"(INT64: 3)"},
      {R"(INSTR('héhéhé', 'hé', -3, 1))", R"(INT64: 3)"},
      {R"(INSTR('héhéhé', 'hé', -6, 1))", R"(INT64: 1)"},
      {R"(INSTR('héhéhé', 'hé', -7, 1))", R"(INT64: 0)"},
      {R"(INSTR('héhéhé', 'hé', -8, 1))", R"(INT64: 0)"},
      {R"(INSTR('héhéhé', 'hé', 7, 1))", R"(INT64: 0)"},
      {R"(INSTR('héhéhé', 'hé', 8, 1))", R"(INT64: 0)"},
      {R"(INSTR('héhéhé', 'hé', 1, 9))", R"(INT64: 0)"},
      {R"(INSTR('héhéhé', 'hé', -2))", R"(INT64: 5)"},
      {R"(INSTR('héhéhé', 'hé', 2))", R"(INT64: 3)"},
      {R"(INSTR('banana', ''))", R"(INT64: 1)"},
      {R"(INSTR('banana', '', 1, 1))", R"(INT64: 1)"},
      {R"(INSTR('banana', '', 1, 2))", R"(INT64: 2)"},
      {R"(INSTR('banana', '', 2, 1))", R"(INT64: 2)"},
      {R"(INSTR('banana', '', 3, 2))", R"(INT64: 4)"},
      {R"(INSTR('banana', '', -1, 1))", R"(INT64: 7)"},
      {R"(INSTR('banana', '', -1, 2))", R"(INT64: 6)"},
      {R"(INSTR('banana', '', -3, 1))", R"(INT64: 5)"},
      {R"(INSTR('banana', '', -6, 1))", R"(INT64: 2)"},
      {R"(INSTR('banana', '', -7, 1))", R"(INT64: 1)"},
      {R"(INSTR('banana', '', -8, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', '', 7, 1))", R"(INT64: 7)"},
      {R"(INSTR('banana', '', 8, 1))", R"(INT64: 0)"},
      {R"(INSTR('banana', '', 1, 9))", R"(INT64: 0)"},
      {R"(INSTR('banana', '', -2))", R"(INT64: 6)"},
      {R"(INSTR('banana', '', 2))", R"(INT64: 2)"},
      {R"(INSTR('日本日本', '本'))", R"(INT64: 2)"},
      {R"(INSTR('日本日本', '本', 1, 1))", R"(INT64: 2)"},
      {R"(INSTR('日本日本', '本', 1, 2))", R"(INT64: 4)"},
      {R"(INSTR('日本日本', '本', 2, 1))", R"(INT64: 2)"},
      {R"(INSTR('日本日本', '本', 3, 2))", R"(INT64: 0)"},
      {R"(INSTR('日本日本', '本', -1, 1))", R"(INT64: 4)"},
      {R"(INSTR('日本日本', '本', -1, 2))", R"(INT64: 2)"},
      {R"(INSTR('日本日本', '本', -3, 1))", R"(INT64: 2)"},
      {R"(INSTR('日本日本', '本', -6, 1))", R"(INT64: 0)"},
      {R"(INSTR('日本日本', '本', -7, 1))", R"(INT64: 0)"},
      {R"(INSTR('日本日本', '本', -8, 1))", R"(INT64: 0)"},
      {R"(INSTR('日本日本', '本', 7, 1))", R"(INT64: 0)"},
      {R"(INSTR('日本日本', '本', 8, 1))", R"(INT64: 0)"},
      {R"(INSTR('日本日本', '本', 1, 9))", R"(INT64: 0)"},
      {R"(INSTR('日本日本', '本', -2))", R"(INT64: 2)"},
      {R"(INSTR('日本日本', '本', 2))", R"(INT64: 2)"},
      {R"(INSTR(b'banana', b'ana'))", R"(INT64: 2)"},
      {R"(INSTR(b'banana', b'ana', 1, 1))", R"(INT64: 2)"},
      {R"(INSTR(b'banana', b'ana', 1, 2))", R"(INT64: 4)"},
      {R"(INSTR(b'banana', b'ana', 2, 1))", R"(INT64: 2)"},
      {R"(INSTR(b'banana', b'ana', 3, 2))", R"(INT64: 0)"},
      {R"(INSTR(b'banana', b'ana', -1, 1))", R"(INT64: 4)"},
      {R"(INSTR(b'banana', b'ana', -1, 2))", R"(INT64: 2)"},
      {R"(INSTR(b'banana', b'ana', -3, 1))", R"(INT64: 4)"},
      {R"(INSTR(b'banana', b'ana', -6, 1))", R"(INT64: 0)"},
      {R"(INSTR(b'banana', b'ana', -7, 1))", R"(INT64: 0)"},
      {R"(INSTR(b'banana', b'ana', -8, 1))", R"(INT64: 0)"},
      {R"(INSTR(b'banana', b'ana', 7, 1))", R"(INT64: 0)"},
      {R"(INSTR(b'banana', b'ana', 8, 1))", R"(INT64: 0)"},
      {R"(INSTR(b'banana', b'ana', 1, 9))", R"(INT64: 0)"},
      {R"(INSTR(b'banana', b'ana', -2))", R"(INT64: 4)"},
      {R"(INSTR(b'banana', b'ana', 2))", R"(INT64: 2)"},
      {R"(INSTR(b'ab', b''))", R"(INT64: 1)"},
      {R"(INSTR(b'ab', b'', 1, 1))", R"(INT64: 1)"},
      {R"(INSTR(b'ab', b'', 1, 2))", R"(INT64: 2)"},
      {R"(INSTR(b'ab', b'', 2, 1))", R"(INT64: 2)"},
      {R"(INSTR(b'ab', b'', 3, 2))", R"(INT64: 0)"},
      {R"(INSTR(b'ab', b'', -1, 1))", R"(INT64: 3)"},
      {R"(INSTR(b'ab', b'', -1, 2))", R"(INT64: 2)"},
      {R"(INSTR(b'ab', b'', -3, 1))", R"(INT64: 1)"},
      {R"(INSTR(b'ab', b'', -6, 1))", R"(INT64: 0)"},
      {R"(INSTR(b'ab', b'', -7, 1))", R"(INT64: 0)"},
      {R"(INSTR(b'ab', b'', -8, 1))", R"(INT64: 0)"},
      {R"(INSTR(b'ab', b'', 7, 1))", R"(INT64: 0)"},
      {R"(INSTR(b'ab', b'', 8, 1))", R"(INT64: 0)"},
      {R"(INSTR(b'ab', b'', 1, 9))", R"(INT64: 0)"},
      {R"(INSTR(b'ab', b'', -2))", R"(INT64: 2)"},
      {R"(INSTR(b'ab', b'', 2))", R"(INT64: 2)"},
      {R"(INSTR('', ''))", R"(INT64: 1)"},
      {R"(INSTR('', '', 1, 1))", R"(INT64: 1)"},
      {R"(INSTR('', '', 1, 2))", R"(INT64: 0)"},
      {R"(INSTR('', '', 2, 1))", R"(INT64: 0)"},
      {R"(INSTR('', '', 3, 2))", R"(INT64: 0)"},
      {R"(INSTR('', '', -1, 1))", R"(INT64: 1)"},
      {R"(INSTR('', '', -1, 2))", R"(INT64: 0)"},
      {R"(INSTR('', '', -3, 1))", R"(INT64: 0)"},
      {R"(INSTR('', '', -6, 1))", R"(INT64: 0)"},
      {R"(INSTR('', '', -7, 1))", R"(INT64: 0)"},
      {R"(INSTR('', '', -8, 1))", R"(INT64: 0)"},
      {R"(INSTR('', '', 7, 1))", R"(INT64: 0)"},
      {R"(INSTR('', '', 8, 1))", R"(INT64: 0)"},
      {R"(INSTR('', '', 1, 9))", R"(INT64: 0)"},
      {R"(INSTR('', '', -2))", R"(INT64: 0)"},
      {R"(INSTR('', '', 2))", R"(INT64: 0)"},
      {R"(INSTR('', 'a'))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', 1, 1))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', 1, 2))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', 2, 1))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', 3, 2))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', -1, 1))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', -1, 2))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', -3, 1))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', -6, 1))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', -7, 1))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', -8, 1))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', 7, 1))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', 8, 1))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', 1, 9))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', -2))", R"(INT64: 0)"},
      {R"(INSTR('', 'a', 2))", R"(INT64: 0)"},
      {R"(INSTR('abc', 'b', 0))", R"(OUT_OF_RANGE: Position must be non-zero)"},
      {R"(INSTR('abc', 'b', 1, 0))", R"(OUT_OF_RANGE: Occurrence must be positive)"},
      {R"(INSTR('abc', 'b', 0, 0))", R"(OUT_OF_RANGE: Occurrence must be positive)"},
      {R"(INSTR('abc', 'b', 1, -1))", R"(OUT_OF_RANGE: Occurrence must be positive)"},
      {R"(INSTR(b'abc', b'b', 0))", R"(OUT_OF_RANGE: Position must be non-zero)"},
      {R"(INSTR('abc', 'b', 9223372036854775807))", R"(INT64: 0)"},
      {R"(INSTR('abc', 'b', -9223372036854775807))", R"(INT64: 0)"},
      {R"(INSTR('aaaa', 'aa', 1, 3))", R"(INT64: 3)"},
      {R"(INSTR('aaaa', 'aa', -1, 3))", R"(INT64: 1)"},
      {R"(INSTR('aaaa', 'aa', 1, 4))", R"(INT64: 0)"},
      {R"(INSTR('abc', CAST(NULL AS STRING)))", R"(INT64: NULL)"},
      // clang-format on
  });
}

TEST(StringSearch, Replace) {
  ExpectAll({
      // clang-format off
      {R"(REPLACE('apple pie', 'pie', 'cobbler'))", R"(STRING: "apple cobbler")"},
      {R"(REPLACE('abc', '', 'x'))", R"(STRING: "abc")"},
      {R"(REPLACE('aaa', 'aa', 'b'))", R"(STRING: "ba")"},
      {R"(REPLACE('aaa', 'a', ''))", R"(STRING: "")"},
      {R"(REPLACE('', 'a', 'b'))", R"(STRING: "")"},
      {R"(REPLACE('été', 'é', 'e'))", R"(STRING: "ete")"},
      {R"(REPLACE('x', 'x', '日本'))", R"(STRING: "日本")"},
      {R"(REPLACE(b'\xff\x00\xff', b'\xff', b'a'))", R"(BYTES: b"a\x00a")"},
      {R"(REPLACE(b'abc', b'', b'x'))", R"(BYTES: b"abc")"},
      {R"(REPLACE('abc', 'b', CAST(NULL AS STRING)))", R"(STRING: NULL)"},
      {R"(REPLACE('abab', 'ab', 'abab'))", R"(STRING: "abababab")"},
      // clang-format on
  });
}

TEST(StringSearch, Translate) {
  ExpectAll({
      // clang-format off
      {R"(TRANSLATE('This is a cookie', 'sco', 'zku'))", R"(STRING: "Thiz iz a kuukie")"},
      {R"(TRANSLATE('abc', 'abc', ''))", R"(STRING: "")"},
      {R"(TRANSLATE('abc', 'ab', 'x'))", R"(STRING: "xc")"},
      {R"(TRANSLATE('abc', '', 'xyz'))", R"(STRING: "abc")"},
      {R"(TRANSLATE('abc', 'a', 'xyz'))", R"(STRING: "xbc")"},
      {R"(TRANSLATE('été', 'é', 'E'))", R"(STRING: "EtE")"},
      {R"(TRANSLATE('aba', 'ab', 'ba'))", R"(STRING: "bab")"},
      {R"(TRANSLATE('abc', 'aa', 'x'))", R"(OUT_OF_RANGE: Duplicate character "a" in TRANSLATE source characters)"},
      {R"(TRANSLATE('abc', '""', 'x'))", R"(OUT_OF_RANGE: Duplicate character '"' in TRANSLATE source characters)"},
      {R"(TRANSLATE('abc', 'éé', 'x'))", R"(OUT_OF_RANGE: Duplicate character "é" in TRANSLATE source characters)"},
      {R"(TRANSLATE(b'abc', b'aa', b'x'))", R"(OUT_OF_RANGE: Duplicate byte 0x61 in TRANSLATE source bytes)"},
      {R"(TRANSLATE(b'\xff\x00', b'\xff', b'a'))", R"(BYTES: b"a\x00")"},
      {R"(TRANSLATE(b'abc', b'bc', b'x'))", R"(BYTES: b"ax")"},
      {R"(TRANSLATE(b'abc', b'', b''))", R"(BYTES: b"abc")"},
      {R"(TRANSLATE('x日x', '日x', 'é'))", R"(STRING: "é")"},
      {R"(TRANSLATE('abc', CAST(NULL AS STRING), 'a'))", R"(STRING: NULL)"},
      // clang-format on
  });
}

TEST(StringSearch, InstrBackwardsFindsWhatInstrForwardsFinds) {
  std::mt19937_64 random(4);
  for (int i = 0; i < 300; ++i) {
    const std::string text = RandomText(random, 12);
    std::string part = RandomText(random, 2);
    if (part.empty()) part = "a";
    // The positions of all occurrences, from the left.
    std::vector<int64_t> positions;
    for (int64_t occurrence = 1;; ++occurrence) {
      const absl::StatusOr<Value> found = CallFunction("INSTR", {text.c_str(), part.c_str(), 1, occurrence});
      ASSERT_TRUE(found.ok()) << found.status();
      if (found->datum().integer == 0) break;
      positions.push_back(found->datum().integer);
    }
    SCOPED_TRACE(text + " / " + part);
    for (size_t back = 1; back <= positions.size() + 1; ++back) {
      const int64_t expected = back <= positions.size() ? positions[positions.size() - back] : 0;
      EXPECT_EQ(Called("INSTR", {text.c_str(), part.c_str(), -1, static_cast<int64_t>(back)}),
                TextOf(Value::Int(expected)));
    }
  }
}

TEST(StringSearch, ALongSearchIsInterrupted) {
  TestCall call;
  call.facts.interrupted = [] { return absl::CancelledError("stop"); };
  const std::string text(20'000, 'a');
  const std::string part(4'000, 'a');
  EXPECT_EQ(Called("INSTR", {text.c_str(), part.c_str(), 1, 15'000}, call), "CANCELLED: stop");
  EXPECT_EQ(Called("INSTR", {text.c_str(), part.c_str(), -1, 15'000}, call), "CANCELLED: stop");
}

}  // namespace
}  // namespace sonde::sql
