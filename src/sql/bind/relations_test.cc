// Transcripts of arrays, windows, joins and subqueries: a query, and the columns and the plan, or the error, that come of it.
#include <gtest/gtest.h>

#include <string_view>

#include "sql/bind/plan_test_support.h"

namespace sonde::sql {
namespace {

// clang-format off
constexpr Transcript kRelations[] = {
    {R"(SELECT e FROM t, UNNEST(MAP_KEYS(cf)) AS e WITH OFFSET WHERE _key = @k AND offset > 1)",
     R"(e BYTES
project $2
  filter ($3 > 1)
    unnest MAP_KEYS($1) with offset
      filter ($0 = @0)
        scan t: _key, cf; keys where ($0 = @0)
)"},
    {R"(SELECT e FROM t CROSS JOIN UNNEST(SPLIT(_key, '#')) AS e)",
     R"(e BYTES
project $1
  unnest SPLIT($0, b"#")
    scan t: _key
)"},
    {R"(SELECT e FROM t LEFT JOIN UNNEST(SPLIT(_key, '#')) AS e)",
     R"(e BYTES
project $1
  unnest outer SPLIT($0, b"#")
    scan t: _key
)"},
    {R"(SELECT e FROM t LEFT JOIN UNNEST(SPLIT(_key, '#')) AS e ON e = 'x')",
     R"(e BYTES
project $1.0
  unnest outer ARRAY(query)
    subquery for each row
      project STRUCT($0)
        filter ($0 = b"x")
          unnest SPLIT($^.0, b"#")
            single row
    scan t: _key
)"},
    {R"(SELECT e FROM t JOIN UNNEST(SPLIT(_key, '#')) AS e ON e = 'x')",
     R"(e BYTES
project $1
  filter ($1 = b"x")
    unnest SPLIT($0, b"#")
      scan t: _key
)"},
    {R"(SELECT h.value FROM t(with_history => TRUE) AS x, x.cf['a'] AS h)",
     R"(INVALID_ARGUMENT: Syntax error: Array element access is not allowed in the FROM clause without UNNEST; Use UNNEST(<expression>) [at 1:55]
)"},
    {R"(SELECT h.value FROM t(with_history => TRUE) AS x, UNNEST(x.cf['a']) AS h)",
     R"(value BYTES
project $1.value
  unnest $0
    scan t: cf[b"a"]; with history
)"},
    {R"(SELECT ROW_NUMBER() OVER (PARTITION BY cf['a'] ORDER BY _key) AS r FROM t QUALIFY r = 1)",
     R"(r INT64
project $2
  filter ($2 = 1)
    window ROW_NUMBER() RANGE UNBOUNDED PRECEDING TO CURRENT ROW partitions by $0 in order of $1
      scan t: cf[b"a"], _key
)"},
    {R"(SELECT SUM(n['x']) OVER (ORDER BY n['t'] RANGE BETWEEN 5 PRECEDING AND CURRENT ROW), SUM(n['x']) OVER (ORDER BY n['t'] ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM t)",
     R"($col1 INT64, $col2 INT64
project $2, $3
  window SUM($0) RANGE 5 PRECEDING TO CURRENT ROW, SUM($0) ROWS 1 PRECEDING TO 1 FOLLOWING in order of $1
    scan t: n[b"x"], n[b"t"]
)"},
    {R"(SELECT COUNT(*) OVER (ORDER BY TIMESTAMP_MICROS(n['t']) RANGE BETWEEN INTERVAL 5 MINUTE PRECEDING AND CURRENT ROW) FROM t)",
     R"($col1 INT64
project $1
  window COUNT() RANGE INTERVAL 5 MINUTE PRECEDING TO CURRENT ROW in order of TIMESTAMP_MICROS($0)
    scan t: n[b"t"]
)"},
    {R"(SELECT t.cf['a'], u.cf['b'] FROM t JOIN u ON t._key = u._key WHERE t._key > 'a' AND u.cf['b'] = 'x')",
     R"($col1 BYTES, $col2 BYTES
project $1, $2
  inner join on ($0 = $3)
    filter ($0 > b"a")
      scan t: _key, cf[b"a"]; keys where ($0 > b"a")
    filter ($0 = b"x")
      scan u: cf[b"b"], _key; rows with a value
)"},
    {R"(SELECT t.cf['a'] FROM t, u WHERE t._key = u._key)",
     R"($col1 BYTES
project $1
  inner join on ($0 = $2)
    scan t: _key, cf[b"a"]
    scan u: _key
)"},
    {R"(SELECT _key FROM t JOIN u USING (_key))",
     R"(_key BYTES
project $0
  inner join on ($0 = $1)
    scan t: _key
    scan u: _key
)"},
    {R"(SELECT * FROM t LEFT JOIN u ON t._key = u._key AND u.cf['x'] = 'y' WHERE t._key = 'k')",
     R"(_key BYTES, cf MAP<BYTES, BYTES>, n MAP<BYTES, INT64>, _key BYTES, cf MAP<BYTES, BYTES>, n MAP<BYTES, INT64>
project $0, $1, $2, $3, $5, $6
  left join on (($0 = $3) AND ($4 = b"y"))
    filter ($0 = b"k")
      scan t: _key, cf, n; keys where ($0 = b"k")
    scan u: _key, cf[b"x"], cf, n
)"},
    {R"(SELECT a._key FROM t AS a ASOF JOIN u AS b ON a.cf['s'] = b.cf['s'] AND a._key >= b._key)",
     R"(_key BYTES
project $1
  as-of inner join on (($0 = $3) AND ($1 >= $2)), nearest by $2 DESC
    scan t: cf[b"s"], _key
    scan u: _key, cf[b"s"]
)"},
    {R"(SELECT _key FROM t UNION ALL SELECT cf['a'] FROM u)",
     R"(_key BYTES
union
  scan t: _key
  scan u: cf[b"a"]
)"},
    {R"(SELECT _key FROM t UNION DISTINCT SELECT cf['a'] FROM u ORDER BY _key LIMIT 1)",
     R"(_key BYTES
limit 1
  sort by $0
    aggregate by $0
      union
        scan t: _key
        scan u: cf[b"a"]
)"},
    {R"(SELECT _key FROM t EXCEPT DISTINCT SELECT _key FROM u)",
     R"(_key BYTES
except distinct
  scan t: _key
  scan u: _key
)"},
    {R"(SELECT _key FROM t WHERE _key IN (SELECT cf['k'] FROM u))",
     R"(_key BYTES
filter ($0 IN (query))
  subquery
    scan u: cf[b"k"]
  scan t: _key
)"},
    {R"(SELECT _key FROM t WHERE EXISTS (SELECT * FROM u WHERE u._key = t.cf['k']))",
     R"(_key BYTES
project $1
  filter EXISTS(query)
    subquery for each row
      filter ($0 = $^.0)
        scan u: _key
    scan t: cf[b"k"], _key
)"},
    {R"(SELECT (SELECT MAX(u._key) FROM u WHERE u.cf['k'] = t.cf['k']) FROM t)",
     R"($col1 BYTES
project (query)
  subquery for each row
    aggregate MAX($1)
      filter ($0 = $^.0)
        scan u: cf[b"k"], _key; rows with a value
  scan t: cf[b"k"]
)"},
    {R"(WITH w AS (SELECT _key, cf['a'] AS a FROM t) SELECT x.a FROM w AS x, w AS y WHERE x._key = y._key)",
     R"(a BYTES
project $1
  inner join on ($0 = $2)
    scan t: _key, cf[b"a"]
    scan t: _key
)"},
};
// clang-format on

TEST(Relations, AreJoined) {
  for (const Transcript& one : kRelations)
    EXPECT_EQ(Planned(one.query, FakeOptions()), one.plan) << one.query;
}

}  // namespace
}  // namespace sonde::sql
