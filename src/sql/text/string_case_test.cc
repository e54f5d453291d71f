#include <gtest/gtest.h>

#include "sql/testing/test_expression.h"

namespace sonde::sql {
namespace {

// What GoogleSQL's reference implementation answers.
TEST(StringCase, Upper) {
  ExpectAll({
      // clang-format off
      {R"(UPPER('abc XYZ 123'))", R"(STRING: "ABC XYZ 123")"},
      {R"(UPPER('Straße'))", R"(STRING: "STRASSE")"},
      {R"(UPPER('ŉ ǰ ΐ ﬁ ﬄ և'))", R"(STRING: "ʼN J̌ Ϊ́ FI FFL ԵՒ")"},
      {R"(UPPER('İI ıi'))", R"(STRING: "İI II")"},
      {R"(UPPER('ǅ ǆ Ǆ'))", R"(STRING: "Ǆ Ǆ Ǆ")"},
      {R"(UPPER('ΑΣ ΣΑΣ. Σ'))", R"(STRING: "ΑΣ ΣΑΣ. Σ")"},
      {R"(UPPER('ᾳ ᾼ ᾀ'))", R"(STRING: "ΑΙ ΑΙ ἈΙ")"},
      {R"(UPPER('ﬓ ẞ ß'))", R"(STRING: "ՄՆ ẞ SS")"},
      {R"(UPPER('日本'))", R"(STRING: "日本")"},
      {R"(UPPER(b'aBc\xe9'))", R"(BYTES: b"ABC\xe9")"},
      {R"(UPPER(''))", R"(STRING: "")"},
      {R"(UPPER('𐐀 𐐨'))", R"(STRING: "𐐀 𐐀")"},
      {R"(UPPER('ÿ Ÿ µ ſ K Å'))", R"(STRING: "Ÿ Ÿ Μ S K Å")"},
      // clang-format on
  });
}

TEST(StringCase, Lower) {
  ExpectAll({
      // clang-format off
      {R"(LOWER('abc XYZ 123'))", R"(STRING: "abc xyz 123")"},
      {R"(LOWER('Straße'))", R"(STRING: "straße")"},
      {R"(LOWER('ŉ ǰ ΐ ﬁ ﬄ և'))", R"(STRING: "ŉ ǰ ΐ ﬁ ﬄ և")"},
      {R"(LOWER('İI ıi'))", R"(STRING: "i̇i ıi")"},
      {R"(LOWER('ǅ ǆ Ǆ'))", R"(STRING: "ǆ ǆ ǆ")"},
      {R"(LOWER('ΑΣ ΣΑΣ. Σ'))", R"(STRING: "ας σας. σ")"},
      {R"(LOWER('ᾳ ᾼ ᾀ'))", R"(STRING: "ᾳ ᾳ ᾀ")"},
      {R"(LOWER('ﬓ ẞ ß'))", R"(STRING: "ﬓ ß ß")"},
      {R"(LOWER('日本'))", R"(STRING: "日本")"},
      {R"(LOWER(b'aBc\xe9'))", R"(BYTES: b"abc\xe9")"},
      {R"(LOWER(''))", R"(STRING: "")"},
      {R"(LOWER('𐐀 𐐨'))", R"(STRING: "𐐨 𐐨")"},
      {R"(LOWER('ÿ Ÿ µ ſ K Å'))", R"(STRING: "ÿ ÿ µ ſ k å")"},
      {R"(LOWER('ΑΣΑ'))", R"(STRING: "ασα")"},
      {R"(LOWER('Σ'))", R"(STRING: "σ")"},
      {R"(LOWER("ΑΣ'Α"))", R"(STRING: "ασ'α")"},
      {R"(LOWER("ΑΣ' Α"))", R"(STRING: "ας' α")"},
      {R"(LOWER('Α.Σ'))", R"(STRING: "α.ς")"},
      {R"(LOWER('.Σ'))", R"(STRING: ".σ")"},
      {R"(LOWER('ΑΣ́'))", R"(STRING: "ας́")"},
      {R"(LOWER('ΑΣ́Α'))", R"(STRING: "ασ́α")"},
      {R"(LOWER('1Σ'))", R"(STRING: "1σ")"},
      {R"(LOWER('ªΣ'))", R"(STRING: "ªς")"},
      {R"(LOWER('ʰΣ'))", R"(STRING: "ʰσ")"},
      {R"(LOWER('AʰΣ'))", R"(STRING: "aʰς")"},
      {R"(LOWER('AΣ^B'))", R"(STRING: "aσ^b")"},
      {R"(LOWER('AΣ_B'))", R"(STRING: "aς_b")"},
      {R"(LOWER('AΣ:B'))", R"(STRING: "aσ:b")"},
      {R"(LOWER('AΣ-B'))", R"(STRING: "aς-b")"},
      {R"(LOWER('AΣ\u00adB'))", R"(STRING: "aσ­b")"},
      {R"(LOWER('ⓐΣ'))", R"(STRING: "ⓐς")"},
      {R"(LOWER('ⅷΣ'))", R"(STRING: "ⅷς")"},
      // clang-format on
  });
}

TEST(StringCase, Initcap) {
  ExpectAll({
      // clang-format off
      {R"(INITCAP('hello WORLD-everyone!'))", R"(STRING: "Hello World-Everyone!")"},
      {R"(INITCAP('a b', ' '))", R"(STRING: "A B")"},
      {R"(INITCAP('hello', ''))", R"(STRING: "Hello")"},
      {R"(INITCAP('abcl', 'bc'))", R"(STRING: "AbcL")"},
      {R"(INITCAP('ΑΣ ΣΑΣ'))", R"(STRING: "Ασ Σασ")"},
      {R"(INITCAP('ǆ ß ﬀa İi'))", R"(STRING: "Ǆ ß ﬀa İi")"},
      {R"(INITCAP('o\'neil foo_bar x\u3000yz'))", R"(STRING: "O'neil Foo_Bar X　Yz")"},
      {R"(INITCAP(''))", R"(STRING: "")"},
      {R"(INITCAP('1a 2B'))", R"(STRING: "1a 2b")"},
      {R"(INITCAP('été ÉTÉ'))", R"(STRING: "Été Été")"},
      {R"(INITCAP('aéb', 'é'))", R"(STRING: "AéB")"},
      {R"(INITCAP('abc', CAST(NULL AS STRING)))", R"(STRING: NULL)"},
      {R"(INITCAP('a.b/c|d\\e<f>g!h?i@j"k#l$m&n~o,p:q;r*s%t+u-v^w(x)y{z}'))", R"(STRING: "A.B/C|D\\E<F>G!H?I@J\"K#L$M&N~O,P:Q;R*S%T+U-V^W(X)Y{Z}")"},
      // clang-format on
  });
}

TEST(StringCase, Normalize) {
  ExpectAll({
      // clang-format off
      {R"(NORMALIZE('\u00ea'))", R"(STRING: "ê")"},
      {R"(NORMALIZE('\u00ea', NFD))", R"(STRING: "ê")"},
      {R"(NORMALIZE('e\u0302\u0323'))", R"(STRING: "ệ")"},
      {R"(NORMALIZE('e\u0302\u0323', NFD))", R"(STRING: "ệ")"},
      {R"(NORMALIZE('\u1e9b\u0323', NFC))", R"(STRING: "ẛ̣")"},
      {R"(NORMALIZE('\u1e9b\u0323', NFD))", R"(STRING: "ẛ̣")"},
      {R"(NORMALIZE('\uac00\u11a8'))", R"(STRING: "각")"},
      {R"(NORMALIZE('한글', NFD))", R"(STRING: "한글")"},
      {R"(NORMALIZE('abc', NFC))", R"(STRING: "abc")"},
      {R"(NORMALIZE(''))", R"(STRING: "")"},
      {R"(NORMALIZE('\u0958'))", R"(STRING: "क़")"},
      {R"(NORMALIZE('\u212b'))", R"(STRING: "Å")"},
      {R"(NORMALIZE('\u0344'))", R"(STRING: "̈́")"},
      {R"(NORMALIZE('a\u0315\u0300\u05ae\u0300b', NFD))", R"(STRING: "à֮̀̕b")"},
      {R"(NORMALIZE('a\u0315\u0300\u05ae\u0300b'))", R"(STRING: "à֮̀̕b")"},
      {R"(NORMALIZE(CAST(NULL AS STRING)))", R"(STRING: NULL)"},
      // clang-format on
  });
}

TEST(StringCase, NormalizeAndCasefold) {
  ExpectAll({
      // clang-format off
      {R"(NORMALIZE_AND_CASEFOLD('The red barn'))", R"(STRING: "the red barn")"},
      {R"(NORMALIZE_AND_CASEFOLD('Straße İ ŉ'))", R"(STRING: "strasse i̇ ʼn")"},
      {R"(NORMALIZE_AND_CASEFOLD('ΑΣ ς'))", R"(STRING: "ασ σ")"},
      {R"(NORMALIZE_AND_CASEFOLD('\u1F80\u0345', NFD))", R"(STRING: "ἀιι")"},
      {R"(NORMALIZE_AND_CASEFOLD('ﬁ', NFC))", R"(STRING: "fi")"},
      {R"(NORMALIZE_AND_CASEFOLD(''))", R"(STRING: "")"},
      {R"(NORMALIZE_AND_CASEFOLD('Kelvin \u212a'))", R"(STRING: "kelvin k")"},
      {R"(NORMALIZE_AND_CASEFOLD('ᏸ Ꭰ'))", R"(STRING: "Ᏸ Ꭰ")"},
      // clang-format on
  });
}

TEST(StringCase, HasOtherNames) {
  EXPECT_EQ(Evaluated("UCASE('Straße')"), Evaluated("UPPER('Straße')"));
  EXPECT_EQ(Evaluated("LCASE(b'aBc')"), "BYTES: b\"abc\"");
}

}  // namespace
}  // namespace sonde::sql
