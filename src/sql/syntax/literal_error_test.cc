// Messages of refused statements, which GoogleSQL's reference implementation gave word for word.
#include <gtest/gtest.h>

#include "sql/syntax/syntax_test_support.h"

namespace sonde::sql::syntax_test {
namespace {

TEST(LiteralErrors, NameTheEscapeOrTheQuote) {
  ExpectErrors({
      {"SELECT 1 FROM t WHERE x y", "Syntax error: Expected end of input but got identifier \"y\" [at 1:25]"},
      {"SELECT 1 FROM t x y", "Syntax error: Expected end of input but got identifier \"y\" [at 1:19]"},
      {"SELECT 1 FROM t GROUP x",
       "Syntax error: Expected @ for hint or keyword BY but got identifier \"x\" [at 1:23]"},
      {"SELECT 1 FROM t ORDER BY x y",
       "Syntax error: Expected end of input but got identifier \"y\" [at 1:28]"},
      {"SELECT 'a", "Syntax error: Unclosed string literal [at 1:8]"},
      {"SELECT \"a", "Syntax error: Unclosed string literal [at 1:8]"},
      {"SELECT '''a", "Syntax error: Unclosed triple-quoted string literal [at 1:8]"},
      {"SELECT \"\"\"a", "Syntax error: Unclosed triple-quoted string literal [at 1:8]"},
      {"SELECT b'a", "Syntax error: Unclosed bytes literal [at 1:8]"},
      {"SELECT rb'''a", "Syntax error: Unclosed triple-quoted raw bytes literal [at 1:8]"},
      {"SELECT r'a", "Syntax error: Unclosed raw string literal [at 1:8]"},
      {"SELECT `a", "Syntax error: Unclosed identifier literal [at 1:8]"},
      {"SELECT ``", "Syntax error: Invalid empty identifier [at 1:8]"},
      {"SELECT `a\\q`", "Syntax error: Illegal escape sequence: \\q [at 1:10]"},
      {"SELECT '\\q'", "Syntax error: Illegal escape sequence: \\q [at 1:9]"},
      {"SELECT 'abc\\q'", "Syntax error: Illegal escape sequence: \\q [at 1:12]"},
      {"SELECT '\\x1'",
       "Syntax error: Illegal escape sequence: Hex escape must be followed by 2 hex digits but saw: \\x1 [at "
       "1:9]"},
      {"SELECT '\\xg1'",
       "Syntax error: Illegal escape sequence: Hex escape must be followed by 2 hex digits but saw: \\xg1 "
       "[at 1:9]"},
      {"SELECT '\\12'",
       "Syntax error: Illegal escape sequence: Octal escape must be followed by 3 octal digits but saw: \\12 "
       "[at 1:9]"},
      {"SELECT '\\400'", "Syntax error: Illegal escape sequence: \\4 [at 1:9]"},
      {"SELECT '\\u12'",
       "Syntax error: Illegal escape sequence: \\u must be followed by 4 hex digits but saw: \\u12 [at 1:9]"},
      {"SELECT '\\ud800'",
       "Syntax error: Illegal escape sequence: Unicode value \\ud800 is invalid [at 1:9]"},
      {"SELECT '\\U00110000'",
       "Syntax error: Illegal escape sequence: Value of \\U00110000 exceeds Unicode limit (0x0010FFFF) [at "
       "1:9]"},
      {"SELECT b'\\u1234'",
       "Syntax error: Illegal escape sequence: Unicode escape sequence \\u cannot be used in bytes literals "
       "[at 1:10]"},
      {"SELECT r'\\'", "Syntax error: Unclosed raw string literal [at 1:8]"},
      {"SELECT 1 /* c", "Syntax error: Unclosed comment [at 1:10]"},
      {"SELECT 'a''b'",
       "Syntax error: concatenated string literals must be separated by whitespace or comments [at 1:11]"},
      {"SELECT 'a' b'b'", "Syntax error: string and bytes literals cannot be concatenated. [at 1:12]"},
      {"SELECT 'a\nb'", "Syntax error: Unclosed string literal [at 1:8]"},
      {"SELECT 'a\\\nb'", "Syntax error: Illegal escaped newline [at 1:10]"},
      {"SELECT '''a\\\nb'''", "Syntax error: Illegal escaped newline [at 1:12]"},
      {"SELECT `a\nb`", "Syntax error: Unclosed identifier literal [at 1:8]"},
      {"SELECT '\\", "Syntax error: Unclosed string literal [at 1:8]"},
  });
}

TEST(LiteralErrors, NameTheCharacter) {
  ExpectErrors({
      {"SELECT 1 FROM t WHERE", "Syntax error: Unexpected end of statement [at 1:22]"},
      {"SELECT 1 FROM t JOIN", "Syntax error: Unexpected end of statement [at 1:21]"},
      {"SELECT 1 FROM t GROUP BY", "Syntax error: Unexpected end of statement [at 1:25]"},
      {"SELECT 1 FROM t ORDER",
       "Syntax error: Expected @ for hint or keyword BY but got end of statement [at 1:22]"},
      {"SELECT 1 FROM t ORDER BY x NULLS",
       "Syntax error: Expected keyword FIRST or keyword LAST but got end of statement [at 1:33]"},
      {"SELECT 1 FROM t LIMIT", "Syntax error: Unexpected end of statement [at 1:22]"},
      {"SELECT 1 FROM t LIMIT 1 OFFSET", "Syntax error: Unexpected end of statement [at 1:31]"},
      {"SELECT 1 UNION",
       "Syntax error: Expected keyword ALL or keyword DISTINCT but got end of statement [at 1:15]"},
      {"SELECT 1 UNION ALL",
       "Syntax error: Expected \"(\" or keyword SELECT or keyword TABLE but got end of statement [at 1:19]"},
      {"SELECT 1 UNION SELECT 2",
       "Syntax error: Expected keyword ALL or keyword DISTINCT but got keyword SELECT [at 1:16]"},
      {"SELECT 1 EXCEPT SELECT 2", "EXCEPT must be followed by ALL, DISTINCT, or \"(\" [at 1:10]"},
      {"SELECT 1 UNION ALL FROM t",
       "Syntax error: Unexpected FROM; FROM queries following a set operation must be parenthesized [at "
       "1:20]"},
      {"SELECT 1;;", "Syntax error: Expected end of input but got \";\" [at 1:10]"},
      {"SELECT 1; SELECT 2", "Syntax error: Expected end of input but got keyword SELECT [at 1:11]"},
      {"SELECT ä", "Syntax error: Illegal input character \"\\303\" [at 1:8]"},
      {"SELECT $a", "Syntax error: Unexpected \"$a\" [at 1:8]"},
      {"SELECT 0x", "Syntax error: Missing whitespace between literal and alias [at 1:9]"},
      {"SELECT 0xg", "Syntax error: Missing whitespace between literal and alias [at 1:9]"},
      {"SELECT 12abc", "Syntax error: Missing whitespace between literal and alias [at 1:10]"},
      {"SELECT 1.5e", "Syntax error: Missing whitespace between literal and alias [at 1:11]"},
      {"SELECT 1.5e+", "Syntax error: Missing whitespace between literal and alias [at 1:11]"},
      {"/* c */", "Syntax error: Unexpected end of statement [at 1:8]"},
      {"-- c", "Syntax error: Unexpected end of statement [at 1:5]"},
      {"SELECT 1 FROM my - table", "Syntax error: Unexpected \"-\" [at 1:18]"},
      {"SELECT 1 FROM `my`-table", "Syntax error: Unexpected \"-\" [at 1:19]"},
      {"SELECT @", "Syntax error: Unexpected end of statement [at 1:9]"},
      {"SELECT 1 FROM @t", "Query parameters cannot be used in place of table names [at 1:15]"},
      {"SELECT 1.upper()", "Syntax error: Expected end of input but got \"(\" [at 1:15]"},
      {"SELECT 1(2)",
       "Syntax error: Function call cannot be applied to this expression. Function calls require a path, "
       "e.g. a.b.c() [at 1:9]"},
      {"SELECT --x", "Syntax error: Unexpected end of statement [at 1:11]"},
      {"SELECT 1,,2", "Syntax error: Expected end of input but got \",\" [at 1:10]"},
      {"SELECT a FROM t -- c\n WHERE", "Syntax error: Unexpected end of statement [at 2:7]"},
      {"SELECT a FROM t WHERE -- c\n  ", "Syntax error: Unexpected end of statement [at 2:3]"},
      {"SELECT a FROM t WHERE /* c */  \n", "Syntax error: Unexpected end of statement [at 1:30]"},
      {"SELECT 1 +\r FROM", "Syntax error: Unexpected keyword FROM [at 2:2]"},
      {"SELECT 1 +\r\n FROM", "Syntax error: Unexpected keyword FROM [at 2:2]"},
      {"SELECT 'é' +\tFROM", "Syntax error: Unexpected keyword FROM [at 1:17]"},
      {std::string_view("SELECT \000", 8), "Syntax error: Illegal input character \"\\000\" [at 1:8]"},
      {"SELECT  ", "Syntax error: Unexpected end of statement [at 1:7]"},
      {"SELECT 1 .5", "Syntax error: Expected end of input but got floating point literal \".5\" [at 1:10]"},
      {"SELECT END.5", "Syntax error: Unexpected keyword END [at 1:8]"},
      {"SELECT $", "Syntax error: Unexpected \"$\" [at 1:8]"},
      {"SELECT \\", "Syntax error: Unexpected \"\\\" [at 1:8]"},
      {"SELECT 1 : 2", "Syntax error: Expected end of input but got \":\" [at 1:10]"},
      {"SELECT 1 += 2", "Syntax error: Expected end of input but got \"+=\" [at 1:10]"},
      {"SELECT "
       "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
       "a' + 1 'b' b "
       "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
       "aaaaaaaaaaaaaaaaaaaaaaaaaa'",
       "Syntax error: Expected end of input but got string literal 'b' [at 1:116]"},
      {"SELECT 1 FROM t "
       "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
       "aaaaaaaaaaaaaaaaaaaaaaaaaa'",
       "Syntax error: Expected end of input but got string literal "
       "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa...' [at 1:17]"},
      {"SELECT 2.2E-10m", "Syntax error: Missing whitespace between literal and alias [at 1:15]"},
      {"SELECT 2E10m", "Syntax error: Missing whitespace between literal and alias [at 1:9]"},
      {"SELECT 1 FROM t WINDOW", "Syntax error: Unexpected end of statement [at 1:23]"},
      {"SELECT 1 FROM t WINDOW w", "Syntax error: Expected keyword AS but got end of statement [at 1:25]"},
      {"SELECT 1 FROM t WINDOW w AS", "Syntax error: Unexpected end of statement [at 1:28]"},
      {"SELECT 1 FROM t AS x @{a=1}", "Syntax error: Expected end of input but got \"@\" [at 1:22]"},
      {"SELECT .x", "Syntax error: Unexpected \".\" [at 1:8]"},
      {"SELECT 1 UNION ALL (SELECT 2", "Syntax error: Expected \")\" but got end of statement [at 1:29]"},
      {"SELECT 1 INTERSECT",
       "Syntax error: Expected keyword ALL or keyword DISTINCT but got end of statement [at 1:19]"},
      {"SELECT 1 INTERSECT SELECT 2",
       "Syntax error: Expected keyword ALL or keyword DISTINCT but got keyword SELECT [at 1:20]"},
      {"SELECT 1 EXCEPT DISTINCT",
       "Syntax error: Expected \"(\" or keyword SELECT or keyword TABLE but got end of statement [at 1:25]"},
      {"SELECT 1 EXCEPT (SELECT 2)", "Syntax error: Expected end of input but got keyword EXCEPT [at 1:10]"},
      {"SELECT 1 ORDER BY 1 UNION ALL SELECT 2",
       "Syntax error: Expected end of input but got keyword UNION [at 1:21]"},
      {"SELECT 1 LIMIT 1 UNION ALL SELECT 2",
       "Syntax error: Expected end of input but got keyword UNION [at 1:18]"},
  });
}

}  // namespace
}  // namespace sonde::sql::syntax_test
