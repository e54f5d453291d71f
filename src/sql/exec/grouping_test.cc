// ROLLUP, CUBE, GROUPING SETS and GROUPING, with the rows that GoogleSQL's reference implementation gives for them.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

// What T stands for in the queries.
constexpr std::string_view kTable =
    "UNNEST([STRUCT(1 AS a, 'p' AS b, 10 AS c), (1, 'q', 20), (2, 'p', 30), (2, NULL, 40), (NULL, 'q', 50)])";

struct Case {
  std::string_view query;
  std::string_view rows;  // " | " between them; or the error
};

// clang-format off
const Case kGroupingCases[] = {
    {R"(SELECT t.a, COUNT(*) FROM T t GROUP BY ROLLUP(t.a))",
     R"(NULL 5 | NULL 1 | 1 2 | 2 2)"},
    {R"(SELECT t.a, COUNT(*) FROM T t WHERE t.a > 5 GROUP BY ROLLUP(t.a))",
     R"()"},
    {R"(SELECT COUNT(*), SUM(t.c) FROM T t GROUP BY ())",
     R"(5 150)"},
    {R"(SELECT COUNT(*), SUM(t.c) FROM T t WHERE t.a > 5 GROUP BY ())",
     R"(0 NULL)"},
    {R"(SELECT t.a, t.b, GROUPING(t.a), GROUPING(t.b), SUM(t.c) FROM T t GROUP BY CUBE(t.a, t.b))",
     R"(NULL NULL 1 1 150 | NULL NULL 0 1 50 | NULL NULL 1 0 40 | NULL "p" 1 0 40 | NULL "q" 1 0 70 | NULL "q" 0 0 50 | 1 NULL 0 1 30 | 1 "p" 0 0 10 | 1 "q" 0 0 20 | 2 NULL 0 1 70 | 2 NULL 0 0 40 | 2 "p" 0 0 30)"},
    {R"(SELECT t.a, t.b, SUM(t.c) FROM T t GROUP BY GROUPING SETS(t.a, (t.a, t.b), ()))",
     R"(NULL NULL 150 | NULL NULL 50 | NULL "q" 50 | 1 NULL 30 | 1 "p" 10 | 1 "q" 20 | 2 NULL 70 | 2 NULL 40 | 2 "p" 30)"},
    {R"(SELECT t.a, t.b, SUM(t.c) FROM T t GROUP BY t.a, ROLLUP(t.b))",
     R"(NULL NULL 50 | NULL "q" 50 | 1 NULL 30 | 1 "p" 10 | 1 "q" 20 | 2 NULL 70 | 2 NULL 40 | 2 "p" 30)"},
    {R"(SELECT t.a, t.b, SUM(t.c) FROM T t GROUP BY ROLLUP(t.a), CUBE(t.b))",
     R"(NULL NULL 150 | NULL NULL 50 | NULL NULL 40 | NULL "p" 40 | NULL "q" 70 | NULL "q" 50 | 1 NULL 30 | 1 "p" 10 | 1 "q" 20 | 2 NULL 70 | 2 NULL 40 | 2 "p" 30)"},
    {R"(SELECT t.a, t.b, SUM(t.c) FROM T t GROUP BY GROUPING SETS(ROLLUP(t.a, t.b), CUBE(t.a)))",
     R"(NULL NULL 150 | NULL NULL 150 | NULL NULL 50 | NULL NULL 50 | NULL "q" 50 | 1 NULL 30 | 1 NULL 30 | 1 "p" 10 | 1 "q" 20 | 2 NULL 70 | 2 NULL 70 | 2 NULL 40 | 2 "p" 30)"},
    {R"(SELECT t.a, t.b, SUM(t.c) FROM T t GROUP BY ROLLUP((t.a, t.b)))",
     R"(NULL NULL 150 | NULL "q" 50 | 1 "p" 10 | 1 "q" 20 | 2 NULL 40 | 2 "p" 30)"},
    {R"(SELECT t.a + 1, SUM(t.c) FROM T t GROUP BY ROLLUP(t.a))",
     R"(NULL 150 | NULL 50 | 2 30 | 3 70)"},
    {R"(SELECT t.a + 1 AS k, SUM(t.c) FROM T t GROUP BY ROLLUP(k))",
     R"(NULL 150 | NULL 50 | 2 30 | 3 70)"},
    {R"(SELECT t.a + 1 AS k, SUM(t.c) FROM T t GROUP BY ROLLUP(1))",
     R"(NULL 150 | NULL 50 | 2 30 | 3 70)"},
    {R"(SELECT t.a, SUM(t.a) FROM T t GROUP BY ROLLUP(t.a, t.a))",
     R"(NULL 6 | NULL NULL | NULL NULL | 1 2 | 1 2 | 2 4 | 2 4)"},
    {R"(SELECT t.a, SUM(t.a) FROM T t GROUP BY GROUPING SETS(t.a, t.a))",
     R"(NULL NULL | NULL NULL | 1 2 | 1 2 | 2 4 | 2 4)"},
    {R"(SELECT t.a, GROUPING(t.a) FROM T t GROUP BY t.a)",
     R"(NULL 0 | 1 0 | 2 0)"},
    {R"(SELECT t.a, COUNT(*) FROM T t GROUP BY ROLLUP(t.a) HAVING GROUPING(t.a) = 1)",
     R"(NULL 5)"},
    {R"(SELECT t.a, COUNT(*) FROM T t GROUP BY ROLLUP(t.a) HAVING t.a = 1)",
     R"(1 2)"},
    {R"(SELECT t.a, COUNT(*) FROM T t GROUP BY ROLLUP(t.a) HAVING t.a IS NULL)",
     R"(NULL 5 | NULL 1)"},
    {R"(SELECT t.a, COUNT(*) FROM T t GROUP BY ROLLUP(t.a) ORDER BY GROUPING(t.a), t.a)",
     R"(NULL 1 | 1 2 | 2 2 | NULL 5)"},
    {R"(SELECT 7 AS k, COUNT(*) FROM T t GROUP BY ROLLUP(k))",
     R"(NULL 5 | 7 5)"},
    {R"(SELECT t.a FROM T t GROUP BY ROLLUP(t.a) QUALIFY ROW_NUMBER() OVER (ORDER BY GROUPING(t.a), t.a) < 3)",
     R"(NULL | 1)"},
    {R"(SELECT DISTINCT GROUPING(t.a) + GROUPING(t.b) FROM T t GROUP BY CUBE(t.a, t.b))",
     R"(0 | 1 | 2)"},
    {R"(SELECT t.a, MAX(0), GROUPING(t.a), MIN(t.b), ARRAY_AGG(t.c ORDER BY t.c) FROM T t GROUP BY ROLLUP(t.a))",
     R"(NULL 0 1 "p" [10, 20, 30, 40, 50] | NULL 0 0 "q" [50] | 1 0 0 "p" [10, 20] | 2 0 0 "p" [30, 40])"},
    {R"(SELECT COUNT(*) FROM (SELECT t.a, t.b, t.c FROM T t GROUP BY CUBE(t.a, t.b, t.c)))",
     R"(32)"},
    {R"(SELECT x, (SELECT SUM(y) FROM UNNEST([1, 2]) y WHERE y <= x) AS s, COUNT(*) FROM UNNEST([1, 2]) x GROUP BY ROLLUP(x))",
     R"(NULL NULL 2 | 1 1 1 | 2 3 1)"},
    {R"(SELECT MOD(x, 3) AS m, MOD(x, 2) AS n, COUNT(*), SUM(x) FROM UNNEST(GENERATE_ARRAY(1, 5000)) x GROUP BY CUBE(m, n))",
     R"(NULL NULL 5000 12502500 | NULL 0 2500 6252500 | NULL 1 2500 6250000 | 0 NULL 1666 4165833 | 0 0 833 2084166 | 0 1 833 2081667 | 1 NULL 1667 4167500 | 1 0 833 2082500 | 1 1 834 2085000 | 2 NULL 1667 4169167 | 2 0 834 2085834 | 2 1 833 2083333)"},
    {R"(SELECT t.a, GROUPING(t.b), SUM(t.a) FROM T t GROUP BY ROLLUP(t.a))",
     R"(INVALID_ARGUMENT: GROUPING must have an argument that exists within the group-by expression list. [at 1:13])"},
    {R"(SELECT GROUPING(1))",
     R"(INVALID_ARGUMENT: Aggregate function GROUPING not allowed in SELECT without FROM clause [at 1:8])"},
    {R"(SELECT t.a FROM T t WHERE GROUPING(t.a) = 1 GROUP BY t.a)",
     R"(INVALID_ARGUMENT: Aggregate function GROUPING not allowed in WHERE clause [at 1:129])"},
    {R"(SELECT SUM(GROUPING(t.a)) FROM T t GROUP BY t.a)",
     R"(INVALID_ARGUMENT: Multi-level aggregation requires the enclosing aggregate function to have one or more GROUP BY modifiers. [at 1:8])"},
    {R"(SELECT COUNT(*) FROM T t GROUP BY CUBE())",
     R"x(INVALID_ARGUMENT: Syntax error: Unexpected ")" [at 1:142])x"},
    {R"(SELECT COUNT(*) FROM T t GROUP BY ROLLUP([1]))",
     R"(INVALID_ARGUMENT: Cannot GROUP BY literal values [at 1:144])"},
    {R"(SELECT COUNT(*) FROM T t GROUP BY (), t.a)",
     R"(INVALID_ARGUMENT: GROUP BY () is only allowed when there are no other grouping items [at 1:137])"},
    {R"(SELECT COUNT(*) FROM T t GROUP BY t.a, ())",
     R"(INVALID_ARGUMENT: GROUP BY () is only allowed when there are no other grouping items [at 1:142])"},
    {R"(SELECT COUNT(*) FROM T t GROUP BY CUBE(t.a, t.a+1, t.a+2, t.a+3, t.a+4, t.a+5, t.a+6, t.a+7, t.a+8, t.a+9, t.a+10, t.a+11, t.a+12))",
     R"(INVALID_ARGUMENT: Too many grouping sets, at most 4096 grouping sets are allowed)"},
    {R"(SELECT COUNT(*) FROM T t GROUP BY GROUPING SETS(GROUPING SETS(t.a), t.b))",
     R"(INVALID_ARGUMENT: Syntax error: Expected "(" but got keyword SETS [at 1:160])"},
    {R"(SELECT COUNT(*) FROM T t GROUP BY ROLLUP(CUBE(t.a)))",
     R"(INVALID_ARGUMENT: Syntax error: Unexpected keyword CUBE [at 1:144])"},
    {R"(SELECT COUNT(*) FROM T t GROUP BY ROLLUP(()))",
     R"x(INVALID_ARGUMENT: Syntax error: Unexpected ")" [at 1:145])x"},
    {R"(SELECT GROUPING(t.a, t.b) FROM T t GROUP BY t.a, t.b)",
     R"(INVALID_ARGUMENT: No matching signature for aggregate function GROUPING)"},
    {R"(SELECT GROUPING() FROM T t GROUP BY t.a, t.b)",
     R"(INVALID_ARGUMENT: No matching signature for aggregate function GROUPING with no arguments)"},
    {R"(SELECT t.a, COUNT(*) FROM T t GROUP BY ROLLUP(t.a), ROLLUP(t.a))",
     R"(NULL 5 | NULL 1 | NULL 1 | NULL 1 | 1 2 | 1 2 | 1 2 | 2 2 | 2 2 | 2 2)"},
    {R"(SELECT ROLLUP(t.a) FROM T t)",
     R"(INVALID_ARGUMENT: Syntax error: Unexpected keyword ROLLUP [at 1:8])"},
};
// clang-format on

std::string Sorted(std::string_view rows, std::string_view between) {
  std::vector<std::string> lines;
  while (!rows.empty()) {
    const size_t end = std::min(rows.find(between), rows.size());
    lines.emplace_back(rows.substr(0, end));
    rows.remove_prefix(std::min(end + between.size(), rows.size()));
  }
  std::sort(lines.begin(), lines.end());
  std::string text;
  for (const std::string& line : lines) text += (text.empty() ? "" : " | ") + line;
  return text;
}

// The query with its table.
std::string OverTable(std::string query) {
  constexpr std::string_view kName = " T ";
  const size_t at = query.find(kName);
  if (at == std::string::npos) return query;
  return query.replace(at + 1, 1, kTable);
}

class GroupingTest : public ExecTest {};

TEST_F(GroupingTest, GivesTheRowsOfTheReference) {
  for (const Case& test : kGroupingCases) {
    EXPECT_EQ(Sorted(Query(OverTable(std::string(test.query))), "\n"), Sorted(test.rows, " | "))
        << test.query;
  }
}

// The first rows of an order are in the order.
TEST_F(GroupingTest, OrdersByWhatGroupingGives) {
  EXPECT_EQ(
      Query("SELECT x, COUNT(*) FROM UNNEST([2, 1, NULL]) x GROUP BY ROLLUP(x) ORDER BY GROUPING(x) DESC, x"),
      "NULL 3\nNULL 1\n1 1\n2 1\n");
}

}  // namespace
}  // namespace sonde::sql
