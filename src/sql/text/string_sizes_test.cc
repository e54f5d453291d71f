#include <gtest/gtest.h>

#include "sql/testing/test_expression.h"

namespace sonde::sql {
namespace {

// What GoogleSQL's reference implementation answers.
TEST(StringSizes, ByteLength) {
  ExpectAll({
      // clang-format off
      {R"(BYTE_LENGTH(''))", R"(INT64: 0)"},
      {R"(BYTE_LENGTH('a'))", R"(INT64: 1)"},
      {R"(BYTE_LENGTH('abc'))", R"(INT64: 3)"},
      {R"(BYTE_LENGTH('héllo'))", R"(INT64: 6)"},
      {R"(BYTE_LENGTH('日本語'))", R"(INT64: 9)"},
      {R"(BYTE_LENGTH('a😀b'))", R"(INT64: 6)"},
      {R"(BYTE_LENGTH(b'abc'))", R"(INT64: 3)"},
      {R"(BYTE_LENGTH(b'\xff\x00z'))", R"(INT64: 3)"},
      {R"(BYTE_LENGTH(b''))", R"(INT64: 0)"},
      // clang-format on
  });
}

TEST(StringSizes, OctetLength) {
  ExpectAll({
      // clang-format off
      {R"(OCTET_LENGTH('héllo'))", R"(INT64: 6)"},
      {R"(OCTET_LENGTH(b'abc'))", R"(INT64: 3)"},
      // clang-format on
  });
}

TEST(StringSizes, Length) {
  ExpectAll({
      // clang-format off
      {R"(LENGTH(''))", R"(INT64: 0)"},
      {R"(LENGTH('a'))", R"(INT64: 1)"},
      {R"(LENGTH('abc'))", R"(INT64: 3)"},
      {R"(LENGTH('héllo'))", R"(INT64: 5)"},
      {R"(LENGTH('日本語'))", R"(INT64: 3)"},
      {R"(LENGTH('a😀b'))", R"(INT64: 3)"},
      {R"(LENGTH(b'abc'))", R"(INT64: 3)"},
      {R"(LENGTH(b'\xff\x00z'))", R"(INT64: 3)"},
      {R"(LENGTH(b''))", R"(INT64: 0)"},
      {R"(LENGTH(CAST(NULL AS STRING)))", R"(INT64: NULL)"},
      {R"(LENGTH('0123456789abcdefé0123456789'))", R"(INT64: 27)"},
      // clang-format on
  });
}

TEST(StringSizes, CharLength) {
  ExpectAll({
      // clang-format off
      {R"(CHAR_LENGTH(''))", R"(INT64: 0)"},
      {R"(CHAR_LENGTH('a'))", R"(INT64: 1)"},
      {R"(CHAR_LENGTH('abc'))", R"(INT64: 3)"},
      {R"(CHAR_LENGTH('héllo'))", R"(INT64: 5)"},
      {R"(CHAR_LENGTH('日本語'))", R"(INT64: 3)"},
      {R"(CHAR_LENGTH('a😀b'))", R"(INT64: 3)"},
      // clang-format on
  });
}

TEST(StringSizes, CharacterLength) {
  ExpectAll({
      // clang-format off
      {R"(CHARACTER_LENGTH('héllo'))", R"(INT64: 5)"},
      // clang-format on
  });
}

TEST(StringSizes, Ascii) {
  ExpectAll({
      // clang-format off
      {R"(ASCII(''))", R"(INT64: 0)"},
      {R"(ASCII('a'))", R"(INT64: 97)"},
      {R"(ASCII('abc'))", R"(INT64: 97)"},
      {R"(ASCII('héllo'))", R"(INT64: 104)"},
      {R"(ASCII('日本語'))", R"(OUT_OF_RANGE: Argument to ASCII is not a structurally valid ASCII string: '日本語')"},
      {R"(ASCII('a😀b'))", R"(INT64: 97)"},
      {R"(ASCII(b'abc'))", R"(INT64: 97)"},
      {R"(ASCII(b'\xff\x00z'))", R"(INT64: 255)"},
      {R"(ASCII(b''))", R"(INT64: 0)"},
      {R"(ASCII(CAST(NULL AS BYTES)))", R"(INT64: NULL)"},
      {R"(ASCII('\u007f'))", R"(INT64: 127)"},
      {R"(ASCII(b'\xff'))", R"(INT64: 255)"},
      // clang-format on
  });
}

TEST(StringSizes, Unicode) {
  ExpectAll({
      // clang-format off
      {R"(UNICODE(''))", R"(INT64: 0)"},
      {R"(UNICODE('a'))", R"(INT64: 97)"},
      {R"(UNICODE('abc'))", R"(INT64: 97)"},
      {R"(UNICODE('héllo'))", R"(INT64: 104)"},
      {R"(UNICODE('日本語'))", R"(INT64: 26085)"},
      {R"(UNICODE('a😀b'))", R"(INT64: 97)"},
      {R"(UNICODE('\U0010ffff'))", R"(INT64: 1114111)"},
      // clang-format on
  });
}

TEST(StringSizes, Soundex) {
  ExpectAll({
      // clang-format off
      {R"(SOUNDEX(''))", R"(STRING: "")"},
      {R"(SOUNDEX('a'))", R"(STRING: "a000")"},
      {R"(SOUNDEX('abc'))", R"(STRING: "a120")"},
      {R"(SOUNDEX('héllo'))", R"(STRING: "h400")"},
      {R"(SOUNDEX('日本語'))", R"(STRING: "")"},
      {R"(SOUNDEX('a😀b'))", R"(STRING: "a100")"},
      {R"(SOUNDEX('Ashcraft'))", R"(STRING: "A261")"},
      {R"(SOUNDEX('Robert'))", R"(STRING: "R163")"},
      {R"(SOUNDEX('Rupert'))", R"(STRING: "R163")"},
      {R"(SOUNDEX('tymczak'))", R"(STRING: "t520")"},
      {R"(SOUNDEX('Pfister'))", R"(STRING: "P236")"},
      {R"(SOUNDEX('Honeyman'))", R"(STRING: "H500")"},
      {R"(SOUNDEX('1é-'))", R"(STRING: "")"},
      {R"(SOUNDEX('a'))", R"(STRING: "a000")"},
      {R"(SOUNDEX('É bb'))", R"(STRING: "b000")"},
      {R"(SOUNDEX('BbVvPf'))", R"(STRING: "B000")"},
      {R"(SOUNDEX('lloyd x'))", R"(STRING: "l320")"},
      // clang-format on
  });
}

}  // namespace
}  // namespace sonde::sql
