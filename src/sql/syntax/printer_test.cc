#include "sql/syntax/printer.h"

#include <gtest/gtest.h>

#include "sql/syntax/syntax_test_support.h"

namespace sonde::sql {
namespace {

using syntax_test::Dumper;
using syntax_test::Printed;

struct Case {
  std::string_view text;
  std::string_view printed;  // empty: as the text
};

// Expects each statement to be printed so, and what is printed to be read as the same tree.
void ExpectPrinted(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    EXPECT_EQ(Printed(one.text), one.printed.empty() ? one.text : one.printed);
    const auto statement = ParseStatement(one.text);
    if (!statement.ok()) continue;
    const auto again = ParseStatement(Print(**statement));
    ASSERT_TRUE(again.ok()) << one.text;
    EXPECT_EQ(Dumper::Of(**statement), Dumper::Of(**again));
  }
}

TEST(Printer, PrintsSelect) {
  ExpectPrinted({
      {"select 1;", "SELECT 1"},
      {"SELECT DISTINCT a, b AS c, * EXCEPT (d) REPLACE (e + 1 AS f), t.* FROM t"},
      {"SELECT ALL a b, c AS `select`, FROM t", "SELECT a AS b, c AS `select` FROM t"},
      {"SELECT AS STRUCT a, 1 AS b FROM t"},
      {"SELECT AS VALUE a FROM t"},
      {"SELECT a FROM t WHERE b GROUP BY 1, c HAVING d QUALIFY e WINDOW w AS (PARTITION BY a), v AS w ORDER "
       "BY a ASC, b DESC "
       "NULLS FIRST, c NULLS LAST LIMIT 10 OFFSET @p",
       "SELECT a FROM t WHERE b GROUP BY 1, c HAVING d QUALIFY e WINDOW w AS (PARTITION BY a), v AS w ORDER "
       "BY a, b DESC NULLS "
       "FIRST, c NULLS LAST LIMIT 10 OFFSET @p"},
      {"SELECT a FROM t GROUP BY ALL"},
      {"SELECT a FROM t GROUP BY ()"},
      {"SELECT a FROM t GROUP BY a, rollup(b, (c, d)), Cube(e)",
       "SELECT a FROM t GROUP BY a, ROLLUP(b, (c, d)), CUBE(e)"},
      {"SELECT GROUPING(a) FROM t GROUP BY GROUPING SETS(a, (a, b), (), ROLLUP(a), CUBE(a, b))"},
      {"WITH a AS (SELECT 1), `b c` AS (FROM a) SELECT * FROM a, `b c`"},
      {"WITH RECURSIVE a AS (SELECT 1) (SELECT 2) ORDER BY 1"},
      {"(SELECT 1)"},
      {"((SELECT 1 LIMIT 1)) LIMIT 2"},
      {"SELECT 1 UNION ALL SELECT 2 UNION ALL (SELECT 3 LIMIT 1) ORDER BY 1"},
      {"SELECT 1 EXCEPT DISTINCT SELECT 2"},
      {"(SELECT 1 INTERSECT DISTINCT SELECT 2) UNION ALL SELECT 3"},
      {"EXPLAIN SELECT 1"},
      {"EXPLAIN ANALYZE FROM t"},
      {"insert series.s values (1, 'a'), (@p, NULL);", "INSERT INTO series.s VALUES (1, 'a'), (@p, NULL)"},
      {"EXPLAIN INSERT INTO series.s (a, `b c`) SELECT 1, 2 UNION ALL SELECT x, y FROM t"},
      {"INSERT INTO series.s (a, `b c`) (SELECT 1, 2)"},
      {"INSERT INTO series.s (FROM t)"},
  });
}

TEST(Printer, PrintsFrom) {
  ExpectPrinted({
      {"SELECT 1 FROM my-table, a-1.b-2c.d x, `p q`", "SELECT 1 FROM `my-table`, `a-1`.`b-2c`.d AS x, `p q`"},
      {"SELECT 1 FROM my-1.b", "SELECT 1 FROM `my-1`.b"},
      {"SELECT 1 FROM series.x(latest_n => 1) AS s"},
      {"SELECT 1 FROM t(with_history => TRUE, after => @a) @{allow_incomplete_view = TRUE} AS x"},
      {"SELECT 1 FROM UNPACK((SELECT cf['q'] FROM t(with_history => TRUE))) AS u"},
      {"SELECT 1 FROM unpack((SELECT 1))", "SELECT 1 FROM UNPACK((SELECT 1))"},
      {"SELECT 1 FROM t, UNNEST([1, 2]) AS x WITH OFFSET AS o"},
      {"SELECT 1 FROM t, t.arr WITH OFFSET", "SELECT 1 FROM t, t.arr WITH OFFSET"},
      {"SELECT 1 FROM t CROSS JOIN UNNEST(t.a) x WITH OFFSET y",
       "SELECT 1 FROM t CROSS JOIN UNNEST(t.a) AS x WITH OFFSET AS y"},
      {"SELECT 1 FROM a INNER JOIN b ON x LEFT OUTER JOIN c USING (y, z) RIGHT JOIN d FULL JOIN e ON TRUE",
       "SELECT 1 FROM a JOIN b ON x LEFT JOIN c USING (y, z) RIGHT JOIN d FULL JOIN e ON TRUE"},
      {"SELECT 1 FROM a JOIN (b JOIN c ON x) ON y"},
      {"SELECT 1 FROM a, (b RIGHT JOIN c ON x)"},
      {"SELECT 1 FROM (a JOIN b ON x) JOIN c ON y", "SELECT 1 FROM a JOIN b ON x JOIN c ON y"},
      {"SELECT 1 FROM a JOIN @{h = 1} b ON x"},
      {"SELECT 1 FROM trades AS t ASOF LEFT JOIN quotes AS q ON t.s = q.s AND t.time >= q.time"},
      {"SELECT 1 FROM (SELECT 2) AS x, ((SELECT 3))"},
      {"SELECT * FROM GAP_FILL(TABLE t, ts_column => 'time', bucket_width => INTERVAL 1 MINUTE, "
       "value_columns => [('u', "
       "'locf')])",
       "SELECT * FROM GAP_FILL((SELECT * FROM t), ts_column => 'time', bucket_width => INTERVAL 1 MINUTE, "
       "value_columns => [('u', "
       "'locf')])"},
      {"SELECT * FROM f((SELECT 1), 2, g => 3)"},
      {"SELECT * FROM f()"},
      {"SELECT * FROM `UNPACK`((SELECT 1))"},
  });
}

TEST(Printer, PrintsPipes) {
  ExpectPrinted({
      {"FROM t |> WHERE a |> SELECT b, c AS d, |> SELECT DISTINCT *",
       "FROM t |> WHERE a |> SELECT b, c AS d |> SELECT DISTINCT *"},
      {"FROM t |> EXTEND a + 1 AS b, c.* |> SET a = 1, b = c |> DROP a, b |> RENAME a b, c AS d |> AS x",
       "FROM t |> EXTEND a + 1 AS b, c.* |> SET a = 1, b = c |> DROP a, b |> RENAME a AS b, c AS d |> AS x"},
      {"FROM t |> AGGREGATE COUNT(*) AS c, SUM(x) GROUP BY a AS b, c"},
      {"FROM t |> AGGREGATE GROUP BY a"},
      {"FROM t |> AGGREGATE COUNT(*) DESC GROUP BY a ASC, b NULLS LAST, c",
       "FROM t |> AGGREGATE COUNT(*) DESC GROUP BY a ASC, b ASC NULLS LAST, c"},
      {"FROM t |> AGGREGATE COUNT(*) AS n ASC NULLS LAST GROUP AND ORDER BY a, b DESC"},
      {"FROM t |> DISTINCT |> ORDER BY a DESC, |> LIMIT 10 OFFSET 5",
       "FROM t |> DISTINCT |> ORDER BY a DESC |> LIMIT 10 OFFSET 5"},
      {"FROM t |> JOIN u ON x |> CROSS JOIN UNNEST(a) AS b |> LEFT JOIN (c JOIN d ON e) USING (f)"},
      {"FROM t |> CALL UNPACK() AS u |> CALL GAP_FILL(ts_column => 'time') |> CALL a.f(1, (SELECT 2)) x",
       "FROM t |> CALL UNPACK() AS u |> CALL GAP_FILL(ts_column => 'time') |> CALL a.f((SELECT 2), 1) AS x"},
      {"FROM t |> UNION ALL (SELECT 1), (FROM u) |> EXCEPT DISTINCT (SELECT 2)"},
      {"SELECT 1 FROM t LIMIT 1 |> WHERE a"},
      {"(FROM t |> WHERE a) |> WHERE b"},
      {"FROM t |> SELECT SUM(a) OVER w AS s WINDOW w AS (ORDER BY b) |> EXTEND F() OVER v WINDOW v AS "
       "(PARTITION BY c)"},
  });
}

TEST(Printer, PrintsHints) {
  ExpectPrinted({
      {"@{a = 1} SELECT 2"},
      {"SELECT @{a=1,b.c='x'} 2", "@{a = 1, b.c = 'x'} SELECT 2"},
      {"@{a = 1} SELECT (SELECT @{b = 2} 3)"},
      {"EXPLAIN @{a = 1} WITH x AS (SELECT @{hash = 1} 2) FROM x",
       "EXPLAIN @{a = 1} WITH x AS (SELECT @{`hash` = 1} 2) FROM x"},
  });
}

TEST(Printer, PrintsExpressions) {
  ExpectPrinted({
      {"SELECT a OR b AND NOT (c OR d)"},
      {"SELECT (a + b) * c - -d - (-e)"},
      {"SELECT - -a, +~b, -(1)"},
      {"SELECT a NOT LIKE 'x%', b NOT IN (1, 2), c NOT BETWEEN 1 AND 2 AND d, e IS NOT NULL, f IS NOT "
       "DISTINCT FROM g"},
      {"SELECT a IN UNNEST([1]), b IN (SELECT 1), c != d"},
      {"SELECT cf['q'][0].x, a[OFFSET(1)], b[SAFE_KEY(@k)], c[(OFFSET(1))]"},
      {"SELECT CASE WHEN a THEN 1 WHEN b THEN 2 END, CASE a WHEN 1 THEN 2 ELSE 3 END"},
      {"SELECT CAST(a AS ARRAY<STRUCT<x INT64, `y z` STRING, FLOAT64>>), SAFE_CAST(b AS STRING FORMAT 'x' AT "
       "TIME ZONE 'UTC')"},
      {"SELECT CAST(a AS pkg.Message), CAST(a AS `pkg.Message`), CAST(a AS MAP<BYTES, INT64>), CAST(a AS "
       "INTERVAL)"},
      {"SELECT EXTRACT(WEEK(MONDAY) FROM a AT TIME ZONE 'x'), INTERVAL 5 DAY, INTERVAL '1-2' YEAR TO MONTH"},
      {"SELECT [], [1, 2], ARRAY<INT64>[1], ARRAY[3], STRUCT(1 AS a, b), STRUCT<INT64>(1), STRUCT<>(), (1, "
       "2)",
       "SELECT [], [1, 2], ARRAY<INT64>[1], [3], STRUCT(1 AS a, b), STRUCT<INT64>(1), STRUCT<>(), (1, 2)"},
      {"SELECT ARRAY(SELECT 1), EXISTS(SELECT 1), (SELECT 1)"},
      {"SELECT SAFE.F(x), HLL_COUNT.INIT(y), IF(a, b, c), LEFT(d, 1), `SAFE_CAST`(e), COUNT(*), "
       "COUNT(DISTINCT x)"},
      {"SELECT ARRAY_AGG(x IGNORE NULLS HAVING MIN y ORDER BY z DESC LIMIT 3), F(a, b => c), F(b => 1)"},
      {"SELECT F(x -> x + 1, (a, b) -> a, () -> 1, y => z -> z)"},
      {"SELECT SUM(x) OVER (PARTITION BY a, b ORDER BY c ROWS BETWEEN 1 PRECEDING AND UNBOUNDED FOLLOWING), "
       "F() OVER (), G() OVER "
       "w, H() OVER (w ORDER BY z)"},
      {"SELECT TRUE, FALSE, NULL, 0x1F, 1.5e3, 'it\\'s', b'\\xff', DATE '2026-01-01', TIMESTAMP "
       "'2026-01-01', @p, @`p q`"},
      {"SELECT current_date, `current_date`, CURRENT_TIMESTAMP()",
       "SELECT CURRENT_DATE(), `current_date`, CURRENT_TIMESTAMP()"},
      {"SELECT t.select, `select`.`a b`, (1).x, (1.5).y"},
      {"SELECT (a).f(b)", "SELECT F((a), b)"},
  });
}

}  // namespace
}  // namespace sonde::sql
