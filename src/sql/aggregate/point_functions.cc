// Aggregates of numbers with their times, which production does not have.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/aggregate/functions.h"
#include "sql/aggregate/point_aggregates.h"
#include "sql/function/function_list.h"

namespace sonde::sql {
namespace {

constexpr std::string_view kPointsOfExample =
    "FROM UNNEST([STRUCT(3 AS v, TIMESTAMP '2020-01-01 00:00:00' AS t), (5, TIMESTAMP '2020-01-01 "
    "00:00:10'), "
    "(2, TIMESTAMP '2020-01-01 00:00:30')])";

Overload PointOverload(std::string_view signature, AggregatorFactory aggregator) {
  return Extension({.signature = Signature::Parse(signature), .aggregator = aggregator});
}

Function PointFunction(std::string name, Function::Kind kind, std::vector<Overload> overloads,
                       std::string meaning, std::string_view selected) {
  Function function;
  function.name = std::move(name);
  function.kind = kind;
  function.overloads = std::move(overloads);
  function.meaning = std::move(meaning);
  function.examples = {"SELECT " + std::string(selected) + " " + std::string(kPointsOfExample)};
  return function;
}

std::vector<Function> Picks() {
  constexpr std::string_view kSignature = "(T1:ORDERABLE, T2:ORDERABLE) -> T1";
  constexpr auto kKind = Function::Kind::kAggregate;
  std::vector<Function> picks = {
      PointFunction(
          "FIRST", kKind, {PointOverload(kSignature, MakeFirst)},
          "Gives the oldest value that is not NULL, by the time in the second argument; of several values "
          "of one time the least.",
          "FIRST(v, t)"),
      PointFunction("LAST", kKind, {PointOverload(kSignature, MakeLast)},
                    "Gives the newest value that is not NULL, by the time in the second argument; of several "
                    "values of one time the greatest.",
                    "LAST(v, t)"),
      PointFunction(
          "MAX_BY", kKind, {PointOverload(kSignature, MakeMaxBy)},
          "Gives the value, which may be NULL, of the row whose second argument is the greatest; of several "
          "such rows the greatest value.",
          "MAX_BY(t, v)"),
      PointFunction(
          "MIN_BY", kKind, {PointOverload(kSignature, MakeMinBy)},
          "Gives the value, which may be NULL, of the row whose second argument is the least; of several "
          "such rows the least value.",
          "MIN_BY(t, v)"),
  };
  for (Function& function : picks) function.takes_nulls = function.name.ends_with("_BY");
  return picks;
}

std::vector<Function> ChangesOfPoints() {
  constexpr auto kBoth = Function::Kind::kWindow;
  const auto of_row = [](std::string_view signature) {
    return Extension({.signature = Signature::Parse(signature)});
  };
  return {
      PointFunction(
          "DELTA", kBoth,
          {PointOverload("(INT64, TIMESTAMP) -> INT64", MakeDelta),
           PointOverload("(FLOAT64, TIMESTAMP) -> FLOAT64", MakeDelta), of_row("(INT64) -> INT64"),
           of_row("(FLOAT64) -> FLOAT64")},
          "Gives the newest value less the oldest one; NULL where all values are of one time.  With OVER, "
          "the value less the last one before it in the order of the window.",
          "DELTA(v, t)"),
      PointFunction(
          "INCREASE", kBoth,
          {PointOverload("(INT64, TIMESTAMP) -> INT64", MakeIncrease),
           PointOverload("(FLOAT64, TIMESTAMP) -> FLOAT64", MakeIncrease), of_row("(INT64) -> INT64"),
           of_row("(FLOAT64) -> FLOAT64")},
          "Gives by how much a counter grew from its oldest value to the newest: a value below the one "
          "before it counts since a reset.  NULL of one value.  With OVER, what the counter grew since the "
          "last "
          "value before it in the order of the window.",
          "INCREASE(v, t)"),
      PointFunction(
          "RATE", kBoth,
          {PointOverload("(INT64, TIMESTAMP) -> FLOAT64", MakeRate),
           PointOverload("(FLOAT64, TIMESTAMP) -> FLOAT64", MakeRate), of_row("(INT64) -> FLOAT64"),
           of_row("(FLOAT64) -> FLOAT64")},
          "Gives INCREASE by the second, between the oldest and the newest value; NULL where all values are "
          "of one time.  With OVER, which needs one ORDER BY key, a TIMESTAMP, the same since the last value "
          "before.",
          "RATE(v, t)"),
      PointFunction("IRATE", Function::Kind::kAggregate,
                    {PointOverload("(INT64, TIMESTAMP) -> FLOAT64", MakeIrate),
                     PointOverload("(FLOAT64, TIMESTAMP) -> FLOAT64", MakeIrate)},
                    "Gives RATE of the newest value and the one before it.", "IRATE(v, t)"),
      PointFunction("TIME_WEIGHTED_AVG", Function::Kind::kAggregate,
                    {PointOverload("(FLOAT64, TIMESTAMP) -> FLOAT64", MakeTimeWeightedAvg)},
                    "Gives the mean of values, each of which holds until the next one; of values of one time "
                    "the greatest.",
                    "TIME_WEIGHTED_AVG(v, t)"),
  };
}

}  // namespace

std::vector<Function> PointFunctions() {
  std::vector<Function> all = Picks();
  for (Function& function : ChangesOfPoints()) all.push_back(std::move(function));
  return all;
}

}  // namespace sonde::sql
