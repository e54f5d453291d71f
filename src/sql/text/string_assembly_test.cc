#include <gtest/gtest.h>

#include <random>
#include <string>

#include "sql/testing/function_calls.h"
#include "sql/testing/test_expression.h"
#include "sql/text/string_test_support.h"

namespace sonde::sql {
namespace {

// What GoogleSQL's reference implementation answers.
TEST(StringAssembly, Concat) {
  ExpectAll({
      // clang-format off
      {R"(CONCAT('a'))", R"(STRING: "a")"},
      {R"(CONCAT('a', 'b'))", R"(STRING: "ab")"},
      {R"(CONCAT('a', '', 'b'))", R"(STRING: "ab")"},
      {R"(CONCAT('é', '日', '😀'))", R"(STRING: "é日😀")"},
      {R"(CONCAT('a', CAST(NULL AS STRING), 'b'))", R"(STRING: NULL)"},
      {R"(CONCAT(b'a', b'\xff'))", R"(BYTES: b"a\xff")"},
      {R"(CONCAT(b''))", R"(BYTES: b"")"},
      {R"(CONCAT('a', 'b', 'c', 'd', 'e', 'f'))", R"(STRING: "abcdef")"},
      // clang-format on
  });
}

TEST(StringAssembly, Repeat) {
  ExpectAll({
      // clang-format off
      {R"(REPEAT('abc', 3))", R"(STRING: "abcabcabc")"},
      {R"(REPEAT('abc', 0))", R"(STRING: "")"},
      {R"(REPEAT('abc', -1))", R"(OUT_OF_RANGE: Second argument (repeat count) for REPEAT cannot be negative)"},
      {R"(REPEAT('', 9223372036854775807))", R"(STRING: "")"},
      {R"(REPEAT('', -1))", R"(OUT_OF_RANGE: Second argument (repeat count) for REPEAT cannot be negative)"},
      {R"(REPEAT('é', 4))", R"(STRING: "éééé")"},
      {R"(REPEAT(b'\xff', 3))", R"(BYTES: b"\xff\xff\xff")"},
      {R"(REPEAT(b'ab', 0))", R"(BYTES: b"")"},
      {R"(REPEAT('ab', 524289))", R"(OUT_OF_RANGE: Output of REPEAT exceeds max allowed output size of 1MB)"},
      {R"(REPEAT('abc', CAST(NULL AS INT64)))", R"(STRING: NULL)"},
      {R"(REPEAT('a', 9223372036854775807))", R"(OUT_OF_RANGE: Output of REPEAT exceeds max allowed output size of 1MB)"},
      {R"(REPEAT('abc', 1))", R"(STRING: "abc")"},
      // clang-format on
  });
}

TEST(StringAssembly, Lpad) {
  ExpectAll({
      // clang-format off
      {R"(LPAD('abc', 5))", R"(STRING: "  abc")"},
      {R"(LPAD('abc', 3))", R"(STRING: "abc")"},
      {R"(LPAD('abc', 2))", R"(STRING: "ab")"},
      {R"(LPAD('abc', 0))", R"(STRING: "")"},
      {R"(LPAD('abc', -1))", R"(OUT_OF_RANGE: Second argument (output size) for LPAD/RPAD cannot be negative)"},
      {R"(LPAD('abc', 8, 'def'))", R"(STRING: "defdeabc")"},
      {R"(LPAD('abc', 10, 'def'))", R"(STRING: "defdefdabc")"},
      {R"(LPAD('日本', 5, 'é😀'))", R"(STRING: "é😀é日本")"},
      {R"(LPAD('日本語', 2))", R"(STRING: "日本")"},
      {R"(LPAD('', 3, 'ab'))", R"(STRING: "aba")"},
      {R"(LPAD('abc', 5, ''))", R"(OUT_OF_RANGE: Third argument (pad pattern) for LPAD/RPAD cannot be empty)"},
      {R"(LPAD('abc', 2, ''))", R"(OUT_OF_RANGE: Third argument (pad pattern) for LPAD/RPAD cannot be empty)"},
      {R"(LPAD('abc', 2000000))", R"(OUT_OF_RANGE: Output of LPAD/RPAD exceeds max allowed output size of 1MB)"},
      {R"(LPAD(b'abc', 5))", R"(BYTES: b"  abc")"},
      {R"(LPAD(b'abc', 7, b'\xff\xfe'))", R"(BYTES: b"\xff\xfe\xff\xfeabc")"},
      {R"(LPAD(b'abc', 2))", R"(BYTES: b"ab")"},
      {R"(LPAD(b'abc', -1))", R"(OUT_OF_RANGE: Second argument (output size) for LPAD/RPAD cannot be negative)"},
      {R"(LPAD(b'abc', 5, b''))", R"(OUT_OF_RANGE: Third argument (pad pattern) for LPAD/RPAD cannot be empty)"},
      {R"(LPAD(b'abc', 1048577))", R"(OUT_OF_RANGE: Output of LPAD/RPAD exceeds max allowed output size of 1MB)"},
      {R"(LPAD('abc', CAST(NULL AS INT64)))", R"(STRING: NULL)"},
      {R"(LPAD('abc', 5, CAST(NULL AS STRING)))", R"(STRING: NULL)"},
      // clang-format on
  });
}

TEST(StringAssembly, Rpad) {
  ExpectAll({
      // clang-format off
      {R"(RPAD('abc', 5))", R"(STRING: "abc  ")"},
      {R"(RPAD('abc', 3))", R"(STRING: "abc")"},
      {R"(RPAD('abc', 2))", R"(STRING: "ab")"},
      {R"(RPAD('abc', 0))", R"(STRING: "")"},
      {R"(RPAD('abc', -1))", R"(OUT_OF_RANGE: Second argument (output size) for LPAD/RPAD cannot be negative)"},
      {R"(RPAD('abc', 8, 'def'))", R"(STRING: "abcdefde")"},
      {R"(RPAD('abc', 10, 'def'))", R"(STRING: "abcdefdefd")"},
      {R"(RPAD('日本', 5, 'é😀'))", R"(STRING: "日本é😀é")"},
      {R"(RPAD('日本語', 2))", R"(STRING: "日本")"},
      {R"(RPAD('', 3, 'ab'))", R"(STRING: "aba")"},
      {R"(RPAD('abc', 5, ''))", R"(OUT_OF_RANGE: Third argument (pad pattern) for LPAD/RPAD cannot be empty)"},
      {R"(RPAD('abc', 2, ''))", R"(OUT_OF_RANGE: Third argument (pad pattern) for LPAD/RPAD cannot be empty)"},
      {R"(RPAD('abc', 2000000))", R"(OUT_OF_RANGE: Output of LPAD/RPAD exceeds max allowed output size of 1MB)"},
      {R"(RPAD('é', 524289, 'é'))", R"(OUT_OF_RANGE: Output of LPAD/RPAD exceeds max allowed output size of 1MB)"},
      {R"(RPAD(b'abc', 5))", R"(BYTES: b"abc  ")"},
      {R"(RPAD(b'abc', 7, b'\xff\xfe'))", R"(BYTES: b"abc\xff\xfe\xff\xfe")"},
      {R"(RPAD(b'abc', 2))", R"(BYTES: b"ab")"},
      {R"(RPAD(b'abc', -1))", R"(OUT_OF_RANGE: Second argument (output size) for LPAD/RPAD cannot be negative)"},
      {R"(RPAD(b'abc', 5, b''))", R"(OUT_OF_RANGE: Third argument (pad pattern) for LPAD/RPAD cannot be empty)"},
      {R"(RPAD(b'abc', 1048577))", R"(OUT_OF_RANGE: Output of LPAD/RPAD exceeds max allowed output size of 1MB)"},
      {R"(RPAD('abc', CAST(NULL AS INT64)))", R"(STRING: NULL)"},
      {R"(RPAD('abc', 5, CAST(NULL AS STRING)))", R"(STRING: NULL)"},
      // clang-format on
  });
}

TEST(StringAssembly, Reverse) {
  ExpectAll({
      // clang-format off
      {R"(REVERSE(''))", R"(STRING: "")"},
      {R"(REVERSE('a'))", R"(STRING: "a")"},
      {R"(REVERSE('abc'))", R"(STRING: "cba")"},
      {R"(REVERSE('héllo'))", R"(STRING: "olléh")"},
      {R"(REVERSE('日本語'))", R"(STRING: "語本日")"},
      {R"(REVERSE('a😀b'))", R"(STRING: "b😀a")"},
      {R"(REVERSE(b'abc'))", R"(BYTES: b"cba")"},
      {R"(REVERSE(b'\xff\x00z'))", R"(BYTES: b"z\x00\xff")"},
      {R"(REVERSE(b''))", R"(BYTES: b"")"},
      {R"(REVERSE('0123456789abcdef'))", R"(STRING: "fedcba9876543210")"},
      {R"(REVERSE('e\u0301x'))", R"(STRING: "x́e")"},
      // clang-format on
  });
}

TEST(StringAssembly, ReverseOfReverseIsTheOriginal) {
  std::mt19937_64 random(3);
  for (int i = 0; i < 300; ++i) {
    const std::string text = RandomText(random, 40);
    const absl::StatusOr<Value> reversed = CallFunction("REVERSE", {text.c_str()});
    ASSERT_TRUE(reversed.ok()) << reversed.status();
    EXPECT_EQ(Called("REVERSE", {*reversed}), TextOf(Value::String(text)));
  }
}

TEST(StringAssembly, GivesAtMostOneMebibyte) {
  EXPECT_EQ(Called("REPEAT", {"ab", (1 << 19) + 1}),
            "OUT_OF_RANGE: Output of REPEAT exceeds max allowed output size of 1MB");
  EXPECT_EQ(Called("LPAD", {"é", (1 << 19) + 1, "é"}),
            "OUT_OF_RANGE: Output of LPAD/RPAD exceeds max allowed output size of 1MB");
}

TEST(StringAssembly, AsksBeforeALargeValueIsMade) {
  TestCall call;
  size_t asked_bytes = 0;
  call.facts.hold = [&](size_t bytes) {
    asked_bytes = bytes;
    return absl::ResourceExhaustedError("too much");
  };
  const std::string text(700'000, 'x');
  EXPECT_EQ(Called("CONCAT", {text.c_str(), text.c_str()}, call), "RESOURCE_EXHAUSTED: too much");
  EXPECT_EQ(asked_bytes, 1'400'000);
  call.is_safe = true;
  EXPECT_EQ(Called("CONCAT", {text.c_str(), text.c_str()}, call), "RESOURCE_EXHAUSTED: too much");
}

}  // namespace
}  // namespace sonde::sql
