// Messages of refused statements, which GoogleSQL's reference implementation gave word for word.
#include <gtest/gtest.h>

#include "sql/syntax/syntax_test_support.h"

namespace sonde::sql::syntax_test {
namespace {

TEST(SelectErrors, SayWhatIsUnexpected) {
  ExpectErrors({
      {"SELECT DISTINCT", "Syntax error: Unexpected end of statement [at 1:16]"},
      {"SELECT a FROM t WHERE  \n", "Syntax error: Unexpected end of statement [at 1:22]"},
      {"SELECT * FROM t AS OF x", "Syntax error: Unexpected keyword OF [at 1:20]"},
      {"SELECT a FROM t WHERE a = 'x' AND", "Syntax error: Unexpected end of statement [at 1:34]"},
      {"SELECT a FROM t WHERE a LIKE", "Syntax error: Unexpected end of statement [at 1:29]"},
      {"SELECT a FROM t GROUP BY a HAVING", "Syntax error: Unexpected end of statement [at 1:34]"},
      {"SELECT a FROM t ORDER BY", "Syntax error: Unexpected end of statement [at 1:25]"},
      {"SELECT cf[ FROM t", "Syntax error: Unexpected keyword FROM [at 1:12]"},
      {"SELECT a FROM", "Syntax error: Unexpected end of statement [at 1:14]"},
      {"SELECT a FROM t,", "Syntax error: Unexpected end of statement [at 1:17]"},
      {"SELECT a FROM t, WHERE x", "Syntax error: Unexpected keyword WHERE [at 1:18]"},
      {"SELECT a FROM t JOIN u ON", "Syntax error: Unexpected end of statement [at 1:26]"},
      {"SELECT a FROM t JOIN u USING (", "Syntax error: Unexpected end of statement [at 1:31]"},
      {"SELECT a FROM t(with_history =>", "Syntax error: Unexpected end of statement [at 1:32]"},
      {"SELECT a FROM UNNEST(", "Syntax error: Unexpected end of statement [at 1:22]"},
      {"SELECT a FROM (", "Syntax error: Unexpected end of statement [at 1:16]"},
      {"SELECT a FROM ()", "Syntax error: Unexpected \")\" [at 1:16]"},
      {"SELECT a FROM 'x'", "Syntax error: Unexpected string literal 'x' [at 1:15]"},
      {"SELECT a FROM 1", "Syntax error: Unexpected integer literal \"1\" [at 1:15]"},
      {"SELECT a FROM t WHERE a == 1", "Syntax error: Unexpected \"=\" [at 1:26]"},
      {"SELECT a FROM t WHERE !a", "Syntax error: Unexpected \"!\" [at 1:23]"},
      {"SELECT a FROM t WHERE a && b", "Syntax error: Unexpected \"&\" [at 1:26]"},
      {"SELECT NOT FROM t", "Syntax error: Unexpected keyword FROM [at 1:12]"},
  });
}

TEST(SelectErrors, SayWhatIsExpected) {
  ExpectErrors({
      {"SELECT (1 FROM t", "Syntax error: Expected \",\" but got keyword FROM [at 1:11]"},
      {"SELECT (1, 2 FROM t", "Syntax error: Expected \")\" or \",\" but got keyword FROM [at 1:14]"},
      {"SELECT f(1 FROM t", "Syntax error: Expected \")\" but got keyword FROM [at 1:12]"},
      {"SELECT FROM t", "Syntax error: SELECT list must not be empty [at 1:8]"},
      {"SELECT * FROM t WITH", "Syntax error: Expected keyword OFFSET but got end of statement [at 1:21]"},
      {"SELECT a FROM t WHERE (a = 1", "Syntax error: Expected \",\" but got end of statement [at 1:29]"},
      {"SELECT a FROM t WHERE a IN (1, 2",
       "Syntax error: Expected \")\" or \",\" but got end of statement [at 1:33]"},
      {"SELECT a FROM t WHERE a IN (1", "Syntax error: Expected \",\" but got end of statement [at 1:30]"},
      {"SELECT a FROM t WHERE a IN UNNEST(@p",
       "Syntax error: Expected \")\" or \",\" but got end of statement [at 1:37]"},
      {"SELECT cf['q FROM t", "Syntax error: Unclosed string literal [at 1:11]"},
      {"SELECT cf['q' FROM t", "Syntax error: Expected \"]\" but got keyword FROM [at 1:15]"},
      {"SELECT cf[OFFSET(1 FROM t", "Syntax error: Expected \")\" but got keyword FROM [at 1:20]"},
      {"SELECT CAST(a AS INT64)) FROM t", "Syntax error: Expected end of input but got \")\" [at 1:24]"},
      {"SELECT a,, b FROM t", "Syntax error: Expected end of input but got \",\" [at 1:10]"},
      {"SELECT a b c FROM t", "Syntax error: Expected end of input but got identifier \"c\" [at 1:12]"},
      {"SELECT a FROM t JOIN u USING", "Syntax error: Expected \"(\" but got end of statement [at 1:29]"},
      {"SELECT a FROM t JOIN u USING (x",
       "Syntax error: Expected \")\" or \",\" but got end of statement [at 1:32]"},
      {"SELECT a FROM t(", "Syntax error: Expected \")\" but got end of statement [at 1:17]"},
      {"SELECT a FROM t(with_history", "Syntax error: Expected \")\" but got end of statement [at 1:29]"},
      {"SELECT a FROM t(with_history => TRUE",
       "Syntax error: Expected \")\" but got end of statement [at 1:37]"},
      {"SELECT a FROM t(with_history TRUE)", "Syntax error: Expected \")\" but got keyword TRUE [at 1:30]"},
      {"SELECT a FROM UNPACK(SELECT 1)",
       "Syntax error: Each subquery argument for table-valued function calls must be enclosed in "
       "parentheses. To fix this, replace SELECT... with (SELECT...) [at 1:22]"},
      {"SELECT a FROM UNPACK((SELECT 1)", "Syntax error: Expected \")\" but got end of statement [at 1:32]"},
      {"SELECT a FROM UNPACK((SELECT 1", "Syntax error: Expected \")\" but got end of statement [at 1:31]"},
      {"SELECT a FROM UNNEST", "Syntax error: Expected \"(\" but got end of statement [at 1:21]"},
      {"SELECT a FROM UNNEST([1]",
       "Syntax error: Expected \")\" or \",\" but got end of statement [at 1:25]"},
      {"SELECT a FROM UNNEST(SELECT 1)",
       "The argument to UNNEST is an expression, not a query; to use a query as an expression, the query "
       "must be wrapped with additional parentheses to make it a scalar subquery expression [at 1:22]"},
      {"SELECT a FROM (SELECT 1", "Syntax error: Expected \")\" but got end of statement [at 1:24]"},
      {"SELECT a FROM (t JOIN u", "Syntax error: Expected keyword JOIN but got end of statement [at 1:24]"},
      {"SELECT a FROM t WHERE a <> 1 1",
       "Syntax error: Expected end of input but got integer literal \"1\" [at 1:30]"},
      {"SELECT a FROM t WHERE a = \"x", "Syntax error: Unclosed string literal [at 1:27]"},
      {"SELECT a FROM t; DROP TABLE t", "Syntax error: Expected end of input but got keyword DROP [at 1:18]"},
      {"SELECT TOP 10 a FROM t",
       "Syntax error: Expected end of input but got integer literal \"10\" [at 1:12]"},
      {"SELECT a FROM t LIMIT 10, 20", "Syntax error: Expected end of input but got \",\" [at 1:25]"},
      {"SELECT a FROM t OFFSET 10",
       "Syntax error: Expected end of input but got integer literal \"10\" [at 1:24]"},
      {"SELECT a FROM t LIMIT 10 LIMIT 20",
       "Syntax error: Expected end of input but got keyword LIMIT [at 1:26]"},
      {"SELECT a FROM t WHERE b GROUP BY c WHERE d",
       "Syntax error: Expected end of input but got keyword WHERE [at 1:36]"},
      {"SELECT a FROM t ORDER BY a LIMIT 1 WHERE x",
       "Syntax error: Expected end of input but got keyword WHERE [at 1:36]"},
      {"SELECT a FROM t ORDER BY a GROUP BY x",
       "Syntax error: Expected end of input but got keyword GROUP [at 1:28]"},
      {"SELECT DISTINCT FROM t", "Syntax error: SELECT list must not be empty [at 1:17]"},
      {"SELECT COUNT(* FROM t", "Syntax error: Expected \")\" but got keyword FROM [at 1:16]"},
  });
}

}  // namespace
}  // namespace sonde::sql::syntax_test
