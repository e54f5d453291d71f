// Messages of refused statements, which GoogleSQL's reference implementation gave word for word.
#include <gtest/gtest.h>

#include "sql/syntax/syntax_test_support.h"

namespace sonde::sql::syntax_test {
namespace {

TEST(QueryErrors, OfPipes) {
  ExpectErrors({
      {"FROM", "Syntax error: Unexpected end of statement [at 1:5]"},
      {"FROM t |>", "Syntax error: Expected keyword JOIN but got end of statement [at 1:10]"},
      {"FROM t |> x", "Syntax error: Expected keyword JOIN but got identifier \"x\" [at 1:11]"},
      {"FROM t |> WHERE", "Syntax error: Unexpected end of statement [at 1:16]"},
      {"FROM t |> SELECT", "Syntax error: Unexpected end of statement [at 1:17]"},
      {"FROM t |> AGGREGATE COUNT(*) GROUP x", "Syntax error: Unexpected identifier \"x\" [at 1:36]"},
      {"FROM t |> DROP", "Syntax error: Unexpected end of statement [at 1:15]"},
      {"FROM t |> DROP a.b",
       "Syntax error: Pipe DROP can only drop columns by name alone; Dropping columns under table aliases or "
       "fields under paths is not supported [at 1:16]"},
      {"FROM t |> SET a", "Syntax error: Expected \".\" or \"=\" but got end of statement [at 1:16]"},
      {"FROM t |> SET a.b = 1",
       "Syntax error: Pipe SET can only update columns by column name alone; Setting columns under table "
       "aliases or fields under paths is not supported [at 1:15]"},
      {"FROM t |> RENAME a", "Syntax error: Unexpected end of statement [at 1:19]"},
      {"FROM t |> AS", "Syntax error: Unexpected end of statement [at 1:13]"},
      {"FROM t |> LIMIT", "Syntax error: Unexpected end of statement [at 1:16]"},
      {"FROM t |> JOIN", "Syntax error: Unexpected end of statement [at 1:15]"},
      {"FROM t |> CALL f", "Syntax error: Expected \"(\" or \".\" but got end of statement [at 1:17]"},
      {"FROM t |> CALL", "Syntax error: Unexpected end of statement [at 1:15]"},
      {"FROM t |> GROUP BY x",
       "Syntax error: GROUP BY should be part of a pipe AGGREGATE operator, without a leading pipe symbol "
       "[at 1:11]"},
      {"FROM t |> UNION ALL", "Syntax error: Expected \"(\" but got end of statement [at 1:20]"},
      {"FROM t |> UNION ALL SELECT 1", "Syntax error: Expected \"(\" but got keyword SELECT [at 1:21]"},
      {"FROM t ORDER BY x",
       "Syntax error: ORDER BY not supported after FROM query; Consider using pipe operator `|> ORDER BY` or "
       "parentheses around the FROM query [at 1:8]"},
      {"FROM t LIMIT 1",
       "Syntax error: LIMIT not supported after FROM query; Consider using pipe operator `|> LIMIT` or "
       "parentheses around the FROM query [at 1:8]"},
      {"FROM t GROUP BY x",
       "Syntax error: GROUP BY not supported after FROM query; Consider using pipe operator `|> AGGREGATE` "
       "[at 1:8]"},
      {"FROM t HAVING x", "Syntax error: Expected end of input but got keyword HAVING [at 1:8]"},
      {"FROM t UNION ALL SELECT 1",
       "Syntax error: UNION not supported after FROM query; Consider using pipe operator `|> UNION` or "
       "parentheses around the FROM query [at 1:8]"},
      {"FROM t |> WHERE x |>", "Syntax error: Expected keyword JOIN but got end of statement [at 1:21]"},
      {"FROM t |> EXTEND", "Syntax error: Unexpected end of statement [at 1:17]"},
      {"FROM t |> EXTEND a AS", "Syntax error: Unexpected end of statement [at 1:22]"},
      {"FROM t |> SET", "Syntax error: Unexpected end of statement [at 1:14]"},
      {"FROM t |> SET a =", "Syntax error: Unexpected end of statement [at 1:18]"},
      {"FROM t |> SET a = 1, b", "Syntax error: Expected \".\" or \"=\" but got end of statement [at 1:23]"},
      {"FROM t |> RENAME a AS", "Syntax error: Unexpected end of statement [at 1:22]"},
      {"FROM t |> RENAME a b c", "Syntax error: Expected end of input but got identifier \"c\" [at 1:22]"},
      {"FROM t |> DROP a b", "Syntax error: Expected end of input but got identifier \"b\" [at 1:18]"},
      {"FROM t |> AGGREGATE COUNT(*) AS", "Syntax error: Unexpected end of statement [at 1:32]"},
      {"FROM t |> AGGREGATE COUNT(*) GROUP", "Syntax error: Unexpected end of statement [at 1:35]"},
      {"FROM t |> AGGREGATE COUNT(*) GROUP BY", "Syntax error: Unexpected end of statement [at 1:38]"},
      {"FROM t |> AGGREGATE COUNT(*) GROUP AND",
       "Syntax error: Expected keyword ORDER but got end of statement [at 1:39]"},
      {"FROM t |> AGGREGATE COUNT(*) GROUP AND ORDER",
       "Syntax error: Expected keyword BY but got end of statement [at 1:45]"},
      {"FROM t |> AGGREGATE COUNT(*) GROUP AND ORDER BY",
       "Syntax error: Unexpected end of statement [at 1:48]"},
      {"FROM t |> ORDER",
       "Syntax error: Expected @ for hint or keyword BY but got end of statement [at 1:16]"},
      {"FROM t |> ORDER BY", "Syntax error: Unexpected end of statement [at 1:19]"},
      {"FROM t |> LIMIT 1 OFFSET", "Syntax error: Unexpected end of statement [at 1:25]"},
      {"FROM t |> DISTINCT x", "Syntax error: Expected end of input but got identifier \"x\" [at 1:20]"},
      {"FROM t |> AS x y", "Syntax error: Expected end of input but got identifier \"y\" [at 1:16]"},
      {"FROM t |> CALL f(", "Syntax error: Expected \")\" but got end of statement [at 1:18]"},
      {"FROM t |> UNION",
       "Syntax error: Expected keyword ALL or keyword DISTINCT but got end of statement [at 1:16]"},
      {"FROM t |> UNION ALL (SELECT 1", "Syntax error: Expected \")\" but got end of statement [at 1:30]"},
      {"FROM t |> LEFT", "Syntax error: Expected keyword JOIN but got end of statement [at 1:15]"},
      {"FROM t |> CROSS", "Syntax error: Expected keyword JOIN but got end of statement [at 1:16]"},
      {"FROM t |> CROSS JOIN", "Syntax error: Unexpected end of statement [at 1:21]"},
      {"FROM t WHERE x",
       "Syntax error: WHERE not supported after FROM query; Consider using pipe operator `|> WHERE` [at "
       "1:8]"},
      {"FROM t SELECT x",
       "Syntax error: SELECT not supported after FROM query; Consider using pipe operator `|> SELECT` [at "
       "1:8]"},
      {"WITH a AS (SELECT 1) |> WHERE x",
       "Syntax error: A pipe operator cannot follow the WITH clause before the main query; The main query "
       "usually starts with SELECT or FROM here [at 1:22]"},
  });
}

TEST(QueryErrors, OfTheRest) {
  ExpectErrors({
      {"SELECT * EXCEPT (", "Syntax error: Unexpected end of statement [at 1:18]"},
      {"SELECT * EXCEPT (a", "Syntax error: Expected \")\" or \",\" but got end of statement [at 1:19]"},
      {"WITH", "Syntax error: Unexpected end of statement [at 1:5]"},
      {"WITH x", "Syntax error: Expected keyword AS but got end of statement [at 1:7]"},
      {"WITH x AS", "Syntax error: Expected \"(\" but got end of statement [at 1:10]"},
      {"WITH x AS (", "Syntax error: Unexpected end of statement [at 1:12]"},
      {"WITH x AS (SELECT 1)", "Syntax error: Unexpected end of statement [at 1:21]"},
      {"WITH x AS (SELECT 1),", "Syntax error: Expected keyword SELECT but got end of statement [at 1:22]"},
      {"WITH x AS (SELECT 1), SELECT 1",
       "Syntax error: Trailing comma after the WITH clause before the main query is not allowed [at 1:23]"},
      {"WITH x AS SELECT 1", "Syntax error: Expected \"(\" but got keyword SELECT [at 1:11]"},
      {"(SELECT 1", "Syntax error: Expected \")\" but got end of statement [at 1:10]"},
      {"(SELECT 1) x", "Syntax error: Expected end of input but got identifier \"x\" [at 1:12]"},
      {" foo", "Syntax error: Unexpected identifier \"foo\" [at 1:2]"},
      {" ", "Syntax error: Unexpected end of statement [at 1:1]"},
      {";", "Syntax error: Unexpected \";\" [at 1:1]"},
      {"@{a SELECT 1", "Syntax error: Expected \".\" or \"=\" but got keyword SELECT [at 1:5]"},
      {"@{a= SELECT 1", "Syntax error: Unexpected keyword SELECT [at 1:6]"},
      {"@{a=1 SELECT 1", "Syntax error: Expected \",\" or \"}\" but got keyword SELECT [at 1:7]"},
      {"@{} SELECT 1", "Syntax error: Unexpected \"}\" [at 1:3]"},
      {"WITH a AS (SELECT 1), b", "Syntax error: Expected keyword AS but got end of statement [at 1:24]"},
      {"WITH a AS (SELECT 1), b AS", "Syntax error: Expected \"(\" but got end of statement [at 1:27]"},
      {"WITH a (SELECT 1) SELECT 1", "Syntax error: Expected keyword AS but got \"(\" [at 1:8]"},
      {"(SELECT 1) SELECT 2", "Syntax error: Expected end of input but got keyword SELECT [at 1:12]"},
      {"((SELECT 1)", "Syntax error: Expected \")\" but got end of statement [at 1:12]"},
      {"()", "Syntax error: Unexpected \")\" [at 1:2]"},
      {"(", "Syntax error: Unexpected end of statement [at 1:2]"},
      {"(1)", "Syntax error: Unexpected integer literal \"1\" [at 1:2]"},
      {"EXPLAIN", "Syntax error: Unexpected end of statement [at 1:8]"},
      {"EXPLAIN 1", "Syntax error: Unexpected integer literal \"1\" [at 1:9]"},
  });
}

}  // namespace
}  // namespace sonde::sql::syntax_test
