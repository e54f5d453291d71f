#include "sql/syntax/lexer.h"

#include <gtest/gtest.h>

#include <string>

namespace sonde::sql {
namespace {

// Each token as a letter for its kind and its text; the error, if there is one.
std::string Cut(std::string_view text) {
  static constexpr std::string_view kLetters = "$nkifstyaox";
  std::string all;
  const Tokens tokens = CutIntoTokens(text);
  for (const Token& token : tokens.tokens) {
    if (!all.empty()) all += ' ';
    all += kLetters[static_cast<size_t>(token.kind)];
    all += ':';
    all += text.substr(token.offset, token.bytes);
  }
  return tokens.error.empty() ? all : all + tokens.error;
}

TEST(Lexer, CutsNamesKeywordsAndSymbols) {
  EXPECT_EQ(Cut(""), "$:");
  EXPECT_EQ(Cut("SELECT a FROM t_1"), "k:SELECT n:a k:FROM n:t_1 $:");
  EXPECT_EQ(Cut("select Offset, `from`, `a``b`"), "k:select k:Offset y:, n:`from` y:, n:`a` n:`b` $:");
  EXPECT_EQ(Cut("a|>b->c=>d@{e}||@f"), "n:a y:|> n:b y:-> n:c y:=> n:d y:@{ n:e y:} y:|| y:@ n:f $:");
  EXPECT_EQ(Cut("<<>><=>=<>!=<>"), "y:<< y:>> y:<= y:>= y:<> y:!= y:<> $:");
  EXPECT_EQ(Cut("!a $b % \\"), "o:! n:a o:$b o:% o:\\ $:");
}

TEST(Lexer, TakesAnyNameBehindADot) {
  EXPECT_EQ(Cut("t.select.1a.5e3.`x y`.*"), "n:t y:. n:select y:. n:1a y:. n:5e3 y:. n:`x y` y:. y:* $:");
  EXPECT_EQ(Cut("f(x).from [1].5 @all.1"),
            "n:f y:( n:x y:) y:. n:from y:[ i:1 y:] y:. n:5 y:@ k:all y:. n:1 $:");
  EXPECT_EQ(Cut("a .5, SELECT .5"), "n:a y:. n:5 y:, k:SELECT f:.5 $:");
}

TEST(Lexer, CutsNumbers) {
  EXPECT_EQ(Cut("0 12 0xFf 1.5 1. .5 1e5 1.E-5 1e+5"),
            "i:0 i:12 i:0xFf f:1.5 f:1. f:.5 f:1e5 f:1.E-5 f:1e+5 $:");
  EXPECT_EQ(Cut("10K 1e5x 1e+5x 0xg 1.a"), "i:10 a:K i:1 a:e5x f:1e+5 a:x i:0 a:xg f:1. n:a $:");
  EXPECT_EQ(Cut("1-2 1 .5"), "i:1 y:- i:2 i:1 f:.5 $:");
}

TEST(Lexer, CutsStringsAndBytes) {
  EXPECT_EQ(Cut(R"('a' "b" r'\' x' b'y' Rb"z" bR'z' br)"),
            R"(s:'a' s:"b" s:r'\' x' t:b'y' t:Rb"z" t:bR'z' n:br $:)");
  EXPECT_EQ(Cut("'''a'b\n''c''' \"\"\"\"\"\" ''"), "s:'''a'b\n''c''' s:\"\"\"\"\"\" s:'' $:");
  EXPECT_EQ(Cut(R"('a\'b' "\\")"), R"(s:'a\'b' s:"\\" $:)");
}

TEST(Lexer, LeavesCommentsAndSpaceOut) {
  EXPECT_EQ(Cut("a -- b\nc # d\r\ne /* f * / g */ h"), "n:a n:c n:e n:h $:");
  EXPECT_EQ(Cut("a\xC2\xA0\xE2\x80\x83\xE3\x80\x80"
                "b\t\v\f\r\nc"),
            "n:a n:b n:c $:");
  EXPECT_EQ(Cut("a /* b"), "n:a x:Syntax error: Unclosed comment");
}

TEST(Lexer, FindsPartnersOfParentheses) {
  const Tokens tokens = CutIntoTokens("(a (b) c))) (");
  EXPECT_EQ(tokens.tokens[0].partner, 6);
  EXPECT_EQ(tokens.tokens[2].partner, 4);
  EXPECT_EQ(tokens.tokens[9].partner, 0);
}

TEST(Lexer, EndsWithTheStatementOrItsLastComment) {
  EXPECT_EQ(CutIntoTokens("a  \n ").tokens.back().offset, 1);
  EXPECT_EQ(CutIntoTokens("a -- b\n ").tokens.back().offset, 8);
  EXPECT_EQ(CutIntoTokens("a /* b */ ").tokens.back().offset, 9);
}

}  // namespace
}  // namespace sonde::sql
