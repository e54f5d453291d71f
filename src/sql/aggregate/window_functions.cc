// The functions that only windows have: what they take and give.  The operator of windows carries them out, by name.
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/aggregate/functions.h"
#include "sql/aggregate/point_aggregates.h"
#include "sql/function/function.h"
#include "sql/function/function_list.h"

namespace sonde::sql {
namespace {

Function WindowFunction(std::string name, const std::vector<std::string_view>& signatures,
                        std::string meaning, std::string_view example) {
  Function function;
  function.name = std::move(name);
  function.kind = Function::Kind::kWindow;
  for (const std::string_view signature : signatures) {
    function.overloads.push_back({.signature = Signature::Parse(signature)});
  }
  function.meaning = std::move(meaning);
  function.examples = {std::string(example)};
  function.takes_nulls = true;
  return function;
}

std::vector<Function> Numbering() {
  return {
      WindowFunction("ROW_NUMBER", {"() -> INT64"},
                     "Gives the number of the row in its partition, from 1 on.",
                     "SELECT x, ROW_NUMBER() OVER (ORDER BY x) FROM UNNEST([5, 2, 5, 8]) AS x"),
      WindowFunction("RANK", {"() -> INT64"},
                     "Gives the number of the first row in the partition that comes with this one in the "
                     "order, from 1 on.",
                     "SELECT x, RANK() OVER (ORDER BY x) FROM UNNEST([5, 2, 5, 8]) AS x"),
      WindowFunction(
          "DENSE_RANK", {"() -> INT64"},
          "Gives the number of the row's place in the order, from 1 on; rows that come together have one.",
          "SELECT x, DENSE_RANK() OVER (ORDER BY x) FROM UNNEST([5, 2, 5, 8]) AS x"),
      WindowFunction("PERCENT_RANK", {"() -> FLOAT64"},
                     "Gives (RANK - 1) / (rows of the partition - 1), and 0 of a single row.",
                     "SELECT x, PERCENT_RANK() OVER (ORDER BY x) FROM UNNEST([5, 2, 5, 8]) AS x"),
      WindowFunction("CUME_DIST", {"() -> FLOAT64"},
                     "Gives which part of the partition comes before the row in the order, or with it.",
                     "SELECT x, CUME_DIST() OVER (ORDER BY x) FROM UNNEST([5, 2, 5, 8]) AS x"),
      WindowFunction(
          "NTILE", {"(INT64) -> INT64"},
          "Divides the partition into so many parts of like size, and gives the number of the row's part.",
          "SELECT x, NTILE(2) OVER (ORDER BY x) FROM UNNEST([5, 2, 5, 8]) AS x"),
  };
}

std::vector<Function> Navigation() {
  return {
      WindowFunction("FIRST_VALUE", {"(T1) -> T1"}, "Gives the value of the first row of the window.",
                     "SELECT x, FIRST_VALUE(x) OVER (ORDER BY x) FROM UNNEST([5, 2, 8]) AS x"),
      WindowFunction("LAST_VALUE", {"(T1) -> T1"}, "Gives the value of the last row of the window.",
                     "SELECT x, LAST_VALUE(x) OVER (ORDER BY x) FROM UNNEST([5, 2, 8]) AS x"),
      WindowFunction(
          "NTH_VALUE", {"(T1, INT64) -> T1"},
          "Gives the value of the row of this number in the window, from 1 on; NULL without such a row.",
          "SELECT x, NTH_VALUE(x, 2) OVER (ORDER BY x) FROM UNNEST([5, 2, 8]) AS x"),
      WindowFunction(
          "LAG", {"(T1, [INT64], [T1]) -> T1"},
          "Gives the value of an earlier row of the partition: of the row before, or of the one so many "
          "rows before; NULL or a default without such a row.",
          "SELECT x, LAG(x, 1, 0) OVER (ORDER BY x) FROM UNNEST([5, 2, 8]) AS x"),
      WindowFunction(
          "LEAD", {"(T1, [INT64], [T1]) -> T1"},
          "Gives the value of a later row of the partition: of the next row, or of the one so many rows "
          "further; NULL or a default without such a row.",
          "SELECT x, LEAD(x) OVER (ORDER BY x) FROM UNNEST([5, 2, 8]) AS x"),
      WindowFunction(
          "PERCENTILE_CONT", {"(FLOAT64, FLOAT64) -> FLOAT64"},
          "Gives the value below which this part (0 to 1) of the partition lies, between two values where "
          "it falls between them.",
          "SELECT x, PERCENTILE_CONT(x, 0.5) OVER () FROM UNNEST([5, 2, 8, 9]) AS x"),
      WindowFunction(
          "PERCENTILE_DISC", {"(T1:ORDERABLE, FLOAT64) -> T1"},
          "Gives the first value that at least this part (0 to 1) of the partition does not exceed.",
          "SELECT x, PERCENTILE_DISC(x, 0.5) OVER () FROM UNNEST([5, 2, 8, 9]) AS x"),
  };
}

}  // namespace

std::vector<Function> WindowFunctions() {
  std::vector<Function> all = Numbering();
  for (Function& function : Navigation()) {
    if (function.name.starts_with("PERCENTILE_")) {
      function.takes_nulls = false;
      Overload of_group = function.overloads[0];
      of_group.aggregator = function.name == "PERCENTILE_CONT" ? MakePercentileCont : MakePercentileDisc;
      function.overloads.push_back(Extension(of_group));
      function.meaning += "  Without OVER, the same of a group.";
      function.examples.push_back("SELECT " + function.name + "(x, 0.5) FROM UNNEST([5, 2, 8, 9]) AS x");
    }
    all.push_back(std::move(function));
  }
  return all;
}

}  // namespace sonde::sql
