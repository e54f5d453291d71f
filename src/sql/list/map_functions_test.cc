#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/types/span.h"
#include "model/datum.h"
#include "sql/list/map_lookup.h"
#include "sql/testing/test_expression.h"

namespace sonde::sql {
namespace {

TEST(Map, IsAskedFor) {
  ExpectAll({
      {"MAP_FROM_ARRAY([('a',1),('b',2)])", R"(MAP<STRING, INT64>: {"a": 1, "b": 2})"},
      {"MAP_FROM_ARRAY([('a',1),('a',2)])",
       R"(OUT_OF_RANGE: Duplicate map keys are not allowed, but got multiple instances of key: "a")"},
      {"MAP_KEYS_SORTED(MAP_FROM_ARRAY([('b',1),('a',2)]))", R"(ARRAY<STRING>: ["a", "b"])"},
      {"MAP_VALUES_SORTED(MAP_FROM_ARRAY([('b',1),('a',2)]))", "ARRAY<INT64>: [1, 2]"},
      {"MAP_ENTRIES_SORTED(MAP_FROM_ARRAY([('b',1),('a',2)]))",
       R"(ARRAY<STRUCT<key STRING, value INT64>>: [("a", 2), ("b", 1)])"},
      {"MAP_VALUES_SORTED_BY_KEY(MAP_FROM_ARRAY([('b',1),('a',2)]))", "ARRAY<INT64>: [2, 1]"},
      {"MAP_CONTAINS_KEY(MAP_FROM_ARRAY([('b',1),('a',2)]), 'a')", "BOOL: true"},
      {"MAP_CONTAINS_KEY(MAP_FROM_ARRAY([('b',1),('a',2)]), NULL)", "BOOL: false"},
      {"MAP_CARDINALITY(MAP_FROM_ARRAY([('b',1),('a',2)]))", "INT64: 2"},
      {"MAP_EMPTY(MAP_FROM_ARRAY([('b',1),('a',2)]))", "BOOL: false"},
      {"MAP_SUBSCRIPT(MAP_FROM_ARRAY([('b',1),('a',2)]), 'a')",
       "INVALID_ARGUMENT: Function not found: MAP_SUBSCRIPT"},
      {"MAP_GET(MAP_FROM_ARRAY([('b',1),('a',2)]), 'a', 5)", "INT64: 2"},
      {"MAP_DELETE(MAP_FROM_ARRAY([('b',1),('a',2)]), 'a')", R"(MAP<STRING, INT64>: {"b": 1})"},
      {"MAP_FILTER(MAP_FROM_ARRAY([('b',1),('a',2)]), (k, v) -> v > 1)", R"(MAP<STRING, INT64>: {"a": 2})"},
      {"MAP_FROM_ARRAY([('b',1),('a',2)])['a']", "INT64: 2"},
      {"MAP_GET(MAP_FROM_ARRAY([('b',1),('a',2)]), 'z', 5)", "INT64: 5"},
      {"MAP_GET(MAP_FROM_ARRAY([('b',1),('a',2)]), 'z')", "INT64: NULL"},
      {"MAP_GET(MAP_FROM_ARRAY([('b',1),('a',NULL)]), 'a', 5)", "INT64: NULL"},
      {"MAP_GET(MAP_FROM_ARRAY([('b',1),('a',2)]), NULL, 5)", "INT64: 5"},
      {"MAP_GET(CAST(NULL AS MAP<STRING, INT64>), 'a', 5)", "INT64: NULL"},
      {"MAP_CONTAINS_KEY(CAST(NULL AS MAP<STRING, INT64>), 'a')", "BOOL: NULL"},
      {"MAP_EMPTY(CAST(NULL AS MAP<STRING, INT64>))", "BOOL: NULL"},
      {"MAP_KEYS_SORTED(CAST(NULL AS MAP<STRING, INT64>))", "ARRAY<STRING>: NULL"},
      {"MAP_CARDINALITY(CAST(NULL AS MAP<STRING, INT64>))", "INT64: NULL"},
      {"MAP_DELETE(MAP_FROM_ARRAY([('b',1),('a',2)]), 'z', 'b')", R"(MAP<STRING, INT64>: {"a": 2})"},
      {"MAP_DELETE(MAP_FROM_ARRAY([('b',1),('a',2)]), NULL)", R"(MAP<STRING, INT64>: {"a": 2, "b": 1})"},
      {"MAP_VALUES_SORTED(MAP_FROM_ARRAY([('b',NULL),('a',2)]))", "ARRAY<INT64>: [NULL, 2]"},
      {"MAP_FROM_ARRAY([(2,1),(2,2)])",
       "OUT_OF_RANGE: Duplicate map keys are not allowed, but got multiple instances of key: 2"},
      {"MAP_FROM_ARRAY([(DATE '2020-01-01', 1), (DATE '2020-01-01', 2)])",
       "OUT_OF_RANGE: Duplicate map keys are not allowed, but got multiple instances of key: 2020-01-01"},
      {"MAP_FROM_ARRAY(ARRAY<STRUCT<FLOAT64, INT64> >[(1.5, 3)])", "MAP<FLOAT64, INT64>: {1.5: 3}"},
      {"MAP_FROM_ARRAY(ARRAY<STRUCT<value FLOAT64, key INT64> >[(1.5, 3)])", "MAP<FLOAT64, INT64>: {1.5: 3}"},
      {"MAP_FROM_ARRAY([(b'b',1.5),(b'a',NULL)])", R"(MAP<BYTES, FLOAT64>: {b"a": NULL, b"b": 1.5})"},
  });
}

TEST(Map, TellsTheFirstKeyThatComesAgain) {
  const auto repeated = [](std::string_view key) {
    return fmt::format(
        "OUT_OF_RANGE: Duplicate map keys are not allowed, but got multiple instances of key: {}", key);
  };
  const auto expect = [&](const std::string& expression, std::string_view key) {
    EXPECT_EQ(Evaluated(expression), repeated(key)) << expression;
  };
  expect("MAP_FROM_ARRAY([(TRUE, 1), (TRUE, 2), (FALSE, 3), (FALSE, 4)])", "true");
  expect("MAP_FROM_ARRAY([(1, 1), (2, 1), (3, 2), (3, 3), (2, 2), (1, 2)])", "3");
  expect("MAP_FROM_ARRAY([(0.0, 1), (-0.0, 2)])", "-0");
  expect(
      "MAP_FROM_ARRAY([STRUCT(STRUCT('a' AS x, DATE '2020-01-01' AS y) AS key, 1 AS value), "
      "(STRUCT('a', DATE '2020-01-01'), 2)])",
      R"({"a", 2020-01-01})");
  expect("MAP_FROM_ARRAY([STRUCT(['a', NULL] AS key, 1 AS value), (['a', NULL], 2)])",
         R"(ARRAY<STRING>["a", NULL])");
  expect(
      "MAP_FROM_ARRAY([STRUCT(CAST(NULL AS ARRAY<INT64>) AS key, 1 AS value), (CAST(NULL AS ARRAY<INT64>), "
      "2)])",
      "ARRAY<INT64>(NULL)");
}

// Bigtable's names; GoogleSQL has those with SORTED.
TEST(Map, HasKeysValuesAndEntries) {
  ExpectAll({
      {"MAP_KEYS(MAP_FROM_ARRAY([(b'b', 1), (b'a', 2)]))", R"(ARRAY<BYTES>: [b"a", b"b"])"},
      {"MAP_VALUES(MAP_FROM_ARRAY([(b'b', 1), (b'a', NULL)]))", "ARRAY<INT64>: [NULL, 1]"},
      {"MAP_ENTRIES(MAP_FROM_ARRAY([(b'b', 1), (b'a', 2)]))",
       R"(ARRAY<STRUCT<key BYTES, value INT64>>: [(b"a", 2), (b"b", 1)])"},
      {"MAP_EMPTY(MAP_DELETE(MAP_FROM_ARRAY([('a', 1)]), 'a'))", "BOOL: true"},
      {"MAP_KEYS(MAP_DELETE(MAP_FROM_ARRAY([('a', 1)]), 'a'))", "ARRAY<STRING>: []"},
      {"MAP_ENTRIES(MAP_DELETE(MAP_FROM_ARRAY([('a', 1)]), 'a'))",
       "ARRAY<STRUCT<key STRING, value INT64>>: []"},
      {"MAP_FILTER(MAP_FROM_ARRAY([('a', 1), ('b', 2), ('c', 3)]), (k, v) -> v <> 2)",
       R"(MAP<STRING, INT64>: {"a": 1, "c": 3})"},
  });
}

TEST(Map, IsSearchedByHalving) {
  std::vector<Datum> items;
  for (int64_t key = 0; key < 1'001; ++key) {
    items.push_back(Datum::Int(key * 2));
    items.push_back(Datum::Int(key));
  }
  for (size_t size = 0; size <= items.size(); size += size < 40 ? 2 : 200) {
    const absl::Span<const Datum> map = absl::MakeConstSpan(items).subspan(0, size);
    for (int64_t key = -1; key <= static_cast<int64_t>(size) + 1; ++key) {
      const Datum* const found = FindInMap(map, Datum::Int(key));
      const bool is_there = key >= 0 && key % 2 == 0 && key < static_cast<int64_t>(size);
      ASSERT_EQ(found != nullptr, is_there) << size << " " << key;
      if (is_there) {
        ASSERT_EQ(found->integer, key / 2);
      }
    }
  }
  EXPECT_EQ(FindInMap(items, Datum::Missing()), nullptr);
}

}  // namespace
}  // namespace sonde::sql
