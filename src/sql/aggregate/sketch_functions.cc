#include <string_view>
#include <utility>
#include <vector>

#include "sql/aggregate/functions.h"
#include "sql/aggregate/sketch_aggregates.h"
#include "sql/function/function.h"
#include "sql/function/row_kernel.h"

namespace sonde::sql {
namespace {

Overload SketchOverload(std::string_view signature, AggregatorFactory factory) {
  return {.signature = Signature::Parse(signature), .aggregator = factory};
}

std::vector<Function> Approximations() {
  return {
      {.name = "APPROX_COUNT_DISTINCT",
       .kind = Function::Kind::kAggregate,
       .overloads = {SketchOverload("(T1:GROUPABLE) -> INT64", MakeApproxCountDistinct)},
       .meaning = "Gives the number of distinct values, within 1 % mostly.",
       .examples = {"SELECT APPROX_COUNT_DISTINCT(x) FROM UNNEST([0, 1, 1, 2, 3, 5]) AS x"}},
      {.name = "APPROX_QUANTILES",
       .kind = Function::Kind::kAggregate,
       .overloads = {SketchOverload("(T1:ORDERABLE, INT64) -> ARRAY<T1>", MakeApproxQuantiles)},
       .meaning =
           "Divides the values into so many parts of like size, and gives where the parts begin and end: the "
           "least value first, the greatest last.  The places of up to 2,048 values are exact.",
       .examples = {"SELECT APPROX_QUANTILES(x, 2) FROM UNNEST([1, 1, 1, 4, 5, 6, 7, 8, 9, 10]) AS x"}},
      {.name = "APPROX_TOP_COUNT",
       .kind = Function::Kind::kAggregate,
       .overloads = {SketchOverload("(T1:GROUPABLE, INT64) -> ARRAY<STRUCT<value T1, count INT64>>",
                                    MakeApproxTopCount)},
       .meaning = "Gives so many values that come most often, with their counts.  The counts of up to 16,384 "
                  "distinct values are exact.",
       .examples = {"SELECT APPROX_TOP_COUNT(x, 2) FROM UNNEST(['pear', 'apple', 'pear', 'fig', 'fig', "
                    "'pear']) AS x"},
       .takes_nulls = true},
      {.name = "APPROX_TOP_SUM",
       .kind = Function::Kind::kAggregate,
       .overloads = {SketchOverload("(T1:GROUPABLE, INT64, INT64) -> ARRAY<STRUCT<value T1, sum INT64>>",
                                    MakeApproxTopSum),
                     SketchOverload("(T1:GROUPABLE, FLOAT64, INT64) -> ARRAY<STRUCT<value T1, sum FLOAT64>>",
                                    MakeApproxTopSum)},
       .meaning =
           "Gives so many values that weigh most, with the sums of their weights.  The sums of up to 16,384 "
           "distinct values are exact.",
       .examples =
           {"SELECT APPROX_TOP_SUM(f.x, f.w, 2) FROM UNNEST([STRUCT('pear' AS x, 3 AS w), ('fig', 5), "
            "('pear', 4)]) AS f"},
       .takes_nulls = true},
  };
}

std::vector<Function> HllFunctions() {
  return {
      {.name = "HLL_COUNT.INIT",
       .kind = Function::Kind::kAggregate,
       .overloads = {SketchOverload("(INT64, [INT64]) -> BYTES", MakeHllInit),
                     SketchOverload("(STRING, [INT64]) -> BYTES", MakeHllInit),
                     SketchOverload("(BYTES, [INT64]) -> BYTES", MakeHllInit)},
       .meaning = "Gives a HyperLogLog++ sketch of the values, from which their number can be told without "
                  "doubles.  "
                  "The precision, from 10 to 24, is 15 if it is not given.  Each more halves the square of "
                  "the error, and "
                  "doubles the bytes.",
       .examples = {"SELECT HLL_COUNT.EXTRACT(HLL_COUNT.INIT(x)) FROM UNNEST(['a', 'b', 'a']) AS x"}},
      {.name = "HLL_COUNT.MERGE",
       .kind = Function::Kind::kAggregate,
       .overloads = {SketchOverload("(BYTES) -> INT64", MakeHllMerge)},
       .meaning = "Gives the number of distinct values of several sketches together.  The lowest of their "
                  "precisions counts.",
       .examples = {"SELECT HLL_COUNT.MERGE(s) FROM (SELECT HLL_COUNT.INIT(x) AS s FROM UNNEST([1, 2]) AS x "
                    "UNION ALL "
                    "SELECT HLL_COUNT.INIT(x) FROM UNNEST([2, 3]) AS x)"}},
      {.name = "HLL_COUNT.MERGE_PARTIAL",
       .kind = Function::Kind::kAggregate,
       .overloads = {SketchOverload("(BYTES) -> BYTES", MakeHllMergePartial)},
       .meaning = "Gives one sketch of the values of several sketches, of the lowest of their precisions.",
       .examples =
           {"SELECT HLL_COUNT.EXTRACT(HLL_COUNT.MERGE_PARTIAL(s)) FROM (SELECT HLL_COUNT.INIT(x) AS s FROM "
            "UNNEST([1, 2]) AS x UNION ALL SELECT HLL_COUNT.INIT(x) FROM UNNEST([2, 3]) AS x)"}},
      {.name = "HLL_COUNT.EXTRACT",
       .overloads = {{Signature::Parse("(BYTES) -> INT64"), RowKernel<ExtractFromHll>}},
       .meaning = "Gives the number of distinct values of a sketch; 0 of NULL.",
       .examples = {"HLL_COUNT.EXTRACT(NULL)"}},
  };
}

}  // namespace

std::vector<Function> SketchFunctions() {
  std::vector<Function> all = Approximations();
  for (Function& function : HllFunctions()) all.push_back(std::move(function));
  return all;
}

}  // namespace sonde::sql
