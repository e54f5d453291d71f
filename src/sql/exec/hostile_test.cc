// Queries that mean harm: each ends soon, within its memory, with an answer or a clear error.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "absl/time/clock.h"
#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

constexpr std::string_view kManyRows =
    "(SELECT x * 10000 + y AS a, CONCAT('text ', CAST(y AS STRING)) AS s FROM UNNEST(GENERATE_ARRAY(0, "
    "9999)) x, "
    "UNNEST(GENERATE_ARRAY(0, 9999)) y)";

std::string Times(std::string_view text, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += text;
  return all;
}

std::string WithRows(std::string_view text) {
  std::string sql(text);
  for (size_t at = sql.find("{}"); at != std::string::npos; at = sql.find("{}"))
    sql.replace(at, 2, kManyRows);
  return sql;
}

class HostileTest : public ExecTest {
 protected:
  // With 16 MiB of memory, cancelled after `cancel_after`.
  std::string Ask(const std::string& sql, absl::Duration cancel_after = absl::InfiniteDuration()) {
    const absl::Time cancel_at = absl::Now() + cancel_after;
    int64_t held = 0;
    ExecutionEnvironment environment = Environment();
    environment.hold = [&held](int64_t more) -> absl::Status {
      constexpr int64_t kMax = 16 << 20;
      if (more > 0 && held + more > kMax) return absl::ResourceExhaustedError("16777216 is the limit");
      held += more;
      return absl::OkStatus();
    };
    environment.interrupted = [&]() -> absl::Status {
      return absl::Now() > cancel_at ? absl::CancelledError("enough") : absl::OkStatus();
    };
    const std::string answer = Query(sql, environment);
    late_ = absl::Now() - cancel_at;
    EXPECT_EQ(held, 0) << sql.substr(0, 200);
    return answer.substr(0, 300);
  }

  absl::Duration late_;  // how long the last query went on after it was cancelled
};

TEST_F(HostileTest, DeepNesting) {
  const std::string deep[] = {
      "SELECT " + Times("(", 100'000) + "1" + Times(")", 100'000),
      "SELECT " + Times("NOT ", 100'000) + "TRUE",
      "SELECT " + Times("- ", 100'000) + "1",
      Times("SELECT * FROM (", 10'000) + "SELECT 1" + Times(")", 10'000),
      "SELECT " + Times("[", 100'000),
      "SELECT " + Times("CASE WHEN TRUE THEN ", 50'000) + "1",
      "SELECT CAST(NULL AS " + Times("ARRAY<STRUCT<a ", 10'000) + "INT64" + Times(">>", 10'000) + ")",
      "SELECT " + Times("ABS(", 50'000) + "1" + Times(")", 50'000),
  };
  for (const std::string& sql : deep) {
    EXPECT_TRUE(Ask(sql).starts_with("INVALID_ARGUMENT: ")) << sql.substr(0, 60) << "...: " << Ask(sql);
  }
  EXPECT_EQ(Ask("SELECT 0" + Times(" + 1", 90)), "90\n");
}

TEST_F(HostileTest, LongLists) {
  std::string numbers = "0";
  for (int i = 1; i < 100'000; ++i) numbers += "," + std::to_string(i);
  EXPECT_EQ(Ask("SELECT 99999 IN (" + numbers + ")"), "true\n");
  EXPECT_EQ(Ask("SELECT 100000 IN (" + numbers + ")"), "false\n");
  EXPECT_TRUE(Ask("SELECT 1 IN (" + numbers + ",7,8,9)").starts_with("INVALID_ARGUMENT: "));
  EXPECT_TRUE(Ask("SELECT ARRAY_LENGTH(GENERATE_ARRAY(1, 1000000000000))")
                  .starts_with("OUT_OF_RANGE: Cannot generate arrays with more than "));
}

TEST_F(HostileTest, GiantValues) {
  for (const std::string_view sql :
       {"SELECT REPEAT('x', 300000000)", "SELECT LENGTH(REPEAT(REPEAT('x', 100000), 100000))",
        "SELECT STRING_AGG(s) FROM {}", "SELECT ARRAY_AGG(a) FROM {}",
        "SELECT ARRAY_CONCAT_AGG([a, a, a]) FROM {}", "SELECT ARRAY(SELECT s FROM {})",
        "SELECT LPAD('x', 1000000000, 'y')"}) {
    const std::string answer = Ask(WithRows(sql), absl::Seconds(20));
    EXPECT_TRUE(answer.starts_with("RESOURCE_EXHAUSTED: ") || answer.starts_with("OUT_OF_RANGE: "))
        << sql << ": " << answer;
  }
}

TEST_F(HostileTest, RegularExpressions) {
  const std::string text = "'" + Times("a", 20'000) + "'";
  for (const std::string& pattern :
       {std::string("(a*)*b"), std::string("(a|a|a|a)*$b"), Times("a?", 200) + Times("a", 200),
        std::string("((a{0,30}){0,30}){0,30}"), std::string("(((((a+)+)+)+)+)+b")}) {
    const absl::Time begin = absl::Now();
    const std::string answer =
        Ask("SELECT REGEXP_CONTAINS(" + text + ", r'" + pattern + "')", absl::Seconds(5));
    EXPECT_TRUE(answer == "true\n" || answer == "false\n" || answer.starts_with("OUT_OF_RANGE: ") ||
                answer.starts_with("RESOURCE_EXHAUSTED: "))
        << pattern << ": " << answer;
    EXPECT_LT(absl::Now() - begin, absl::Seconds(10)) << pattern;
  }
}

// Each operator ends soon after it was cancelled.  The clock is the wall's, so a busy machine has some leave.
TEST_F(HostileTest, EndsSoonAfterItWasCancelled) {
  for (const std::string_view sql :
       {"SELECT COUNT(*) FROM {} p, (SELECT a FROM {} LIMIT 10000) q",
        "SELECT p.a FROM {} p JOIN UNNEST([1, 2]) x ON p.a < x - 5",
        "SELECT COUNT(*) FROM {} p LEFT JOIN UNNEST(GENERATE_ARRAY(1, 10000)) q ON p.a > -q",
        "SELECT a FROM {} WHERE REGEXP_CONTAINS(s, '(x+x+)+y')", "SELECT a FROM {} ORDER BY s, a LIMIT 10",
        "SELECT s, COUNT(*), MAX(a), COUNT(DISTINCT MOD(a, 7)) FROM {} GROUP BY s",
        "SELECT MAX(r) FROM (SELECT RANK() OVER (ORDER BY s) AS r FROM (SELECT s FROM {} LIMIT 20000)), "
        "UNNEST(GENERATE_ARRAY(1, 10000)), UNNEST(GENERATE_ARRAY(1, 10000))",
        "SELECT DISTINCT s FROM {} EXCEPT DISTINCT SELECT s FROM {}",
        "SELECT (SELECT COUNT(*) FROM {} WHERE a > x) FROM UNNEST([1, 2, 3]) x",
        "SELECT ARRAY_AGG(a ORDER BY s LIMIT 2) FROM (SELECT a, s FROM {} LIMIT 50000), "
        "UNNEST(GENERATE_ARRAY(1, 10000)) z "
        "WHERE z < 0",
        "SELECT x FROM UNNEST(GENERATE_ARRAY(1, 10000)) x WHERE EXISTS (SELECT 1 FROM {} WHERE a < 0)"}) {
    for (int i = 1; i <= CampaignScale(); ++i) {
      const std::string answer = Ask(WithRows(sql), i * absl::Milliseconds(100));
      EXPECT_TRUE(answer.ends_with("CANCELLED: enough")) << sql << ": " << answer;
      EXPECT_LT(late_, absl::Milliseconds(500)) << sql;
    }
  }
}

}  // namespace
}  // namespace sonde::sql
