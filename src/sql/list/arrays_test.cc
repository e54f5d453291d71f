#include <gtest/gtest.h>

#include <vector>

#include "base/arena.h"
#include "model/column.h"
#include "model/datum.h"
#include "sql/function/call.h"
#include "sql/function/function.h"
#include "sql/library/library.h"
#include "sql/testing/test_expression.h"

namespace sonde::sql {
namespace {

TEST(Array, IsMadeOfPieces) {
  ExpectAll({
      {"ARRAY_CONCAT([1,2],[3])", "ARRAY<INT64>: [1, 2, 3]"},
      {"ARRAY_CONCAT([1,2])", "ARRAY<INT64>: [1, 2]"},
      {"ARRAY_CONCAT([1],[1.5])", "ARRAY<FLOAT64>: [1, 1.5]"},
      {"ARRAY_FIRST([1,2])", "INT64: 1"},
      {"ARRAY_FIRST(CAST([] AS ARRAY<INT64>))",
       "OUT_OF_RANGE: ARRAY_FIRST cannot get the first element of an empty array"},
      {"ARRAY_FIRST([NULL, 1])", "INT64: NULL"},
      {"ARRAY_FIRST(CAST(NULL AS ARRAY<INT64>))", "INT64: NULL"},
      {"ARRAY_LAST([1,2])", "INT64: 2"},
      {"ARRAY_LAST(CAST([] AS ARRAY<INT64>))",
       "OUT_OF_RANGE: ARRAY_LAST cannot get the last element of an empty array"},
      {"ARRAY_LAST_N([1,2,3], 2)", "ARRAY<INT64>: [2, 3]"},
      {"ARRAY_LAST_N([1,2,3], -1)", "OUT_OF_RANGE: The n argument to ARRAY_LAST_N must not be negative."},
      {"ARRAY_LAST_N([1,2,3], 0)", "ARRAY<INT64>: []"},
      {"ARRAY_LAST_N([1,2,3], 5)", "ARRAY<INT64>: [1, 2, 3]"},
      {"ARRAY_FIRST_N([1,2,3], 2)", "ARRAY<INT64>: [1, 2]"},
      {"ARRAY_FIRST_N([1,2,3], -1)", "OUT_OF_RANGE: The n argument to ARRAY_FIRST_N must not be negative."},
      {"ARRAY_FIRST_N([1,2,3], NULL)", "ARRAY<INT64>: NULL"},
      {"ARRAY_LENGTH([1,2])", "INT64: 2"},
      {"ARRAY_LENGTH([])", "INT64: 0"},
      {"ARRAY_LENGTH(NULL)", "INT64: NULL"},
      {"ARRAY_REVERSE([1,2,NULL])", "ARRAY<INT64>: [NULL, 2, 1]"},
      {"ARRAY_REVERSE(NULL)", "ARRAY<INT64>: NULL"},
      {"ARRAY_SLICE([1,2,3,4,5], 1, 3)", "ARRAY<INT64>: [2, 3, 4]"},
      {"ARRAY_SLICE([1,2,3,4,5], -3, -1)", "ARRAY<INT64>: [3, 4, 5]"},
      {"ARRAY_SLICE([1,2,3,4,5], 3, 1)", "ARRAY<INT64>: []"},
      {"ARRAY_SLICE([1,2,3,4,5], 5, 9)", "ARRAY<INT64>: []"},
      {"ARRAY_SLICE([1,2,3,4,5], -9, 9)", "ARRAY<INT64>: [1, 2, 3, 4, 5]"},
      {"ARRAY_SLICE([1,2,3,4,5], -9, -6)", "ARRAY<INT64>: []"},
      {"ARRAY_SLICE([1,2,3,4,5], -9, -5)", "ARRAY<INT64>: [1]"},
      {"ARRAY_SLICE([1,2,3,4,5], NULL, 2)", "ARRAY<INT64>: NULL"},
      {"ARRAY_SLICE([], 0, 0)", "ARRAY<INT64>: []"},
      {"ARRAY_SLICE([1,2,3], -9223372036854775808, 9223372036854775807)", "ARRAY<INT64>: [1, 2, 3]"},
      {"ARRAY_TO_STRING(['a','b',NULL], ',')", R"(STRING: "a,b")"},
      {"ARRAY_TO_STRING(['a','b',NULL], ',', 'n')", R"(STRING: "a,b,n")"},
      {"ARRAY_TO_STRING(['a','b',NULL], NULL)", "STRING: NULL"},
      {"ARRAY_TO_STRING(['a','b',NULL], ',', NULL)", "STRING: NULL"},
      {"ARRAY_TO_STRING([b'a',b'b'], b',')", R"(BYTES: b"a,b")"},
      {"ARRAY_TO_STRING(CAST([] AS ARRAY<STRING>), ',')", R"(STRING: "")"},
      {"ARRAY_TO_STRING(CAST(NULL AS ARRAY<STRING>), ',')", "STRING: NULL"},
      {"ARRAY_TO_STRING([NULL,'a'], ',')", R"(STRING: "a")"},
      {"ARRAY_TO_STRING([b'a',NULL], b',', b'x')", R"(BYTES: b"a,x")"},
      {"ARRAY_SLICE(['a','b'], 1, 1)", R"(ARRAY<STRING>: ["b"])"},
      {"ARRAY_SLICE([1,2,3], 0, -1)", "ARRAY<INT64>: [1, 2, 3]"},
      {"ARRAY_SLICE([1,2,3], -1, 0)", "ARRAY<INT64>: []"},
      {"ARRAY_SLICE([1,2,3], 2, 9223372036854775807)", "ARRAY<INT64>: [3]"},
      {"ARRAY_FIRST_N(CAST(NULL AS ARRAY<INT64>), -1)", "ARRAY<INT64>: NULL"},
      {"ARRAY_LAST_N(CAST(NULL AS ARRAY<INT64>), 2)", "ARRAY<INT64>: NULL"},
      {"ARRAY_LAST_N([1], 9223372036854775807)", "ARRAY<INT64>: [1]"},
      {"ARRAY_REVERSE(CAST([] AS ARRAY<INT64>))", "ARRAY<INT64>: []"},
      {"ARRAY_CONCAT(CAST(NULL AS ARRAY<INT64>), [1])", "ARRAY<INT64>: NULL"},
      {"ARRAY_CONCAT([1], [NULL])", "ARRAY<INT64>: [1, NULL]"},
      {"ARRAY_CONCAT(['a'], CAST([] AS ARRAY<STRING>), ['b','c'])", R"(ARRAY<STRING>: ["a", "b", "c"])"},
  });
}

TEST(Array, IsSearched) {
  ExpectAll({
      {"ARRAY_INCLUDES([1,2,3], 2)", "BOOL: true"},
      {"ARRAY_INCLUDES([1,NULL,3], NULL)", "BOOL: NULL"},
      {"ARRAY_INCLUDES([1,NULL,3], 2)", "BOOL: false"},
      {"ARRAY_INCLUDES([1,NULL,3], 3)", "BOOL: true"},
      {"ARRAY_INCLUDES(CAST(NULL AS ARRAY<INT64>), 3)", "BOOL: NULL"},
      {"ARRAY_INCLUDES([1,2,3], e -> e > 2)", "BOOL: true"},
      {"ARRAY_INCLUDES([1,NULL,3], e -> e > 5)", "BOOL: false"},
      {"ARRAY_INCLUDES([CAST('nan' AS FLOAT64)], CAST('nan' AS FLOAT64))", "BOOL: false"},
      {"ARRAY_INCLUDES([1], 1.5)", "BOOL: false"},
      {"ARRAY_INCLUDES_ALL([1,2,3], [1,2])", "BOOL: true"},
      {"ARRAY_INCLUDES_ALL([1,2,3], [1,5])", "BOOL: false"},
      {"ARRAY_INCLUDES_ALL([1,2,3], [1,NULL])", "BOOL: false"},
      {"ARRAY_INCLUDES_ALL([1,NULL,3], [1,NULL])", "BOOL: false"},
      {"ARRAY_INCLUDES_ALL([1,NULL,3], [1,4])", "BOOL: false"},
      {"ARRAY_INCLUDES_ALL([1,2,3], [])", "BOOL: true"},
      {"ARRAY_INCLUDES_ALL([1,2,3], NULL)", "BOOL: NULL"},
      {"ARRAY_INCLUDES_ALL(NULL, [1])", "BOOL: NULL"},
      {"ARRAY_INCLUDES_ALL([CAST('nan' AS FLOAT64)], [CAST('nan' AS FLOAT64)])", "BOOL: false"},
      {"ARRAY_INCLUDES_ANY([1,2,3], [5,2])", "BOOL: true"},
      {"ARRAY_INCLUDES_ANY([1,2,3], [5,NULL])", "BOOL: false"},
      {"ARRAY_INCLUDES_ANY([1,NULL,3], [NULL])", "BOOL: false"},
      {"ARRAY_INCLUDES_ANY([1,2,3], [])", "BOOL: false"},
      {"ARRAY_INCLUDES_ANY([1,2,3], CAST(NULL AS ARRAY<INT64>))", "BOOL: NULL"},
      {"ARRAY_INCLUDES_ANY([CAST('nan' AS FLOAT64)], [CAST('nan' AS FLOAT64)])", "BOOL: false"},
      {"ARRAY_IS_DISTINCT([1,2,3])", "BOOL: true"},
      {"ARRAY_IS_DISTINCT([1,2,1])", "BOOL: false"},
      {"ARRAY_IS_DISTINCT([NULL,NULL])", "BOOL: false"},
      {"ARRAY_IS_DISTINCT([1,NULL])", "BOOL: true"},
      {"ARRAY_IS_DISTINCT([])", "BOOL: true"},
      {"ARRAY_IS_DISTINCT(NULL)", "BOOL: NULL"},
      {"ARRAY_IS_DISTINCT([CAST('nan' AS FLOAT64),CAST('nan' AS FLOAT64)])", "BOOL: false"},
      {"ARRAY_IS_DISTINCT([0.0, -0.0])", "BOOL: false"},
      {"ARRAY_IS_DISTINCT([(1,2),(1,2)])", "BOOL: false"},
      {"ARRAY_OFFSETS([4,5,4], 4)", "ARRAY<INT64>: [0, 2]"},
      {"ARRAY_OFFSETS([4,5,4], 9)", "ARRAY<INT64>: []"},
      {"ARRAY_OFFSETS([4,NULL,4], NULL)", "ARRAY<INT64>: NULL"},
      {"ARRAY_OFFSETS([4,5,6], e -> e > 4)", "ARRAY<INT64>: [1, 2]"},
      {"ARRAY_OFFSETS(CAST(NULL AS ARRAY<INT64>), 4)", "ARRAY<INT64>: NULL"},
      {"ARRAY_FIND_ALL([4,5,4], 4)", "ARRAY<INT64>: [4, 4]"},
      {"ARRAY_FIND_ALL([4,5,4], e -> e > 4)", "ARRAY<INT64>: [5]"},
      {"ARRAY_FIND_ALL([4,5,4], 8)", "ARRAY<INT64>: []"},
      {"ARRAY_FIND_ALL([4,5,NULL], NULL)", "ARRAY<INT64>: NULL"},
      {"ARRAY_INCLUDES([(1,NULL),(1,2)], (1,2))", "BOOL: true"},
      {"ARRAY_INCLUDES([(1,NULL)], (1,2))", "BOOL: false"},
      {"ARRAY_INCLUDES([(1,NULL)], (1,NULL))", "BOOL: false"},
      {"ARRAY_INCLUDES(['a','b'], 'b')", "BOOL: true"},
      {"ARRAY_INCLUDES([b'a',b'b'], 'b')", "BOOL: true"},
      {"ARRAY_OFFSETS([1.5, CAST('nan' AS FLOAT64)], CAST('nan' AS FLOAT64))", "ARRAY<INT64>: []"},
      {"ARRAY_FIND_ALL(['a','b','a'], 'a')", R"(ARRAY<STRING>: ["a", "a"])"},
      {"ARRAY_INCLUDES(CAST([] AS ARRAY<INT64>), NULL)", "BOOL: NULL"},
      {"ARRAY_INCLUDES_ANY(CAST([] AS ARRAY<INT64>), [1])", "BOOL: false"},
      {"ARRAY_INCLUDES_ALL(CAST([] AS ARRAY<INT64>), CAST([] AS ARRAY<INT64>))", "BOOL: true"},
  });
}

TEST(Array, IsSummedUp) {
  ExpectAll({
      {"ARRAY_MIN([3,1,2])", "INT64: 1"},
      {"ARRAY_MIN([3,NULL,2])", "INT64: 2"},
      {"ARRAY_MIN([NULL])", "INT64: NULL"},
      {"ARRAY_MIN(CAST([] AS ARRAY<INT64>))", "INT64: NULL"},
      {"ARRAY_MIN([1.5,CAST('nan' AS FLOAT64)])", "FLOAT64: nan"},
      {"ARRAY_MAX([1.5,CAST('nan' AS FLOAT64)])", "FLOAT64: nan"},
      {"ARRAY_MIN(['b','a'])", R"(STRING: "a")"},
      {"ARRAY_MAX(['b','a'])", R"(STRING: "b")"},
      {"ARRAY_MAX([DATE '2020-01-01', DATE '2021-01-01'])", R"(DATE: DATE "2021-01-01")"},
      {"ARRAY_SUM([1,2,3])", "INT64: 6"},
      {"ARRAY_SUM([1,NULL,3])", "INT64: 4"},
      {"ARRAY_SUM([1.5,NULL,3])", "FLOAT64: 4.5"},
      {"ARRAY_SUM([NULL])", "INT64: NULL"},
      {"ARRAY_SUM(CAST([] AS ARRAY<INT64>))", "INT64: NULL"},
      {"ARRAY_SUM([9223372036854775807, 1])", "OUT_OF_RANGE: ARRAY_SUM int64 overflow"},
      {"ARRAY_SUM([9223372036854775807, 1, -1])", "INT64: 9223372036854775807"},
      {"ARRAY_SUM([1.7e308, 1.7e308])", "OUT_OF_RANGE: ARRAY_SUM double overflow"},
      {"ARRAY_SUM([CAST(1.5 AS FLOAT32)])", "FLOAT64: 1.5"},
      {"ARRAY_AVG([1,2])", "FLOAT64: 1.5"},
      {"ARRAY_AVG([1,NULL,2])", "FLOAT64: 1.5"},
      {"ARRAY_AVG([NULL])", "FLOAT64: NULL"},
      {"ARRAY_AVG([1.7e308, 1.7e308])", "FLOAT64: 1.7e+308"},
      {"ARRAY_AVG([0.1,0.2,0.3,0.7])", "FLOAT64: 0.325"},
      {"ARRAY_AVG([0.1,0.7,0.3,0.1,1e10])", "FLOAT64: 2000000000.24"},
      {"ARRAY_SUM([1e16,1.0,1.0,-1e16])", "FLOAT64: 2"},
      {"ARRAY_SUM([1.7e308,1.7e308,-1.7e308])", "FLOAT64: 1.7e+308"},
      {"ARRAY_SUM([0.1,0.2,0.3,0.1,0.1,0.1,0.1])", "FLOAT64: 1"},
      {"ARRAY_AVG([CAST('inf' AS FLOAT64), 1.0])", "FLOAT64: nan"},
      {"ARRAY_AVG([CAST('inf' AS FLOAT64), CAST('-inf' AS FLOAT64)])", "FLOAT64: nan"},
      {"ARRAY_SUM([CAST('inf' AS FLOAT64), 1.0])", "FLOAT64: inf"},
      {"ARRAY_SUM([CAST('nan' AS FLOAT64), 1.0])", "FLOAT64: nan"},
      {"ARRAY_AVG([1,2,4])", "FLOAT64: 2.3333333333333335"},
      {"ARRAY_AVG([9007199254740993, 9007199254740993])", "FLOAT64: 9007199254740992"},
      {"ARRAY_AVG([9007199254740993, 9007199254740992, 1])", "FLOAT64: 6004799503160662"},
      {"ARRAY_MAX([TRUE,FALSE])", "BOOL: true"},
      {"ARRAY_MIN([b'b', b'a'])", R"(BYTES: b"a")"},
      {"ARRAY_MIN([CAST('nan' AS FLOAT64), NULL])", "FLOAT64: nan"},
      {"ARRAY_MAX([CAST('-inf' AS FLOAT64), CAST('nan' AS FLOAT64), 5])", "FLOAT64: nan"},
      {"ARRAY_MAX([NULL, 5])", "INT64: 5"},
  });
}

TEST(Array, IsFilteredAndTransformed) {
  ExpectAll({
      {"ARRAY_FILTER([1,2,3], e -> e > 1)", "ARRAY<INT64>: [2, 3]"},
      {"ARRAY_FILTER([1,2,3], (e, i) -> i > 0)", "ARRAY<INT64>: [2, 3]"},
      {"ARRAY_FILTER([1,NULL,3], e -> e IS NULL)", "ARRAY<INT64>: [NULL]"},
      {"ARRAY_FILTER([1,NULL,3], e -> e > 1)", "ARRAY<INT64>: [3]"},
      {"ARRAY_FILTER([1,0,3], e -> 1/e > 0.5)", "OUT_OF_RANGE: division by zero: 1 / 0"},
      {"ARRAY_FILTER(CAST(NULL AS ARRAY<INT64>), e -> e > 1)", "ARRAY<INT64>: NULL"},
      {"ARRAY_TRANSFORM([1,2,3], e -> e + 1)", "ARRAY<INT64>: [2, 3, 4]"},
      {"ARRAY_TRANSFORM([1,2,3], (e, i) -> e * i)", "ARRAY<INT64>: [0, 2, 6]"},
      {"ARRAY_TRANSFORM([1,NULL,3], e -> e IS NULL)", "ARRAY<BOOL>: [false, true, false]"},
      {"ARRAY_TRANSFORM(CAST(NULL AS ARRAY<INT64>), e -> e)", "ARRAY<INT64>: NULL"},
      {"ARRAY_TRANSFORM([1,0,3], e -> DIV(1, e))", "OUT_OF_RANGE: division by zero: 1 / 0"},
      {"SAFE.ARRAY_TRANSFORM([1,0,3], e -> DIV(1, e))", "ARRAY<INT64>: NULL"},
      {"ARRAY_TRANSFORM(['a','b'], x -> CONCAT(x, 'z'))", R"(ARRAY<STRING>: ["az", "bz"])"},
  });
}

TEST(Array, IsGenerated) {
  ExpectAll({
      {"GENERATE_ARRAY(1, 5)", "ARRAY<INT64>: [1, 2, 3, 4, 5]"},
      {"GENERATE_ARRAY(1, 5, 2)", "ARRAY<INT64>: [1, 3, 5]"},
      {"GENERATE_ARRAY(5, 1)", "ARRAY<INT64>: []"},
      {"GENERATE_ARRAY(5, 1, -2)", "ARRAY<INT64>: [5, 3, 1]"},
      {"GENERATE_ARRAY(5, 1, 0)", "OUT_OF_RANGE: Sequence step cannot be 0."},
      {"GENERATE_ARRAY(1.0, 2.0, 0.25)", "ARRAY<FLOAT64>: [1, 1.25, 1.5, 1.75, 2]"},
      {"GENERATE_ARRAY(1, 2, 0.5)", "ARRAY<FLOAT64>: [1, 1.5, 2]"},
      {"GENERATE_ARRAY(1, 2000000)", "OUT_OF_RANGE: Cannot generate arrays with more than 1048576 elements."},
      {"GENERATE_ARRAY(1, 16001)[OFFSET(16000)]", "INT64: 16001"},
      {"GENERATE_ARRAY(1, 1e300)", "OUT_OF_RANGE: Cannot generate arrays with more than 1048576 elements."},
      {"GENERATE_ARRAY(0.0, CAST('inf' AS FLOAT64))",
       "OUT_OF_RANGE: Cannot generate arrays with more than 1048576 elements."},
      {"GENERATE_ARRAY(CAST('nan' AS FLOAT64), 5.0)",
       "OUT_OF_RANGE: Sequence start, end, and step cannot be NaN."},
      {"GENERATE_ARRAY(1.0, 5.0, CAST('inf' AS FLOAT64))", "OUT_OF_RANGE: Sequence step cannot be +/-inf."},
      {"GENERATE_ARRAY(1.0, 5.0, CAST('nan' AS FLOAT64))",
       "OUT_OF_RANGE: Sequence start, end, and step cannot be NaN."},
      {"GENERATE_ARRAY(NULL, 5)", "ARRAY<INT64>: NULL"},
      {"GENERATE_ARRAY(1, NULL)", "ARRAY<INT64>: NULL"},
      {"GENERATE_ARRAY(9223372036854775806, 9223372036854775807)",
       "ARRAY<INT64>: [9223372036854775806, 9223372036854775807]"},
      {"GENERATE_ARRAY(9223372036854775806, 9223372036854775807, 5)", "ARRAY<INT64>: [9223372036854775806]"},
      {"GENERATE_ARRAY(-9223372036854775807, -9223372036854775808, -1)",
       "ARRAY<INT64>: [-9223372036854775807, -9223372036854775808]"},
      {"GENERATE_ARRAY(-9223372036854775808, 9223372036854775807, 9223372036854775807)",
       "ARRAY<INT64>: [-9223372036854775808, -1, 9223372036854775806]"},
      {"GENERATE_ARRAY(1e17, 1e17+10, 1.0)",
       "ARRAY<FLOAT64>: [1e+17, 1e+17, 1e+17, 1e+17, 1e+17, 1e+17, 1e+17, 1e+17, 1e+17, "
       "1.0000000000000002e+17, 1.0000000000000002e+17, 1.0000000000000002e+17, 1.0000000000000002e+17, "
       "1.0000000000000002e+17, 1.0000000000000002e+17, 1.0000000000000002e+17, 1.0000000000000002e+17, "
       "1.0000000000000002e+17, 1.0000000000000002e+17, 1.0000000000000002e+17, 1.0000000000000002e+17, "
       "1.0000000000000002e+17, 1.0000000000000002e+17, 1.0000000000000002e+17]"},
      {"GENERATE_ARRAY(1, 3, NULL)", "ARRAY<INT64>: NULL"},
      {"GENERATE_ARRAY(-3, 3, 3)", "ARRAY<INT64>: [-3, 0, 3]"},
      {"GENERATE_ARRAY(3, -3, -3)", "ARRAY<INT64>: [3, 0, -3]"},
      {"GENERATE_ARRAY(0, 5, 1.5)", "ARRAY<FLOAT64>: [0, 1.5, 3, 4.5]"},
      {"GENERATE_ARRAY(5.0, 1.0, -1.5)", "ARRAY<FLOAT64>: [5, 3.5, 2]"},
      {"GENERATE_ARRAY(5.0, 5.0, -1.5)", "ARRAY<FLOAT64>: [5]"},
      {"GENERATE_ARRAY(1.0, 5.0, 0.0)", "OUT_OF_RANGE: Sequence step cannot be 0."},
      {"GENERATE_ARRAY(CAST('-inf' AS FLOAT64), 5.0)",
       "OUT_OF_RANGE: Cannot generate arrays with more than 1048576 elements."},
      {"GENERATE_ARRAY(CAST('inf' AS FLOAT64), 5.0)", "ARRAY<FLOAT64>: []"},
      {"GENERATE_ARRAY(CAST('inf' AS FLOAT64), CAST('inf' AS FLOAT64))", "ARRAY<FLOAT64>: [inf]"},
      {"GENERATE_ARRAY(1.0, CAST('-inf' AS FLOAT64))", "ARRAY<FLOAT64>: []"},
      {"GENERATE_ARRAY(1.0, CAST('nan' AS FLOAT64), 0.0)", "OUT_OF_RANGE: Sequence step cannot be 0."},
      {"GENERATE_ARRAY(CAST(1.5 AS FLOAT32), CAST(3 AS FLOAT32))", "ARRAY<FLOAT64>: [1.5, 2.5]"},
      {"GENERATE_ARRAY(0, 1048576)", "OUT_OF_RANGE: Cannot generate arrays with more than 1048576 elements."},
  });
}

// GoogleSQL's evaluator lacks these; the documents say what they do.
TEST(Array, HasOffsets) {
  ExpectAll({
      {"ARRAY_OFFSET([4, 5, 4], 4)", "INT64: 0"},
      {"ARRAY_OFFSET([4, 5, 4], 4, 'LAST')", "INT64: 2"},
      {"ARRAY_OFFSET([4, 5, 4], 4, 'FIRST')", "INT64: 0"},
      {"ARRAY_OFFSET([4, 5, 4], 4, 'first')",
       R"(INVALID_ARGUMENT: Could not cast literal "first" to type ARRAY_FIND_MODE)"},
      {"ARRAY_OFFSET([4, 5, 4], 9)", "INT64: NULL"},
      {"ARRAY_OFFSET([4, NULL, 4], NULL)", "INT64: NULL"},
      {"ARRAY_OFFSET([4, 5, 6], e -> e > 4)", "INT64: 1"},
      {"ARRAY_OFFSET([4, 5, 6], e -> e > 4, 'LAST')", "INT64: 2"},
      {"ARRAY_OFFSET([4, NULL, 6], e -> e > 5)", "INT64: 2"},
      {"ARRAY_OFFSET([CAST('nan' AS FLOAT64)], CAST('nan' AS FLOAT64))", "INT64: NULL"},
      {"ARRAY_FIND([4, 5, 4], 4)", "INT64: 4"},
      {"ARRAY_FIND([4, 5, 4], 9)", "INT64: NULL"},
      {"ARRAY_FIND(['a', 'b'], e -> e > 'a')", "STRING: \"b\""},
      {"ARRAY_FIND([4, 5, 6], e -> e > 4, 'LAST')", "INT64: 6"},
      {"ARRAY_FIND([4, 5, 6], 4, NULL)", "INT64: NULL"},
  });
}

TEST(Array, OfManyElementsIsSearchedByAHash) {
  ExpectAll({
      {"ARRAY_INCLUDES_ALL(GENERATE_ARRAY(1, 100), GENERATE_ARRAY(100, 1, -1))", "BOOL: true"},
      {"ARRAY_INCLUDES_ALL(GENERATE_ARRAY(1, 100), [100, 0])", "BOOL: false"},
      {"ARRAY_INCLUDES_ANY(GENERATE_ARRAY(1.0, 100.0), [0.5, CAST('nan' AS FLOAT64)])", "BOOL: false"},
      {"ARRAY_INCLUDES_ANY(GENERATE_ARRAY(1.0, 100.0), [0.5, 77.0])", "BOOL: true"},
      {"ARRAY_IS_DISTINCT(GENERATE_ARRAY(1, 100))", "BOOL: true"},
      {"ARRAY_IS_DISTINCT(ARRAY_CONCAT(GENERATE_ARRAY(1, 100), [1]))", "BOOL: false"},
  });
}

TEST(Array, AsksForRoomBeforeItIsLarge) {
  StatementFacts facts;
  size_t asked_bytes = 0;
  facts.hold = [&asked_bytes](size_t bytes) {
    asked_bytes = bytes;
    return absl::ResourceExhaustedError("no room");
  };
  for (const size_t count : {65'536, 65'537}) {
    Arena arena;
    const std::vector<Datum> items(count, Datum::Int(1));
    const Datum array = Datum::List(items);
    Call::Site site;
    Call call(&facts, &site, &arena, 1);
    FindFunction("ARRAY_REVERSE")->overloads[0].kernel(call, {ColumnView::OfLists({&array, 1})});
    EXPECT_EQ(call.status().ok(), count * sizeof(Datum) <= kLargeValueBytes);
  }
  EXPECT_EQ(asked_bytes, 65'537 * sizeof(Datum));
}

}  // namespace
}  // namespace sonde::sql
