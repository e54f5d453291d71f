// Transcripts of grouping, pipes and expressions: a query, and the columns and the plan, or the error, that come of it.
#include <gtest/gtest.h>

#include <string_view>

#include "sql/bind/plan_test_support.h"

namespace sonde::sql {
namespace {

// clang-format off
constexpr Transcript kClauses[] = {
    {R"(SELECT cf['a'], SUM(n['x']) FROM t GROUP BY cf['a'] ORDER BY 2 DESC)",
     R"($col1 BYTES, $col2 INT64
sort by $1 DESC
  aggregate SUM($1) by $0
    scan t: cf[b"a"], n[b"x"]
)"},
    {R"(SELECT cf['a'] FROM t GROUP BY cf['b'])",
     R"(INVALID_ARGUMENT: SELECT list expression references column cf which is neither grouped nor aggregated [at 1:8]
)"},
    {R"(SELECT cf, COUNT(*) FROM t GROUP BY cf)",
     R"(INVALID_ARGUMENT: Grouping by expressions of type MAP<BYTES, BYTES> is not allowed [at 1:37]
)"},
    {R"(SELECT DISTINCT cf['a'] FROM t ORDER BY 1)",
     R"($col1 BYTES
sort by $0
  aggregate by $0
    scan t: cf[b"a"]
)"},
    {R"(SELECT _key FROM t WHERE _key IN UNNEST(@ks))",
     R"(_key BYTES
filter $in_array($0, @3)
  scan t: _key; keys where $in_array($0, @3)
)"},
    {R"(SELECT _key FROM t WHERE _key = @s)",
     R"(INVALID_ARGUMENT: No matching signature for operator = for argument types: BYTES, STRING [at 1:26]
)"},
    {R"(SELECT _key FROM t WHERE CAST(_key AS STRING) = 'a' AND SPLIT(_key, '#')[OFFSET(0)] = 'x')",
     R"(_key BYTES
filter ((CAST($0 AS STRING) = "a") AND ($array_at_offset(SPLIT($0, b"#"), 0) = b"x"))
  scan t: _key; keys where (CAST($0 AS STRING) = "a"), ($array_at_offset(SPLIT($0, b"#"), 0) = b"x")
)"},
    {R"(SELECT * FROM (SELECT cf FROM t) WHERE cf['x'] = 'y')",
     R"(cf MAP<BYTES, BYTES>
project $1
  filter ($0 = b"y")
    scan t: cf[b"x"], cf; rows with a value
)"},
    {R"(SELECT a FROM (SELECT cf['x'] AS a, cf['z'] FROM t) WHERE a = 'y')",
     R"(a BYTES
filter ($0 = b"y")
  scan t: cf[b"x"]; rows with a value
)"},
    {R"(SELECT ARRAY_FILTER(MAP_KEYS(cf), q -> q > _key) FROM t)",
     R"($col1 ARRAY<BYTES>
project ARRAY_FILTER(MAP_KEYS($0), ($2) -> ($2 > $1))
  scan t: cf, _key
)"},
    {R"(SELECT ARRAY_TRANSFORM([1, 2], e -> e + n['x']) FROM t)",
     R"($col1 ARRAY<INT64>
project ARRAY_TRANSFORM([1, 2], ($1) -> ($1 + $0))
  scan t: n[b"x"]
)"},
    {R"(SELECT ARRAY_TRANSFORM([1, 2], e -> (SELECT COUNT(*) FROM u WHERE u.n['c'] = e + t.n['x'])) FROM t)",
     R"($col1 ARRAY<INT64>
project ARRAY_TRANSFORM([1, 2], ($1) -> (query))
  subquery for each row
    aggregate COUNT()
      filter ($0 = ($^.1 + $^.0))
        scan u: n[b"c"]; rows with a value
  scan t: n[b"x"]
)"},
    {R"(SELECT ST_AREA(_key) FROM t)",
     R"(UNIMPLEMENTED: Function ST_AREA is not built
)"},
    {R"(SELECT CAST(cf['a'] AS `bundle.pkg.Message`) FROM t)",
     R"(INVALID_ARGUMENT: Type not found: bundle.pkg.Message [at 1:24]
)"},
    {R"(SELECT _key FROM missing)",
     R"(NOT_FOUND: Table not found: missing [at 1:18]
)"},
    {R"(SELECT _key FROM series.x)",
     R"(NOT_FOUND: Series not found: x [at 1:18]
)"},
    {R"(SELECT STRING_AGG(CAST(_key AS STRING), ',' ORDER BY _key LIMIT 2) FROM t)",
     R"($col1 STRING
aggregate STRING_AGG(CAST($0 AS STRING), "," ORDER BY $0 LIMIT 2)
  scan t: _key
)"},
    {R"(SELECT IF(_key = 'a', cf['b'], cf['c']), CASE _key WHEN 'a' THEN 1 ELSE 2 END FROM t)",
     R"($col1 BYTES, $col2 INT64
project IF(($0 = b"a"), $1, $2), CASE WHEN ($0 = b"a") THEN 1 ELSE 2 END
  scan t: _key, cf[b"b"], cf[b"c"]
)"},
    {R"(EXPLAIN SELECT _key FROM t)",
     R"(plan STRING
scan t: _key
)"},
    {R"(SELECT 1 AS value)",
     R"(value INT64
project 1
  single row
)"},
    {R"(SELECT TO_INT64(cf['a']) FROM t WHERE TO_INT64(cf['a']) > 5)",
     R"($col1 INT64
project COALESCE($0, TO_INT64($1))
  filter (COALESCE($0, TO_INT64($1)) > 5)
    scan t: INT64 of big-endian integer in cf[b"a"], cf[b"a"] otherwise; rows with a value
)"},
    {R"(SELECT * EXCEPT (cf), 1 FROM t)",
     R"(_key BYTES, n MAP<BYTES, INT64>, $col3 INT64
project $0, $1, 1
  scan t: _key, n
)"},
    {R"(SELECT x.* FROM t AS x)",
     R"(_key BYTES, cf MAP<BYTES, BYTES>, n MAP<BYTES, INT64>
scan t: _key, cf, n
)"},
    {R"(SELECT SUM(n['x']) / COUNT(*) AS m, _key FROM t GROUP BY _key ORDER BY m)",
     R"(m FLOAT64, _key BYTES
sort by $0
  project (CAST($1 AS FLOAT64) / CAST($2 AS FLOAT64)), $0
    aggregate SUM($1), COUNT() by $0
      scan t: _key, n[b"x"]
)"},
    {R"(SELECT SUM(SUM(n['x'])) OVER (ORDER BY _key) FROM t GROUP BY _key)",
     R"($col1 INT64
project $2
  window SUM($1) RANGE UNBOUNDED PRECEDING TO CURRENT ROW in order of $0
    aggregate SUM($1) by $0
      scan t: _key, n[b"x"]
)"},
    {R"(FROM t |> EXTEND cf['a'] AS a |> SET a = UPPER(a) |> RENAME a AS b |> DROP cf, n |> WHERE b = 'X' |> ORDER BY _key |> LIMIT 3)",
     R"(_key BYTES, b BYTES
project $1, $0
  limit 3
    filter ($0 = b"X")
      project UPPER($0), $1
        scan t: cf[b"a"], _key
)"},
    {R"(FROM t |> SELECT _key |> DISTINCT |> AS q |> SELECT q._key)",
     R"(_key BYTES
aggregate by $0
  scan t: _key
)"},
    {R"(SELECT _key FROM t FULL JOIN u USING (_key))",
     R"(_key BYTES
project COALESCE($0, $1)
  full join on ($0 = $1)
    scan t: _key
    scan u: _key
)"},
    {R"(SELECT _key FROM t INTERSECT DISTINCT SELECT _key FROM u)",
     R"(_key BYTES
intersect distinct
  scan t: _key
  scan u: _key
)"},
    {R"(SELECT 1 + 2 * 3, 1 / 0, [1, 2][OFFSET(5)], 'a' || 'b', CURRENT_DATE() IS NULL, RAND() < 2)",
     R"($col1 INT64, $col2 FLOAT64, $col3 INT64, $col4 STRING, $col5 BOOL, $col6 BOOL
project 7, (1 / 0), $array_at_offset([1, 2], 5), "ab", $is_null(CURRENT_DATE()), (RAND() < 2)
  single row
)"},
    {R"(SELECT x FROM UNNEST([3, 1, 2]) AS x WHERE x > @n ORDER BY x DESC LIMIT 2)",
     R"(x INT64
limit 2
  sort by $0 DESC
    filter ($0 > @2)
      unnest [3, 1, 2]
        single row
)"},
    {R"(SELECT * FROM UNNEST([STRUCT(1 AS a, 'x' AS b), (2, 'y')]) AS s WITH OFFSET AS o WHERE a = 1)",
     R"(a INT64, b STRING, o INT64
project $0.a, $0.b, $1
  filter ($0.a = 1)
    unnest [(1, "x"), (2, "y")] with offset
      single row
)"},
    {R"(SELECT ANY_VALUE(cf['a'] HAVING MAX n['t']), ARRAY_AGG(DISTINCT cf['b'] IGNORE NULLS ORDER BY cf['b'] DESC LIMIT 3) FROM t)",
     R"($col1 BYTES, $col2 ARRAY<BYTES>
aggregate ANY_VALUE($0 HAVING MAX $1), ARRAY_AGG(DISTINCT $2 IGNORE NULLS ORDER BY $2 DESC LIMIT 3)
  scan t: cf[b"a"], n[b"t"], cf[b"b"]
)"},
    {R"(SELECT APPROX_QUANTILES(n['x'], 4)[OFFSET(2)] FROM t GROUP BY ALL)",
     R"($col1 INT64
project $array_at_offset($0, 2)
  aggregate APPROX_QUANTILES($0, 4)
    scan t: n[b"x"]; rows with a value
)"},
    {R"(SELECT cf['a'] AS a, COUNT(*) FROM t GROUP BY ROLLUP(a))",
     R"(a BYTES, $col2 INT64
project $0, $2
  aggregate COUNT() by IF($1.1, $0, NULL), $1.0
    unnest [(0, true), (1, false)]
      scan t: cf[b"a"]
)"},
    {R"(SELECT EXTRACT(YEAR FROM TIMESTAMP_MICROS(n['t']) AT TIME ZONE 'Europe/Rome') AS y, COUNT(*) FROM t GROUP BY y)",
     R"(y INT64, $col2 INT64
aggregate COUNT() by $extract("YEAR", TIMESTAMP_MICROS($0), "Europe/Rome")
  scan t: n[b"t"]
)"},
    {R"(SELECT _key FROM t WHERE cf['a'] IN ('x', 'y') AND cf['b'] BETWEEN 'a' AND 'c' AND cf['c'] LIKE 'p%')",
     R"(_key BYTES
project $3
  filter ($in($0, b"x", b"y") AND $between($1, b"a", b"c") AND ($2 LIKE b"p%"))
    scan t: cf[b"a"], cf[b"b"], cf[b"c"], _key; rows with a value
)"},
    {R"(SELECT _key FROM (SELECT _key, ROW_NUMBER() OVER (ORDER BY cf['a']) AS r FROM t) WHERE r < 5)",
     R"(_key BYTES
project $1
  filter ($2 < 5)
    window ROW_NUMBER() RANGE UNBOUNDED PRECEDING TO CURRENT ROW in order of $0
      scan t: cf[b"a"], _key
)"},
    {R"(SELECT _key FROM (SELECT _key FROM t ORDER BY cf['a'] LIMIT 10) WHERE _key > 'a')",
     R"(_key BYTES
project $1
  filter ($1 > b"a")
    limit 10
      sort by $0
        scan t: cf[b"a"], _key
)"},
    {R"(SELECT a, c FROM (SELECT cf['a'] AS a, COUNT(*) AS c FROM t GROUP BY cf['a']) WHERE a = 'x' AND c > 1)",
     R"(a BYTES, c INT64
filter ($1 > 1)
  aggregate COUNT() by $0
    filter ($0 = b"x")
      scan t: cf[b"a"]; rows with a value
)"},
    {R"(SELECT (SELECT (SELECT t.cf['a'] FROM u LIMIT 1) FROM u LIMIT 1) FROM t)",
     R"($col1 BYTES
project (query)
  subquery for each row
    limit 1
      project (query)
        subquery
          limit 1
            project $^.0
              scan u: 
        scan u: 
  scan t: cf[b"a"]
)"},
};
// clang-format on

TEST(Clauses, AreBound) {
  for (const Transcript& one : kClauses) EXPECT_EQ(Planned(one.query, FakeOptions()), one.plan) << one.query;
}

}  // namespace
}  // namespace sonde::sql
