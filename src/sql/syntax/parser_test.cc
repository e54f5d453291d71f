#include "sql/syntax/parser.h"

#include <gtest/gtest.h>

#include <string>

#include "sql/syntax/syntax_test_support.h"

namespace sonde::sql {
namespace {

using syntax_test::ExpectErrors;
using syntax_test::Printed;
using syntax_test::TreeOf;

std::string Repeated(std::string_view text, size_t count) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Parser, KnowsPrecedence) {
  EXPECT_EQ(
      TreeOf("a OR b AND NOT c = d"),
      "(binary 'OR' (name 'a') (binary 'AND' (name 'b') (unary 'NOT' (binary '=' (name 'c') (name 'd')))))");
  EXPECT_EQ(TreeOf("a | b ^ c & d << e + f || g * -h"),
            "(binary '|' (name 'a') (binary '^' (name 'b') (binary '&' (name 'c') (binary '<<' (name 'd') "
            "(binary '+' (name 'e') "
            "(binary '||' (name 'f') (binary '*' (name 'g') (unary '-' (name 'h')))))))))");
  EXPECT_EQ(TreeOf("a - b - c"), "(binary '-' (binary '-' (name 'a') (name 'b')) (name 'c'))");
  EXPECT_EQ(TreeOf("-a.b[1]"), "(unary '-' (index (field 'b' (name 'a')) (int '1')))");
  EXPECT_EQ(TreeOf("a BETWEEN b + 1 AND c AND d"),
            "(binary 'AND' (between (name 'a') (binary '+' (name 'b') (int '1')) (name 'c')) (name 'd'))");
}

TEST(Parser, JoinsAndAndOrToOne) {
  EXPECT_EQ(TreeOf("a AND b AND c"), "(binary 'AND' (name 'a') (name 'b') (name 'c'))");
  EXPECT_EQ(TreeOf("a OR (b OR c)"),
            "(binary 'OR' (name 'a') (binary 'OR' parentheses (name 'b') (name 'c')))");
}

TEST(Parser, ReadsTests) {
  EXPECT_EQ(TreeOf("a IS NOT NULL"), "(is 'NULL' not (name 'a'))");
  EXPECT_EQ(TreeOf("a IS UNKNOWN"), "(is 'NULL' (name 'a'))");
  EXPECT_EQ(TreeOf("a IS NOT DISTINCT FROM b"), "(binary 'IS DISTINCT FROM' not (name 'a') (name 'b'))");
  EXPECT_EQ(TreeOf("a NOT LIKE b"), "(binary 'LIKE' not (name 'a') (name 'b'))");
  EXPECT_EQ(TreeOf("a <> b"), "(binary '!=' (name 'a') (name 'b'))");
  EXPECT_EQ(TreeOf("a NOT IN (1, 2)"), "(in not (name 'a') (int '1') (int '2'))");
  EXPECT_EQ(TreeOf("a IN UNNEST(@p)"), "(in-unnest (name 'a') (parameter 'p'))");
}

TEST(Parser, TellsQueriesFromExpressionsInParentheses) {
  const std::string one = " (select (items (int '1')))";
  EXPECT_EQ(TreeOf("(SELECT 1)"), "(query" + one + ")");
  EXPECT_EQ(TreeOf("((SELECT 1))"), "(query (nested" + one + "))");
  EXPECT_EQ(TreeOf("((SELECT 1) + 1)"), "(binary '+' parentheses (query" + one + ") (int '1'))");
  EXPECT_EQ(TreeOf("((SELECT 1), 2)"), "(struct tuple (names '' '') (query" + one + ") (int '2'))");
  EXPECT_EQ(TreeOf("((SELECT 1) UNION ALL (SELECT 1))"),
            "(query (set 'UNION ALL' (nested" + one + ") (nested" + one + ")))");
  EXPECT_EQ(TreeOf("a IN ((SELECT 1))"), "(in-query (name 'a') (nested" + one + "))");
  EXPECT_EQ(TreeOf("a IN ((SELECT 1), 2)"), "(in (name 'a') (query" + one + ") (int '2'))");
}

TEST(Parser, ReadsNamesAndLiterals) {
  EXPECT_EQ(TreeOf("`a b`.select"), "(field 'select' (name 'a b'))");
  EXPECT_EQ(TreeOf("DATE '2026-01-01'"), "(date '2026-01-01')");
  EXPECT_EQ(TreeOf("TIMESTAMP \"x\" 'y'"), "(timestamp 'xy')");
  EXPECT_EQ(TreeOf("date"), "(name 'date')");
  EXPECT_EQ(TreeOf("@Select"), "(parameter 'Select')");
  EXPECT_EQ(TreeOf("b'\\xff' rb'\\x'"), "(bytes '\\xff\\\\x')");
  EXPECT_EQ(TreeOf("0xAF"), "(int '0xAF')");
  EXPECT_EQ(TreeOf(".5"), "(float '0.5')");
  EXPECT_EQ(TreeOf("TRUE"), "(bool true)");
  EXPECT_EQ(TreeOf("CURRENT_TIMESTAMP"), "(call (name 'CURRENT_TIMESTAMP'))");
  EXPECT_EQ(TreeOf("`CURRENT_TIMESTAMP`"), "(name 'CURRENT_TIMESTAMP')");
}

TEST(Parser, ReadsIndexes) {
  EXPECT_EQ(TreeOf("a[OFFSET(1)]"), "(index 'OFFSET' (name 'a') (int '1'))");
  EXPECT_EQ(TreeOf("a[safe_key('x')]"), "(index 'SAFE_KEY' (name 'a') (string 'x'))");
  EXPECT_EQ(TreeOf("a[(OFFSET(1))]"),
            "(index (name 'a') (call parentheses (name 'OFFSET') (arguments (int '1'))))");
  EXPECT_EQ(TreeOf("a[OFFSET(1, 2)]"),
            "(index (name 'a') (call (name 'OFFSET') (arguments (int '1') (int '2'))))");
}

TEST(Parser, ReadsCalls) {
  EXPECT_EQ(TreeOf("safe.f(x)"), "(call (name 'SAFE' 'F') (arguments (name 'x')))");
  EXPECT_EQ(TreeOf("COUNT(*)"), "(call (name 'COUNT') star)");
  EXPECT_EQ(TreeOf("if(a, b)"), "(call (name 'IF') (arguments (name 'a') (name 'b')))");
  EXPECT_EQ(TreeOf("(a).f(b)"), "(call (name 'F') (arguments (name 'a' parentheses) (name 'b')))");
  EXPECT_EQ(TreeOf("f(a, b => e -> e)"),
            "(call (name 'F') (arguments (name 'a')) (b => (lambda (names 'e') (name 'e'))))");
  EXPECT_EQ(TreeOf("f(DISTINCT x IGNORE NULLS HAVING MAX y ORDER BY z DESC NULLS LAST LIMIT 3)"),
            "(call (name 'F') distinct (arguments (name 'x')) ignore-nulls (max (name 'y')) (order (name "
            "'z') desc last) (limit "
            "(int '3')))");
  EXPECT_EQ(TreeOf("f((a, b) -> a, () -> 1)"),
            "(call (name 'F') (arguments (lambda (names 'a' 'b') (name 'a')) (lambda (int '1'))))");
}

TEST(Parser, ReadsWindows) {
  EXPECT_EQ(TreeOf("f() OVER w"), "(call (name 'F') (window 'w'))");
  EXPECT_EQ(
      TreeOf(
          "f() OVER (w PARTITION BY a ORDER BY b RANGE BETWEEN INTERVAL 5 MINUTE PRECEDING AND CURRENT ROW)"),
      "(call (name 'F') (window 'w' (partition (name 'a')) (order (name 'b')) range (bound 1 (interval "
      "'MINUTE' (int '5'))) "
      "(bound 2)))");
  EXPECT_EQ(TreeOf("f() OVER (ROWS UNBOUNDED PRECEDING)"),
            "(call (name 'F') (window '' (bound 0) (bound 2)))");
}

TEST(Parser, ReadsConstructors) {
  EXPECT_EQ(TreeOf("STRUCT(a, 1 AS b)"), "(struct (names '' 'b') (name 'a') (int '1'))");
  EXPECT_EQ(TreeOf("ARRAY<STRUCT<a INT64, ARRAY<b.C>>>[]"),
            "(array (type (path 'ARRAY') (type (path 'STRUCT') 'a' (type (path 'INT64')) '' (type (path "
            "'ARRAY') (type (path 'b' "
            "'C'))))))");
  EXPECT_EQ(TreeOf("CAST(a AS `x.y.Z` FORMAT 'f' AT TIME ZONE 'UTC')"),
            "(cast (type (path 'x.y.Z')) (name 'a') (string 'f') (string 'UTC'))");
  EXPECT_EQ(TreeOf("SAFE_CAST(a AS MAP<BYTES, INT64>)"),
            "(cast safe (type (path 'MAP') (type (path 'BYTES')) (type (path 'INT64'))) (name 'a') - -)");
  EXPECT_EQ(TreeOf("CASE a WHEN 1 THEN 2 ELSE 3 END"),
            "(case operand else (name 'a') (int '1') (int '2') (int '3'))");
  EXPECT_EQ(TreeOf("EXTRACT(week(monday) FROM a AT TIME ZONE 'x')"),
            "(extract 'WEEK(MONDAY)' (name 'a') (string 'x'))");
}

TEST(Parser, SetsPositions) {
  const auto expr = ParseExpression("  (a + b) * c.d");
  ASSERT_TRUE(expr.ok());
  EXPECT_EQ((*expr)->position.offset, 2);  // an operator begins at the parenthesis of its first operand
  EXPECT_EQ((*expr)->children[1]->position.offset, 12);
  const auto statement = ParseStatement("SELECT 1 FROM a JOIN b");
  ASSERT_TRUE(statement.ok());
  EXPECT_EQ((*statement)->query->from->position.offset, 16);
}

TEST(Parser, NamesOtherStatements) {
  ExpectErrors({
      {"INSERT INTO series.s (a) VALUES ()", "Syntax error: Unexpected \")\" [at 1:34]"},
      {"INSERT INTO series.s (a b) VALUES (1)",
       "Syntax error: Expected \",\" but got identifier \"b\" [at 1:25]"},
      {"INSERT INTO series.s (a) VALUES (1) (2)",
       "Syntax error: Expected end of input but got \"(\" [at 1:37]"},
      {"@{a = 1} INSERT INTO series.s VALUES (1)", "INSERT takes no hints before it [at 1:10]"},
      {"INSERT INTO t VALUES (1)", "Statement not supported: InsertStatement [at 1:1]"},
      {"  update t SET a = 1", "Statement not supported: UpdateStatement [at 1:3]"},
      {"DELETE FROM t", "Statement not supported: DeleteStatement [at 1:1]"},
      {"MERGE t USING u", "Statement not supported: MergeStatement [at 1:1]"},
      {"CREATE TABLE t (a INT64)", "Statement not supported: CreateTableStatement [at 1:1]"},
      {"CREATE OR REPLACE TEMP TABLE t", "Statement not supported: CreateTableStatement [at 1:1]"},
      {"CREATE MATERIALIZED VIEW v", "Statement not supported: CreateMaterializedViewStatement [at 1:1]"},
      {"CREATE TABLE FUNCTION f()", "Statement not supported: CreateTableFunctionStatement [at 1:1]"},
      {"DROP TABLE t", "Statement not supported: DropStatement [at 1:1]"},
      {"DROP FUNCTION f", "Statement not supported: DropFunctionStatement [at 1:1]"},
      {"ALTER TABLE t", "Statement not supported: AlterTableStatement [at 1:1]"},
      {"SET x = 1", "Statement not supported: SingleAssignment [at 1:1]"},
      {"BEGIN TRANSACTION", "Statement not supported: BeginStatement [at 1:1]"},
      {"COMMIT", "Statement not supported: CommitStatement [at 1:1]"},
      {"EXPLAIN INSERT INTO t VALUES (1)", "Statement not supported: InsertStatement [at 1:9]"},
  });
}

TEST(Parser, NamesWhatItDoesNotTake) {
  ExpectErrors({
      {"SELECT ?", "Positional parameters are not supported [at 1:8]"},
      {"SELECT @@x", "System variables are not supported [at 1:8]"},
      {"SELECT JSON '{}'", "JSON literals are not supported [at 1:8]"},
      {"SELECT x LIKE ANY ('a')", "Comparison with ANY, SOME or ALL is not supported [at 1:15]"},
      {"SELECT WITH(a AS 1, a)", "WITH expressions are not supported [at 1:8]"},
      {"SELECT NEW a()", "NEW constructors are not supported [at 1:8]"},
      {"SELECT CAST(a AS STRING(10))", "Type parameters are not supported [at 1:24]"},
      {"SELECT 1 FROM a NATURAL JOIN b", "NATURAL JOIN is not supported [at 1:17]"},
      {"SELECT 1 FROM a TABLESAMPLE x", "TABLESAMPLE is not supported [at 1:17]"},
      {"SELECT 1 FROM LATERAL a", "LATERAL is not supported [at 1:15]"},
      {"SELECT 1 LIMIT ALL", "LIMIT ALL is not supported [at 1:10]"},
      {"TABLE t", "TABLE clauses are not supported [at 1:1]"},
      {"FROM t |> PIVOT(x)", "Pipe PIVOT is not supported [at 1:11]"},
      {"SELECT f(a => 1, b)",
       "Call to function F must not specify positional arguments after named arguments; named arguments must "
       "be specified last in "
       "the argument list [at 1:10]"},
      {"SELECT 1 UNION ALL SELECT 2 UNION DISTINCT SELECT 3",
       "Syntax error: Different set operations cannot be used in the same query without using parentheses "
       "for grouping [at 1:29]"},
  });
}

TEST(Parser, TakesAsofForAKeywordBeforeJoinOnly) {
  EXPECT_EQ(Printed("SELECT 1 FROM a ASOF JOIN b ON x"), "SELECT 1 FROM a ASOF JOIN b ON x");
  EXPECT_EQ(Printed("SELECT 1 FROM a t asof left outer join b"), "SELECT 1 FROM a AS t ASOF LEFT JOIN b");
  EXPECT_EQ(Printed("SELECT 1 FROM a AS asof JOIN b"), "SELECT 1 FROM a AS asof JOIN b");
  EXPECT_EQ(Printed("SELECT 1 FROM a asof, b"), "SELECT 1 FROM a AS asof, b");
  EXPECT_EQ(Printed("SELECT 1 FROM a asof RIGHT JOIN b"), "SELECT 1 FROM a AS asof RIGHT JOIN b");
  EXPECT_EQ(Printed("FROM a |> ASOF JOIN b ON x"), "FROM a |> ASOF JOIN b ON x");
}

TEST(Parser, BoundsTheText) {
  const std::string text = "SELECT 1 " + std::string(kQueryTextBytesMax, ' ');
  EXPECT_EQ(std::string(ParseStatement(text).status().message()),
            "Query text has 1048585 bytes; at most 1048576 are allowed");
  EXPECT_EQ(Printed("SELECT '\xFF'"), "Syntax error: Query text is not valid UTF-8 [at 1:9]");
  EXPECT_EQ(Printed("SELECT 1 -- \xC3"), "Syntax error: Query text is not valid UTF-8 [at 1:13]");
}

TEST(Parser, BoundsNesting) {
  const std::string too_deep =
      "Query is too deep: expressions, queries and types nest more than 100 times in each other";
  const auto nested = [&](std::string_view open, std::string_view middle, std::string_view close,
                          size_t count) {
    const std::string text = Repeated(open, count) + std::string(middle) + Repeated(close, count);
    return Printed("SELECT " + text).substr(0, too_deep.size());
  };
  EXPECT_EQ(nested("(", "1", ")", 98), "SELECT (1)");
  struct Case {
    std::string_view open, middle, close;
  };
  for (const Case& one :
       {Case{"(", "1", ")"}, Case{"- ", "1", ""}, Case{"NOT ", "a", ""}, Case{"f(", "1", ")"},
        Case{"[", "1", "]"}, Case{"(SELECT ", "1", ")"}, Case{"a[", "1", "]"},
        Case{"CASE WHEN ", "1", " THEN 1 END"}, Case{"INTERVAL ", "1", " DAY"}, Case{"a IN (", "1", ")"},
        Case{"EXISTS(SELECT ", "1", ")"}, Case{"f(x -> ", "1", ")"},
        Case{"f(x) OVER (ORDER BY ", "1", ")"}}) {
    for (const size_t count : {101, 1'000, 20'000}) {
      EXPECT_EQ(nested(one.open, one.middle, one.close, count), too_deep) << one.open << count;
    }
  }
  EXPECT_EQ(Printed("SELECT 1 FROM " + Repeated("(", 5'000) + "SELECT 1").substr(0, too_deep.size()),
            too_deep);
  EXPECT_EQ(Printed(Repeated("(", 5'000) + "SELECT 1").substr(0, too_deep.size()), too_deep);
  EXPECT_EQ(Printed("SELECT CAST(1 AS " + Repeated("ARRAY<", 5'000)).substr(0, too_deep.size()), too_deep);
}

// Chains make trees that are as high as they are long.
TEST(Parser, BoundsTheHeightOfTrees) {
  const std::string too_high =
      "Query is too deep: more than 1000 operators or expressions stand one upon the other";
  for (const std::string_view link : {"+1", "||a", ".b", "[1]", "*2", "|3"}) {
    EXPECT_EQ(Printed("SELECT a" + Repeated(link, 900)).substr(0, 8), "SELECT a") << link;
    EXPECT_EQ(Printed("SELECT a" + Repeated(link, 1'001)).substr(0, too_high.size()), too_high) << link;
    EXPECT_EQ(Printed("SELECT a" + Repeated(link, 100'000)).substr(0, too_high.size()), too_high) << link;
  }
  EXPECT_EQ(Printed("SELECT 1 FROM a" + Repeated(", a", 1'001)).substr(0, too_high.size()), too_high);
  EXPECT_EQ(Printed("SELECT 1 FROM a" + Repeated(" JOIN a ON b", 1'001)).substr(0, too_high.size()),
            too_high);
  // Chains beside each other.
  EXPECT_TRUE(ParseStatement("SELECT a" + Repeated("+1", 900) + " = b" + Repeated("+1", 900)).ok());
  EXPECT_TRUE(ParseStatement("SELECT a" + Repeated(" AND b.c = d + 1 OR e IS NULL", 5'000)).ok());
  EXPECT_TRUE(ParseStatement("SELECT f(a" + Repeated("+1", 900) + ", b" + Repeated("+1", 900) + ")").ok());
  // Chains in chains.
  std::string chain = "a" + Repeated("+1", 300);
  for (int i = 0; i < 4; ++i) chain = "(" + chain + ")" + Repeated("+1", 300);
  EXPECT_EQ(Printed("SELECT " + chain).substr(0, too_high.size()), too_high);
  std::string query = "SELECT a" + Repeated("+1", 300);
  for (int i = 0; i < 4; ++i) query = "SELECT (" + query + ")" + Repeated("+1", 300);
  EXPECT_EQ(Printed(query).substr(0, too_high.size()), too_high);
}

TEST(Parser, TakesLongListsAndChainsOfAndAndOr) {
  EXPECT_TRUE(ParseStatement("SELECT a IN (1" + Repeated(",1", kListMax - 1) + ")").ok());
  EXPECT_EQ(std::string(ParseStatement("SELECT a IN (1" + Repeated(",1", kListMax) + ")").status().message())
                .substr(0, 49),
            "Query has a list of more than 100000 elements [at");
  EXPECT_TRUE(ParseStatement("SELECT a" + Repeated(" AND a", 50'000)).ok());
  EXPECT_TRUE(ParseStatement("SELECT a" + Repeated(" OR a", 50'000)).ok());
  EXPECT_TRUE(ParseStatement("SELECT 1" + Repeated(" UNION ALL SELECT 1", 20'000)).ok());
  EXPECT_TRUE(ParseStatement("FROM t" + Repeated("|> DISTINCT", 50'000)).ok());
}

}  // namespace
}  // namespace sonde::sql
