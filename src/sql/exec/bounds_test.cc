// Memory, time and explanations: queries end when they are told to, and hold no more than they may.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <ctime>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

// Queries that work for long, each in another operator; {} are many rows with a number `a`.
constexpr std::string_view kManyRows =
    "(SELECT x * 10000 + y AS a FROM UNNEST(GENERATE_ARRAY(0, 99999)) x, UNNEST(GENERATE_ARRAY(0, 9999)) y)";
constexpr std::string_view kLongQueries[] = {
    "SELECT COUNT(*) FROM {}",
    "SELECT a FROM {} WHERE a < 0",
    "SELECT a FROM {} ORDER BY -a LIMIT 5",
    "SELECT a FROM {} ORDER BY -a",
    "SELECT CAST(a AS STRING) AS s FROM {} ORDER BY s DESC",
    "SELECT a, COUNT(*) FROM {} GROUP BY a",
    "SELECT a, SUM(a), MAX(a), ARRAY_AGG(a) FROM {} GROUP BY a",
    "SELECT DISTINCT CAST(a AS STRING) FROM {}",
    "SELECT COUNT(DISTINCT a) FROM {}",
    "SELECT a FROM {} EXCEPT DISTINCT SELECT -1",
    "SELECT 1 EXCEPT DISTINCT SELECT a FROM {}",
    "SELECT p.a FROM UNNEST([1]) x JOIN {} p ON p.a = x",
    "SELECT MAX(r) FROM (SELECT ROW_NUMBER() OVER (PARTITION BY MOD(a, 7) ORDER BY -a) AS r FROM {})",
    "SELECT MAX(r) FROM (SELECT RANK() OVER (ORDER BY DIV(a, 5)) AS r FROM (SELECT a FROM {} LIMIT 5000000))",
    "SELECT SUM(a) OVER (ORDER BY a ROWS BETWEEN 50000 PRECEDING AND 50000 FOLLOWING) FROM (SELECT a FROM {} "
    "LIMIT 5000000)",
    "SELECT p.a FROM {} p JOIN (SELECT a FROM {} LIMIT 10000) q ON p.a + q.a < 0",
    "SELECT ARRAY_AGG(a ORDER BY -a) FROM {}",
    "SELECT x FROM UNNEST(GENERATE_ARRAY(1, 1000)) x WHERE (SELECT SUM(a) FROM {} WHERE a > x) < 0",
};

std::string LongQuery(std::string_view text) {
  std::string sql(text);
  for (size_t at = sql.find("{}"); at != std::string::npos; at = sql.find("{}"))
    sql.replace(at, 2, kManyRows);
  return sql;
}

double CpuSeconds() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

class BoundsTest : public ExecTest {};

TEST_F(BoundsTest, AsksOftenWhetherItIsInterrupted) {
  for (const std::string_view& text : kLongQueries) {
    const std::string sql = LongQuery(text);
    const double start = CpuSeconds();
    double last = start;
    double longest = 0;
    double longest_at = 0;
    ExecutionEnvironment environment = Environment();
    environment.interrupted = [&]() -> absl::Status {
      const double now = CpuSeconds();
      if (now - last > longest) longest_at = now - start;
      longest = std::max(longest, now - last);
      last = now;
      return now - start > 0.3 ? absl::CancelledError("enough") : absl::OkStatus();
    };
    const std::string rows = Query(sql, environment);
    const double end = CpuSeconds();
    if (end - last > longest) longest_at = end - start;
    longest = std::max(longest, end - last);
    RecordProperty("longest_ms_of_" + std::to_string(&text - kLongQueries), std::to_string(longest * 1e3));
    EXPECT_LT(longest, 0.1) << "up to " << longest_at << " s: " << sql;
    EXPECT_TRUE(rows.ends_with("CANCELLED: enough")) << sql << ": " << rows.substr(0, 200);
  }
}

TEST_F(BoundsTest, EndsAtTheDeadline) {
  ExecutionEnvironment environment = Environment();
  environment.deadline = absl::Now() + absl::Milliseconds(50);
  EXPECT_EQ(Query(LongQuery(kLongQueries[0]), environment),
            "DEADLINE_EXCEEDED: The deadline of the query has passed");
}

TEST_F(BoundsTest, RefusesToHoldMoreThanItMay) {
  const std::pair<std::string_view, std::string_view> kQueries[] = {
      {"SELECT a * b AS p FROM UNNEST(GENERATE_ARRAY(1, 1000)) a, UNNEST(GENERATE_ARRAY(1, 2000)) b ORDER BY "
       "p",
       "Sort"},
      {"SELECT a * 1000 + b AS p, COUNT(*) FROM UNNEST(GENERATE_ARRAY(1, 1000)) a, UNNEST(GENERATE_ARRAY(1, "
       "1000)) b "
       "GROUP BY p",
       "GroupBy"},
      {"SELECT SUM(a) OVER (PARTITION BY b) FROM UNNEST(GENERATE_ARRAY(1, 1000)) a, UNNEST(GENERATE_ARRAY(1, "
       "2000)) b",
       "Window"},
      {"SELECT 1 FROM UNNEST([1]) x JOIN (SELECT a * b AS y FROM UNNEST(GENERATE_ARRAY(1, 1000)) a, "
       "UNNEST(GENERATE_ARRAY(1, 2000)) b) ON x = y",
       "Join"},
      {"SELECT 1 EXCEPT DISTINCT SELECT a * 1000 + b FROM UNNEST(GENERATE_ARRAY(1, 1000)) a, "
       "UNNEST(GENERATE_ARRAY(1, 1000)) b",
       "Except"},
      {"SELECT ARRAY(SELECT a * 1000 + b FROM UNNEST(GENERATE_ARRAY(1, 1000)) a, UNNEST(GENERATE_ARRAY(1, "
       "1000)) b)",
       "Subquery"},
  };
  for (const auto& [sql, name] : kQueries) {
    constexpr int64_t kMax = 6 << 20;
    int64_t held = 0;
    ExecutionEnvironment environment = Environment();
    environment.hold = [&](int64_t more) -> absl::Status {
      if (more > 0 && held + more > kMax)
        return absl::ResourceExhaustedError("the query may hold 6291456 bytes");
      held += more;
      return absl::OkStatus();
    };
    const std::string rows = Query(sql, environment);
    EXPECT_TRUE(rows.starts_with("RESOURCE_EXHAUSTED: " + std::string(name) + " holds "))
        << sql << rows.substr(0, 200);
    EXPECT_TRUE(rows.ends_with(" bytes: the query may hold 6291456 bytes")) << rows.substr(0, 200);
    EXPECT_EQ(held, 0) << sql;
  }
}

TEST_F(BoundsTest, ALimitBoundsWhatASortHolds) {
  int64_t held = 0;
  int64_t most = 0;
  ExecutionEnvironment environment = Environment();
  environment.hold = [&](int64_t more) {
    held += more;
    most = std::max(most, held);
    return absl::OkStatus();
  };
  EXPECT_EQ(
      Query(
          "SELECT a * 1000 + b AS p FROM UNNEST(GENERATE_ARRAY(1, 300)) a, UNNEST(GENERATE_ARRAY(1, 1000)) b "
          "ORDER BY p DESC LIMIT 3",
          environment),
      "301000\n300999\n300998\n");
  EXPECT_LT(most, 4 << 20);
}

TEST_F(BoundsTest, ExplainsAndMeasures) {
  Put("r1", "a", "q", 1, "v");
  const std::string plan =
      Query("EXPLAIN SELECT _key FROM t WHERE STARTS_WITH(_key, 'r') AND a['q'] = 'v' LIMIT 3");
  EXPECT_NE(plan.find("ScanColumns: projects/p/instances/i/tables/t, 1 ranges [r, s)"), std::string::npos)
      << plan;
  EXPECT_NE(plan.find("Limit: at most 3 rows"), std::string::npos) << plan;
  const std::string measured = Query("EXPLAIN ANALYZE SELECT _key FROM t WHERE a['q'] = 'v'");
  EXPECT_NE(measured.find("ScanColumns: 1 rows, 1 batches, "), std::string::npos) << measured;
  EXPECT_NE(measured.find("; 1 rows read, 1 cells, 1 bytes of values"), std::string::npos) << measured;
  EXPECT_THAT(measured, testing::ContainsRegex("ScanColumns: 1 rows, 1 batches, [0-9]+ us; "));
}

// A line for each operator, without what it does: "Limit 3, Filter 10, Scan 100"; "?" if nobody knows.
std::string Expected(const std::string& explained) {
  std::string text;
  for (std::string_view rest = explained; !rest.empty(); rest.remove_prefix(rest.find('\n') + 1)) {
    std::string_view line = rest.substr(0, rest.find('\n'));
    line.remove_prefix(line.find_first_not_of("\" "));
    text += (text.empty() ? "" : ", ") + std::string(line.substr(0, line.find(':'))) + ' ';
    const size_t at = line.rfind("about ");
    text += at == std::string_view::npos ? "?" : line.substr(at + 6, line.find(' ', at + 6) - at - 6);
  }
  return text;
}

TEST_F(BoundsTest, ExplainEstimatesRows) {
  for (int i = 0; i < 100; ++i) Put(fmt::format("r{:02}", i), "a", "q", 1, "v");
  for (const auto& [sql, expected] : std::vector<std::pair<std::string, std::string>>{
           {"SELECT _key FROM t", "Scan 100"},
           {"SELECT _key FROM t LIMIT 3 OFFSET 1", "Limit 3, Scan 100"},
           {"SELECT _key FROM t LIMIT 3 OFFSET 98", "Limit 2, Scan 100"},
           // What the ranges say already does not count again.
           {"SELECT _key FROM t WHERE _key < 'r50'", "Filter 50, Scan 50"},
           {"SELECT _key FROM t WHERE _key < 'r50' AND a['q'] = 'v'", "Project 5, Filter 5, ScanColumns 50"},
           {"SELECT _key FROM t WHERE NOT (a['q'] = 'v' OR a['q'] > 'x')", "Project 63, Filter 63, Scan 100"},
           {"SELECT COUNT(*) FROM t", "Aggregate 1, Scan 100"},
           {"SELECT a['q'], COUNT(*) FROM t GROUP BY 1 ORDER BY 2 LIMIT 4",
            "Limit 4, Sort 4, GroupBy 10, Scan 100"},
           {"SELECT * FROM t, UNNEST([1, 2])", "Unnest ?, Scan 100"},
           {"SELECT 1 UNION ALL SELECT COUNT(*) FROM t",
            "Union 2, Project 1, SingleRow 1, Aggregate 1, Scan 100"},
           {"SELECT 1 FROM t JOIN t u ON t._key = u._key WHERE u._key < 'r05'",
            "Project 100, Join 100, Scan 100, Filter 5, Scan 5"},
           {"SELECT 1 FROM t CROSS JOIN t u", "Project 10000, Join 10000, Scan 100, Scan 100"}}) {
    EXPECT_EQ(Expected(Query("EXPLAIN " + sql)), expected) << Query("EXPLAIN " + sql);
  }
  EXPECT_THAT(Query("EXPLAIN ANALYZE SELECT _key FROM t WHERE a['q'] = 'x'"),
              testing::ContainsRegex("Filter: 0 rows, 0 batches, .*; about 10 rows expected"));
}

// Rows, cells and bytes of what was read, however it was read: as cells, as numbers, as numbers by time.
TEST_F(BoundsTest, MeasuresWhatScansRead) {
  for (const char* const row : {"r1", "r2"}) {
    for (int64_t time = 1; time <= 3; ++time) Put(row, "a", "n", time, "12");
  }
  const auto measured = [&](const std::string& sql) { return Query("EXPLAIN ANALYZE " + sql); };
  EXPECT_THAT(measured("SELECT a FROM t(with_history => TRUE)"),
              testing::HasSubstr("; 2 rows read, 6 cells, 12 bytes of values"));
  EXPECT_THAT(measured("SELECT SUM(CAST(CAST(a['n'] AS STRING) AS FLOAT64)) FROM t"),
              testing::HasSubstr("; 2 rows read, 2 cells, "));
  EXPECT_THAT(measured("SELECT SUM(CAST(CAST(n AS STRING) AS FLOAT64)) FROM UNPACK((SELECT a['n'] AS n FROM "
                       "t(with_history => TRUE)))"),
              testing::HasSubstr("; 2 rows read, 6 cells, "));
}

}  // namespace
}  // namespace sonde::sql
