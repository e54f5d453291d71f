// Transcripts of queries of one table: a query, and the columns and the plan, or the error, that come of it.
#include <gtest/gtest.h>

#include <string_view>

#include "sql/bind/plan_test_support.h"

namespace sonde::sql {
namespace {

// clang-format off
constexpr Transcript kOneTable[] = {
    {R"(SELECT * FROM t)",
     R"(_key BYTES, cf MAP<BYTES, BYTES>, n MAP<BYTES, INT64>
scan t: _key, cf, n
)"},
    {R"(SELECT cf['a'] FROM t)",
     R"($col1 BYTES
scan t: cf[b"a"]
)"},
    {R"(SELECT cf['a'] AS a, cf['a'], cf['b'], _key FROM t WHERE _key = 'x')",
     R"(a BYTES, $col2 BYTES, $col3 BYTES, _key BYTES
project $1, $1, $2, $0
  filter ($0 = b"x")
    scan t: _key, cf[b"a"], cf[b"b"]; keys where ($0 = b"x")
)"},
    {R"(SELECT cf['a'] FROM t WHERE cf['a'] = 'x' AND cf['b'] IS NULL)",
     R"($col1 BYTES
project $0
  filter (($0 = b"x") AND $is_null($1))
    scan t: cf[b"a"], cf[b"b"]; rows with a value
)"},
    {R"(SELECT cf['a'] FROM t WHERE cf['a'] = 'x' OR cf['b'] = 'y')",
     R"($col1 BYTES
project $0
  filter (($0 = b"x") OR ($1 = b"y"))
    scan t: cf[b"a"], cf[b"b"]; rows with a value
)"},
    {R"(SELECT cf['a'] FROM t WHERE cf['a'] IS NULL)",
     R"($col1 BYTES
filter $is_null($0)
  scan t: cf[b"a"]
)"},
    {R"(SELECT cf['a'] FROM t WHERE cf['a'] IS NOT NULL)",
     R"($col1 BYTES
filter $not($is_null($0))
  scan t: cf[b"a"]; rows with a value
)"},
    {R"(SELECT cf['a'] FROM t WHERE NOT (cf['a'] = 'x'))",
     R"($col1 BYTES
filter $not(($0 = b"x"))
  scan t: cf[b"a"]; rows with a value
)"},
    {R"(SELECT cf[_key] FROM t)",
     R"($col1 BYTES
project $map_at($0, $1)
  scan t: cf, _key
)"},
    {R"(SELECT cf.a FROM t)",
     R"(INVALID_ARGUMENT: Cannot access field a on a value with type MAP<BYTES, BYTES> [at 1:11]
)"},
    {R"(SELECT CF['a'], _KEY FROM T)",
     R"(NOT_FOUND: Table not found: T [at 1:27]
)"},
    {R"(SELECT CF['a'], _KEY FROM t)",
     R"($col1 BYTES, _KEY BYTES
scan t: cf[b"a"], _key
)"},
    {R"(SELECT n['x'] + 1 FROM t)",
     R"($col1 INT64
project ($0 + 1)
  scan t: n[b"x"]
)"},
    {R"(SELECT n FROM twins)",
     R"(INVALID_ARGUMENT: Column name n is ambiguous [at 1:8]
)"},
    {R"(SELECT `T-3`._key FROM `T-3`)",
     R"(_key BYTES
scan T-3: _key
)"},
    {R"(SELECT t FROM t)",
     R"(t STRUCT<_key BYTES, cf MAP<BYTES, BYTES>, n MAP<BYTES, INT64>>
project STRUCT($0, $1, $2)
  scan t: _key, cf, n
)"},
    {R"(SELECT COUNT(*) FROM t)",
     R"($col1 INT64
aggregate COUNT()
  scan t: 
)"},
    {R"(SELECT COUNT(cf['a']) FROM t WHERE _key LIKE 'p%')",
     R"($col1 INT64
aggregate COUNT($1)
  filter ($0 LIKE b"p%")
    scan t: _key, cf[b"a"]; keys where ($0 LIKE b"p%")
)"},
    {R"(SELECT MAP_KEYS(cf) FROM t)",
     R"($col1 ARRAY<BYTES>
project MAP_KEYS($0)
  scan t: cf
)"},
    {R"(SELECT _key, COUNT(*) AS c FROM t GROUP BY _key HAVING c > 1 ORDER BY c DESC LIMIT 10)",
     R"(_key BYTES, c INT64
limit 10
  sort by $1 DESC
    filter ($1 > 1)
      aggregate COUNT() by $0
        scan t: _key
)"},
    {R"(SELECT _key FROM t ORDER BY _key LIMIT 5)",
     R"(_key BYTES
limit 5
  scan t: _key
)"},
    {R"(SELECT _key FROM t ORDER BY _key DESC LIMIT @n)",
     R"(_key BYTES
limit @2
  scan t: _key; reversed
)"},
    {R"(SELECT cf['a'] FROM t WHERE _key > 'a' ORDER BY _key DESC LIMIT 5 OFFSET 2)",
     R"($col1 BYTES
project $1
  limit 5 offset 2
    filter ($0 > b"a")
      scan t: _key, cf[b"a"]; keys where ($0 > b"a"); reversed
)"},
    {R"(SELECT _key AS k FROM t ORDER BY k, cf['a'])",
     R"(k BYTES
project $0
  scan t: _key, cf[b"a"]
)"},
    {R"(SELECT cf['a'] AS a FROM t ORDER BY a)",
     R"(a BYTES
sort by $0
  scan t: cf[b"a"]
)"},
    {R"(SELECT cf['a'] AS a FROM t ORDER BY LENGTH(cf['b']))",
     R"(a BYTES
project $1
  sort by $0
    project LENGTH($0), $1
      scan t: cf[b"b"], cf[b"a"]
)"},
    {R"(SELECT WRITE_TIMESTAMP(cf, 'a') FROM t)",
     R"($col1 TIMESTAMP
scan t: time of cf[b"a"]
)"},
    {R"(SELECT WRITE_TIMESTAMP(_key, 'a') FROM t)",
     R"(INVALID_ARGUMENT: The first argument of WRITE_TIMESTAMP must be a column family of a table [at 1:24]
)"},
    {R"(SELECT WRITE_TIMESTAMP(cf, _key) FROM t)",
     R"(INVALID_ARGUMENT: The second argument of WRITE_TIMESTAMP must be a literal qualifier [at 1:28]
)"},
    {R"(SELECT cf FROM t(with_history => TRUE))",
     R"(cf MAP<BYTES, ARRAY<STRUCT<timestamp TIMESTAMP, value BYTES>>>
scan t: cf; with history
)"},
    {R"(SELECT cf['a'][OFFSET(0)].value FROM t(with_history => TRUE, latest_n => 2))",
     R"(value BYTES
project $array_at_offset($0, 0).value
  scan t: cf[b"a"]; with history; latest 2
)"},
    {R"(SELECT cf FROM t(as_of => TIMESTAMP '2020-01-01'))",
     R"(cf MAP<BYTES, BYTES>
scan t: cf; as of TIMESTAMP "2020-01-01 00:00:00+00"
)"},
    {R"(SELECT cf FROM t(as_of => '2020-01-01'))",
     R"(cf MAP<BYTES, BYTES>
scan t: cf; as of TIMESTAMP "2020-01-01 00:00:00+00"
)"},
    {R"(SELECT cf FROM t(as_of => @time))",
     R"(cf MAP<BYTES, BYTES>
scan t: cf; as of @4
)"},
    {R"(SELECT cf FROM t(as_of => 1))",
     R"(INVALID_ARGUMENT: Argument as_of must be of type TIMESTAMP, but is INT64 [at 1:27]
)"},
    {R"(SELECT cf FROM t(as_of => NULL))",
     R"(INVALID_ARGUMENT: Argument as_of must not be NULL [at 1:27]
)"},
    {R"(SELECT cf FROM t(as_of => @time, with_history => TRUE))",
     R"(INVALID_ARGUMENT: Argument as_of cannot be used with with_history => TRUE [at 1:18]
)"},
    {R"(SELECT cf FROM t(latest_n => 1))",
     R"(INVALID_ARGUMENT: Argument latest_n needs with_history => TRUE [at 1:18]
)"},
    {R"(SELECT cf FROM t(with_history => @n))",
     R"(INVALID_ARGUMENT: Argument with_history must be a BOOL literal [at 1:34]
)"},
    {R"(SELECT cf FROM t(with_history => TRUE, after => @time, after_or_equal => @time))",
     R"(INVALID_ARGUMENT: Arguments after and after_or_equal cannot be used together [at 1:18]
)"},
    {R"(SELECT cf FROM t(with_history => TRUE, before => @time, before_or_equal => @time))",
     R"(INVALID_ARGUMENT: Arguments before and before_or_equal cannot be used together [at 1:18]
)"},
    {R"(SELECT cf FROM t(with_history => TRUE, latest_n => -1))",
     R"(INVALID_ARGUMENT: Argument latest_n must not be negative [at 1:18]
)"},
    {R"(SELECT cf FROM t(foo => 1))",
     R"(INVALID_ARGUMENT: Unknown temporal argument: foo [at 1:18]
)"},
    {R"(SELECT cf FROM t(with_history => TRUE, WITH_HISTORY => TRUE))",
     R"(INVALID_ARGUMENT: Argument with_history is given twice [at 1:40]
)"},
    {R"(@{allow_incomplete_view=true} SELECT _key FROM t)",
     R"(_key BYTES
scan t: _key
)"},
    {R"(SELECT _key FROM t @{allow_incomplete_view=true})",
     R"(_key BYTES
scan t: _key
)"},
    {R"(@{foo=true} SELECT _key FROM t)",
     R"(INVALID_ARGUMENT: Unknown hint: foo [at 1:3]
)"},
    {R"(SELECT * FROM UNPACK((SELECT _key, cf['a'] AS a FROM t(with_history => TRUE) WHERE _key = 'x')) WHERE _timestamp >= '2020-01-01' AND a = 'y')",
     R"(_key BYTES, a BYTES, _timestamp TIMESTAMP
filter (($2 >= TIMESTAMP "2020-01-01 00:00:00+00") AND ($1 = b"y"))
  unpack $1
    filter ($0 = b"x")
      scan t: _key, cf[b"a"]; with history; keys where ($0 = b"x"); times where ($0 >= TIMESTAMP "2020-01-01 00:00:00+00"); rows with a value
)"},
    {R"(SELECT cf['a'], _timestamp FROM UNPACK((SELECT cf FROM t(with_history => TRUE))))",
     R"($col1 BYTES, _timestamp TIMESTAMP
project $map_at($0, b"a"), $1
  unpack $0
    scan t: cf; with history; rows with a value
)"},
    {R"(SELECT * FROM UNPACK((SELECT _key FROM t)))",
     R"(INVALID_ARGUMENT: UNPACK needs a column with history, of a table with with_history => TRUE [at 1:15]
)"},
    {R"(SELECT u.a FROM UNPACK((SELECT cf['a'] AS a FROM t(with_history => TRUE))) AS u)",
     R"(a BYTES
project $0
  unpack $0
    scan t: cf[b"a"]; with history; rows with a value
)"},
    {R"(FROM t(with_history => TRUE) |> SELECT cf['a'] AS a, _key |> CALL UNPACK() |> WHERE _timestamp < @time AND _key > 'k' |> AGGREGATE COUNT(*) AS c GROUP BY a)",
     R"(a BYTES, c INT64
aggregate COUNT() by $1
  filter ($2 < @4)
    unpack $1
      filter ($0 > b"k")
        scan t: _key, cf[b"a"]; with history; keys where ($0 > b"k"); times where ($0 < @4); rows with a value
)"},
};
// clang-format on

TEST(Tables, AreRelations) {
  for (const Transcript& one : kOneTable) EXPECT_EQ(Planned(one.query, FakeOptions()), one.plan) << one.query;
}

}  // namespace
}  // namespace sonde::sql
