#include "sql/bind/binder.h"

#include <gtest/gtest.h>

#include "absl/status/statusor.h"
#include "sql/bind/plan_test_support.h"

namespace sonde::sql {
namespace {

// clang-format off
// With --sql-dialect=production.
constexpr Transcript kProduction[] = {
    {R"(SELECT _key, cf['a'] FROM t WHERE _key > 'a' ORDER BY _key LIMIT 5)",
     R"(_key BYTES, $col2 BYTES
limit 5
  filter ($0 > b"a")
    scan t: _key, cf[b"a"]; keys where ($0 > b"a")
)"},
    {R"(SELECT e FROM t, UNNEST(MAP_KEYS(cf)) AS e)",
     R"(e BYTES
project $1
  unnest MAP_KEYS($0)
    scan t: cf
)"},
    {R"(SELECT COUNT(*) AS c FROM UNPACK((SELECT cf['a'] AS a FROM t(with_history => TRUE))) GROUP BY a)",
     R"(c INT64
project $1
  aggregate COUNT() by $0
    unpack $0
      scan t: cf[b"a"]; with history; rows with a value
)"},
    {R"(FROM t |> WHERE _key = 'a' |> SELECT _key)",
     R"(_key BYTES
filter ($0 = b"a")
  scan t: _key; keys where ($0 = b"a")
)"},
    {R"(WITH w AS (SELECT 1) SELECT * FROM w)",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: WITH [at 1:6]
)"},
    {R"(SELECT * FROM (SELECT _key FROM t))",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: a subquery in FROM [at 1:15]
)"},
    {R"(SELECT (SELECT 1))",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: scalar subquery [at 1:8]
)"},
    {R"(SELECT _key FROM t WHERE _key IN (SELECT _key FROM u))",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: IN subquery [at 1:26]
)"},
    {R"(SELECT _key FROM t WHERE EXISTS (SELECT 1))",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: EXISTS subquery [at 1:26]
)"},
    {R"(SELECT ARRAY(SELECT 1))",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: ARRAY subquery [at 1:8]
)"},
    {R"(SELECT t._key FROM t JOIN u ON t._key = u._key)",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: INNER JOIN [at 1:27]
)"},
    {R"(SELECT LAST(_key, _key) FROM t)",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: LAST [at 1:8]
)"},
    {R"(SELECT DELTA(1) OVER (ORDER BY _key) FROM t)",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: DELTA [at 1:8]
)"},
    {R"(SELECT PERCENTILE_CONT(1, 0.5) FROM t)",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: this form of PERCENTILE_CONT [at 1:8]
)"},
    {R"(SELECT TIME_BUCKET(INTERVAL 1 HOUR, TIMESTAMP_SECONDS(1)))",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: TIME_BUCKET [at 1:8]
)"},
    {R"(SELECT TIMESTAMP_BUCKET(TIMESTAMP_SECONDS(1), INTERVAL 1 HOUR, time_zone => 'UTC'))",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: this form of TIMESTAMP_BUCKET [at 1:8]
)"},
    {R"(SELECT t._key FROM t, u)",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: comma join [at 1:23]
)"},
    {R"(SELECT _key FROM t UNION ALL SELECT _key FROM u)",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: UNION ALL [at 1:1]
)"},
    {R"(SELECT DISTINCT _key FROM t)",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: SELECT DISTINCT [at 1:1]
)"},
    {R"(SELECT COUNT(*) FROM t HAVING COUNT(*) > 1)",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: HAVING [at 1:31]
)"},
    {R"(SELECT COUNT(*) FROM t GROUP BY ROLLUP(cf['a']))",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: ROLLUP [at 1:33]
)"},
    {R"(SELECT COUNT(*) FROM t GROUP BY cf['b'], GROUPING SETS(cf['a'], ()))",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: GROUPING SETS [at 1:42]
)"},
    {R"(SELECT COUNT(*) FROM t GROUP BY ())",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: GROUP BY () [at 1:33]
)"},
    {R"(SELECT GROUPING(cf['a']) FROM t GROUP BY cf['a'])",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: GROUPING [at 1:8]
)"},
    {R"(EXPLAIN SELECT 1)",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: EXPLAIN [at 1:1]
)"},
    {R"(FROM t |> SELECT _key |> UNION ALL (SELECT _key FROM u))",
     R"(UNIMPLEMENTED: Not in the language of Bigtable: UNION ALL [at 1:23]
)"},
};

constexpr Transcript kNumbers[] = {
    {R"(SELECT TO_INT64(cf['a']) FROM t WHERE TO_INT64(cf['a']) > 5)",
     R"($col1 INT64
project COALESCE($0, TO_INT64($1))
  filter (COALESCE($0, TO_INT64($1)) > 5)
    scan t: INT64 of big-endian integer in cf[b"a"], cf[b"a"] otherwise; rows with a value
)"},
    {R"(SELECT TO_INT64(cf['a']), cf['a'] FROM t)",
     R"($col1 INT64, $col2 BYTES
project TO_INT64($0), $0
  scan t: cf[b"a"]
)"},
    {R"(SELECT TO_INT64(cf['a']), cf FROM t)",
     R"($col1 INT64, cf MAP<BYTES, BYTES>
project TO_INT64($0), $1
  scan t: cf[b"a"], cf
)"},
    // Texts of numbers do not come back from numbers byte by byte, so that INT64 is read as text.
    {R"(SELECT CAST(CAST(cf['b'] AS STRING) AS INT64) FROM t)",
     R"($col1 INT64
project CAST(CAST($0 AS STRING) AS INT64)
  scan t: cf[b"b"]
)"},
    {R"(SELECT SUM(TO_INT64(a)) FROM UNPACK((SELECT cf['a'] AS a, cf['b'] AS b FROM t(with_history => TRUE))))",
     R"($col1 INT64
aggregate SUM(COALESCE($0, TO_INT64($1)))
  unpack $0, $1, $2, $3
    scan t: ARRAY<STRUCT<timestamp TIMESTAMP, value INT64>> of big-endian integer in cf[b"a"], cf[b"a"] otherwise, ARRAY<STRUCT<timestamp TIMESTAMP, value INT64>> of big-endian integer in cf[b"b"], cf[b"b"] otherwise; with history; rows with a value
)"},
};
// clang-format on

TEST(Binder, RefusesExtensionsInTheLanguageOfProduction) {
  BindOptions options = FakeOptions();
  options.dialect = Dialect::kProduction;
  for (const Transcript& one : kProduction) EXPECT_EQ(Planned(one.query, options), one.plan) << one.query;
}

TEST(Binder, ReadsCellsAsNumbersWhereNothingElseReadsThem) {
  for (const Transcript& one : kNumbers) EXPECT_EQ(Planned(one.query, FakeOptions()), one.plan) << one.query;
}

TEST(Binder, NamesTheTablesOfAQueryOnce) {
  const absl::StatusOr<BoundQuery> query =
      ParseAndBind("SELECT 1 FROM t, u, t AS again WHERE EXISTS (SELECT * FROM u)", FakeOptions());
  ASSERT_TRUE(query.ok()) << query.status();
  EXPECT_EQ(query->tables.size(), 2u);
}

}  // namespace
}  // namespace sonde::sql
