#include <utility>
#include <vector>

#include "sql/aggregate/functions.h"
#include "sql/function/aggregates.h"
#include "sql/function/function.h"

namespace sonde::sql {
namespace {

Overload AggregateOf(std::string_view signature, AggregatorFactory factory) {
  return {.signature = Signature::Parse(signature), .aggregator = factory};
}

std::vector<Function> ExtremesAndCounts() {
  return {
      {.name = "COUNT",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("() -> INT64", MakeCount), AggregateOf("(T1) -> INT64", MakeCount)},
       .meaning = "Gives the number of rows, or of those where a value is not NULL.",
       .examples = {"SELECT COUNT(*), COUNT(x) FROM UNNEST([1, NULL, 3]) AS x"}},
      {.name = "COUNTIF",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(BOOL) -> INT64", MakeCountIf)},
       .meaning = "Gives the number of rows where a condition is TRUE.",
       .examples = {"SELECT COUNTIF(x > 1) FROM UNNEST([1, 2, 3]) AS x"}},
      {.name = "MAX",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(T1:ORDERABLE) -> T1", MakeMax)},
       .meaning = "Gives the greatest value; NaN if one of the values is NaN.",
       .examples = {"SELECT MAX(x) FROM UNNEST([4, 8, NULL, 6]) AS x"}},
      {.name = "MIN",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(T1:ORDERABLE) -> T1", MakeMin)},
       .meaning = "Gives the least value; NaN if one of the values is NaN.",
       .examples = {"SELECT MIN(x) FROM UNNEST([4, 8, NULL, 6]) AS x"}},
      {.name = "ANY_VALUE",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(T1) -> T1", MakeAnyValue)},
       .meaning = "Gives the value of one of the rows, which may be NULL.",
       .examples = {"SELECT ANY_VALUE(x) FROM UNNEST(['a', 'a']) AS x"},
       .takes_nulls = true},
  };
}

std::vector<Function> Sums() {
  return {
      {.name = "AVG",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(INT64) -> FLOAT64", MakeAvg), AggregateOf("(FLOAT32) -> FLOAT64", MakeAvg),
                     AggregateOf("(FLOAT64) -> FLOAT64", MakeAvg)},
       .meaning = "Gives the mean of the numbers.",
       .examples = {"SELECT AVG(x) FROM UNNEST([1, 2, NULL, 6]) AS x"}},
      {.name = "SUM",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(INT64) -> INT64", MakeSum), AggregateOf("(FLOAT32) -> FLOAT64", MakeSum),
                     AggregateOf("(FLOAT64) -> FLOAT64", MakeSum)},
       .meaning = "Gives the sum of the numbers, exactly; a sum that its type does not hold is an error.",
       .examples = {"SELECT SUM(x) FROM UNNEST([1, 2, NULL, 6]) AS x",
                    "SELECT SUM(x) FROM UNNEST([1e100, 1.0, -1e100]) AS x"}},
  };
}

std::vector<Function> Bits() {
  return {
      {.name = "BIT_AND",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(INT64) -> INT64", MakeBitAnd)},
       .meaning = "Gives the bits that all of the integers have.",
       .examples = {"SELECT BIT_AND(x) FROM UNNEST([7, 12]) AS x"}},
      {.name = "BIT_OR",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(INT64) -> INT64", MakeBitOr)},
       .meaning = "Gives the bits that any of the integers has.",
       .examples = {"SELECT BIT_OR(x) FROM UNNEST([7, 12]) AS x"}},
      {.name = "BIT_XOR",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(INT64) -> INT64", MakeBitXor)},
       .meaning = "Gives the bits that an odd number of the integers has.",
       .examples = {"SELECT BIT_XOR(x) FROM UNNEST([7, 12]) AS x"}},
      {.name = "LOGICAL_AND",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(BOOL) -> BOOL", MakeLogicalAnd)},
       .meaning = "Gives whether a condition is TRUE in all rows where it is not NULL.",
       .examples = {"SELECT LOGICAL_AND(x > 1) FROM UNNEST([1, 2, NULL]) AS x"}},
      {.name = "LOGICAL_OR",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(BOOL) -> BOOL", MakeLogicalOr)},
       .meaning = "Gives whether a condition is TRUE in any row.",
       .examples = {"SELECT LOGICAL_OR(x > 1) FROM UNNEST([1, 2, NULL]) AS x"}},
  };
}

std::vector<Function> ListAggregates() {
  return {
      {.name = "ARRAY_AGG",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(T1) -> ARRAY<T1>", MakeArrayAgg)},
       .meaning = "Gives an array of the values, NULL among them; NULL if there are none.",
       .examples = {"SELECT ARRAY_AGG(x) FROM UNNEST([2, 1, NULL]) AS x"},
       .takes_nulls = true},
      {.name = "ARRAY_CONCAT_AGG",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(ARRAY<T1>) -> ARRAY<T1>", MakeArrayConcatAgg)},
       .meaning = "Gives an array of the elements of arrays; NULL if there are no arrays.",
       .examples = {"SELECT ARRAY_CONCAT_AGG(a) FROM (SELECT [1, 2] AS a UNION ALL SELECT [3])"}},
      {.name = "STRING_AGG",
       .kind = Function::Kind::kAggregate,
       .overloads = {AggregateOf("(STRING, [STRING]) -> STRING", MakeStringAgg),
                     AggregateOf("(BYTES, [BYTES]) -> BYTES", MakeStringAgg)},
       .meaning = "Gives the strings one after the other, with a comma or another delimiter between.",
       .examples = {"SELECT STRING_AGG(x, '; ') FROM UNNEST(['a', NULL, 'b']) AS x"}},
  };
}

}  // namespace

std::vector<Function> AggregateFunctions() {
  std::vector<Function> all;
  for (auto* const make : {ExtremesAndCounts, Sums, Bits, ListAggregates}) {
    std::vector<Function> functions = make();
    std::move(functions.begin(), functions.end(), std::back_inserter(all));
  }
  return all;
}

}  // namespace sonde::sql
