// Queries whose memory is refused put rows on disk, and give the same rows as with all the memory that they want.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sql/exec/exec_test_support.h"
#include "sql/spill/spill_space.h"

namespace sonde::sql {
namespace {

// Rows of many types, with NULL, NaN and lists, that repeat but for x; {n} thousand rows, {p} bytes of ballast.
constexpr std::string_view kRows =
    "(SELECT x, MOD(x * 7919, 5003) AS i, IF(MOD(x, 5) = 0, NULL, IF(MOD(x, 7) = 0, CAST('nan' AS FLOAT64), "
    "IF(MOD(x, 11) = 0, -0.0, MOD(x * 31, 17) / 4))) AS d, IF(MOD(x, 6) = 0, NULL, CONCAT('text ', "
    "CAST(MOD(x * "
    "17, 1009) AS STRING), REPEAT('p', {p}))) AS s, CAST(CAST(MOD(x, 251) AS STRING) AS BYTES) AS b, "
    "DATE_ADD(DATE '2020-01-01', INTERVAL MOD(x, 366) DAY) AS t, [MOD(x, 3), NULL, MOD(x, 4001)] AS a, "
    "IF(MOD(x, 9) = 0, NULL, STRUCT(MOD(x, 4) AS f, CAST(MOD(x, 3989) AS STRING) AS g)) AS r, MOD(x, 2) = 0 "
    "AS o "
    "FROM (SELECT u * 1000 + v AS x FROM UNNEST(GENERATE_ARRAY(1, {n})) u, UNNEST(GENERATE_ARRAY(1, 1000)) "
    "v))";

// {} are such rows, {few} a tenth of them.  Orders are total, so that the results are.
constexpr std::string_view kQueries[] = {
    "SELECT * FROM {} ORDER BY d, s DESC, i, x",
    "SELECT x, s, a FROM {} ORDER BY s NULLS LAST, d DESC, x DESC LIMIT 9000 OFFSET 100",
    "SELECT x, s FROM {} ORDER BY CONCAT(s, 'x') DESC NULLS FIRST, x LIMIT 15000",
    "SELECT i, s, d, COUNT(*), SUM(d), AVG(d), MIN(s), MAX(t), COUNTIF(o), SUM(x) FROM {} GROUP BY i, s, d",
    "SELECT x, r, ANY_VALUE(s), MIN(d), VAR_SAMP(d), LOGICAL_AND(o), BIT_XOR(x) FROM {} GROUP BY x, r",
    "SELECT MOD(x, 3000), STRING_AGG(s, ','), ARRAY_AGG(x), MAX(s), APPROX_COUNT_DISTINCT(b) FROM {} GROUP "
    "BY 1",
    "SELECT DISTINCT s, t, r FROM {}",
    "SELECT COUNT(*) FROM (SELECT DISTINCT x, b, s FROM {})",
    "SELECT COUNT(DISTINCT CONCAT(s, CAST(x AS STRING))), COUNT(DISTINCT s), COUNT(DISTINCT x), MAX(x) FROM "
    "{}",
    "SELECT o, COUNT(DISTINCT CONCAT(s, CAST(i AS STRING))), COUNT(DISTINCT x), SUM(DISTINCT i) FROM {} "
    "GROUP BY o",
    "SELECT MOD(x, 100), ARRAY_AGG(x ORDER BY d, s, x LIMIT 3), ARRAY_AGG(s IGNORE NULLS ORDER BY s DESC "
    "LIMIT 2) "
    "FROM {} GROUP BY 1",
    "SELECT MOD(x, 10), ARRAY_AGG(DISTINCT i ORDER BY i LIMIT 5), COUNT(DISTINCT IF(o, s, NULL)) FROM {} "
    "GROUP BY 1",
    "SELECT p.x, q.x, q.s, q.r FROM {few} p JOIN {} q ON p.i = q.i AND p.o = q.o",
    "SELECT p.x, q.x, q.s FROM {few} p LEFT JOIN {} q ON p.s = q.s AND p.d < q.d",
    "SELECT p.x, q.x, q.s FROM {few} p RIGHT JOIN {} q ON p.d = q.d AND p.i = q.i",
    "SELECT p.x, q.x, q.s FROM {few} p FULL JOIN {} q ON p.i = q.i + 3 AND p.x > q.x",
    "SELECT p.x, q.x, q.s FROM {few} p FULL JOIN {} q ON 1 = 1 AND p.i < 2 AND q.i < 4",
    "SELECT p.x, q.x, q.s FROM {few} p FULL JOIN {} q ON p.o = q.o AND p.i < 2 AND q.i < 4",
    "SELECT p.x, q.x, q.s FROM {few} p ASOF JOIN {} q ON p.i = q.i AND p.x >= q.x",
    "SELECT x, ROW_NUMBER() OVER (PARTITION BY i ORDER BY x), SUM(d) OVER (PARTITION BY i ORDER BY x ROWS 2 "
    "PRECEDING), "
    "LAG(s) OVER (PARTITION BY i ORDER BY x) FROM {}",
    "SELECT x, COUNT(*) OVER (PARTITION BY s), MAX(x) OVER (PARTITION BY b, s ORDER BY x) FROM {}",
    "SELECT s, t FROM {} EXCEPT DISTINCT SELECT s, t FROM {few}",
    "SELECT s, d FROM {} EXCEPT ALL SELECT s, d FROM {few}",
    "SELECT s, t, x FROM {few} INTERSECT DISTINCT SELECT s, t, x FROM {}",
    "SELECT s, d, r FROM {} INTERSECT ALL SELECT s, d, r FROM {}",
    "SELECT z, (SELECT COUNT(*) FROM (SELECT DISTINCT s, x + z FROM {few})) FROM UNNEST([1, 2, 3]) z",
};

std::string ReplaceAll(std::string_view text, std::string_view from, const std::string& to) {
  std::string replaced(text);
  for (size_t at = replaced.find(from); at != std::string::npos; at = replaced.find(from, at + to.size())) {
    replaced.replace(at, from.size(), to);
  }
  return replaced;
}

std::string TextOf(std::string_view query, int rows, int ballast) {
  const auto rows_text = [ballast](int count) {
    return ReplaceAll(ReplaceAll(kRows, "{n}", std::to_string(count / 1'000)), "{p}",
                      std::to_string(ballast));
  };
  rows *= CampaignScale();
  return ReplaceAll(ReplaceAll(query, "{few}", rows_text(rows / 10)), "{}", rows_text(rows));
}

std::vector<std::string> SortedLines(const std::string& text) {
  std::vector<std::string> lines;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  std::sort(lines.begin(), lines.end());
  return lines;
}

class SpillQueryTest : public ExecTest {
 protected:
  void SetUp() override {
    ExecTest::SetUp();
    std::string name = testing::TempDir() + "spill-query-XXXXXX";
    directory_ = ::mkdtemp(name.data());
    space_ = std::make_unique<SpillSpace>(directory_, SpillSpace::Limits{.free_percent_min = 0});
  }
  void TearDown() override {
    EXPECT_EQ(space_->bytes(), 0);
    // Also empty: the files have no names.
    EXPECT_EQ(::rmdir(directory_.c_str()), 0);
  }

  // With memory of so many bytes.
  ExecutionEnvironment Tight(int64_t bytes_max) {
    ExecutionEnvironment environment = Environment();
    environment.spill = space_.get();
    environment.hold = [this, bytes_max](int64_t more) -> absl::Status {
      if (more > 0 && held_ + more > bytes_max) {
        ++refusals_;
        return absl::ResourceExhaustedError("no more");
      }
      held_ += more;
      return absl::OkStatus();
    };
    return environment;
  }

  // The descriptors of files of the directory, which have no names any more.
  std::vector<int> SpillFiles() const {
    std::vector<int> descriptors;
    for (int descriptor = 0; descriptor < 256; ++descriptor) {
      char target[1'024];
      const std::string link = "/proc/self/fd/" + std::to_string(descriptor);
      const ssize_t size = ::readlink(link.c_str(), target, sizeof(target));
      if (size > 0 && std::string_view(target, static_cast<size_t>(size)).starts_with(directory_)) {
        descriptors.push_back(descriptor);
      }
    }
    return descriptors;
  }

  std::string directory_;
  std::unique_ptr<SpillSpace> space_;
  int64_t held_ = 0;
  int refusals_ = 0;
};

TEST_F(SpillQueryTest, GivesTheRowsOfAQueryWithMuchMemory) {
  int refused = 0;
  for (const std::string_view query : kQueries) {
    for (const auto& [rows, ballast] : {std::pair{30'000, 300}, std::pair{30'000, 0}}) {
      const std::string sql = TextOf(query, rows, ballast);
      const std::string expected = Query(sql);
      ASSERT_EQ(expected.find(": "), std::string::npos) << expected.substr(0, 300);
      refusals_ = 0;
      const std::string found = Query(sql, Tight(6 << 20));
      if (query.find("ORDER BY d, s DESC") != std::string_view::npos) {
        EXPECT_TRUE(found == expected) << query;
      }
      const bool is_same = SortedLines(found) == SortedLines(expected);
      EXPECT_TRUE(is_same) << query << "\n" << found.substr(0, 300) << "\n" << expected.substr(0, 300);
      EXPECT_EQ(held_, 0) << query;
      if (ballast > 0) {
        refused += refusals_ > 0 ? 1 : 0;
      }
    }
  }
  EXPECT_GE(refused, 23);
}

TEST_F(SpillQueryTest, MergesManyRuns) {
  // Runs of a MiB at most: they are merged on several levels.
  const std::string sql = TextOf("SELECT x, s FROM {} ORDER BY s, d, x", 60'000, 600);
  const std::string found = Query(sql, Tight(2 << 20));
  EXPECT_TRUE(found == Query(sql)) << found.substr(0, 300);
  EXPECT_GT(refusals_, 16);
}

TEST_F(SpillQueryTest, DividesOneKeyThatHasAllRows) {
  const std::string sql = TextOf(
      "SELECT COUNT(*), SUM(p.x), SUM(q.x), SUM(LENGTH(q.s)) FROM {few} p JOIN {} q ON MOD(p.x, 1) = "
      "MOD(q.x, 1) AND p.i + q.i = 5000",
      20'000, 300);
  EXPECT_EQ(Query(sql, Tight(4 << 20)), Query(sql));
  EXPECT_GT(refusals_, 1);
}

TEST_F(SpillQueryTest, RefusesWhatCannotBeDivided) {
  const std::pair<std::string_view, std::string_view> kOneValue[] = {
      {"SELECT ARRAY_AGG(s) FROM {}", "Aggregate"},
      {"SELECT STRING_AGG(s) FROM {}", "Aggregate"},
      {"SELECT s, SUM(x) OVER () FROM {}", "Window"},
      {"SELECT ARRAY(SELECT s FROM {})", "Subquery"}};
  for (const auto& [query, name] : kOneValue) {
    const std::string found = Query(TextOf(query, 30'000, 300), Tight(4 << 20));
    EXPECT_TRUE(found.starts_with("RESOURCE_EXHAUSTED: " + std::string(name) + " holds "))
        << found.substr(0, 300);
    EXPECT_EQ(held_, 0);
  }
}

TEST_F(SpillQueryTest, EndsAtTheLimitOnDisk) {
  space_ = std::make_unique<SpillSpace>(
      directory_, SpillSpace::Limits{.query_bytes_max = 1 << 20, .free_percent_min = 0});
  int refused = 0;
  for (const std::string_view query : kQueries) {
    const std::string sql = TextOf(query, 20'000, 300);
    const std::string found = Query(sql, Tight(4 << 20));
    EXPECT_EQ(space_->bytes(), 0);
    if (found.find("RESOURCE_EXHAUSTED: ") == std::string::npos) continue;
    EXPECT_NE(found.find("; 1048576 is the limit of a query"), std::string::npos)
        << query << found.substr(0, 300);
    ++refused;
  }
  EXPECT_GT(refused, 15);
}

// A byte that changes on disk is an error, or was not needed any more; never another row.
TEST_F(SpillQueryTest, FindsDamage) {
  int found_count = 0;
  for (const std::string_view query : kQueries) {
    const std::string sql = TextOf(query, 20'000, 300);
    const std::string expected = Query(sql);
    ExecutionEnvironment environment = Tight(4 << 20);
    int questions = 0;  // since there were files
    environment.interrupted = [&]() -> absl::Status {
      if (space_->bytes() == 0 || ++questions != 100) return absl::OkStatus();
      for (const int file : SpillFiles()) {
        char byte = 0;
        const off_t size = ::lseek(file, 0, SEEK_END);
        for (off_t place = 100; place < size && ::pread(file, &byte, 1, place) == 1; place += 50'000) {
          byte = static_cast<char>(byte ^ 4);
          if (::pwrite(file, &byte, 1, place) != 1) break;
        }
      }
      return absl::OkStatus();
    };
    const std::string found = Query(sql, environment);
    const bool is_found = found.find("DATA_LOSS") != std::string::npos;
    found_count += is_found ? 1 : 0;
    EXPECT_TRUE(is_found || SortedLines(found) == SortedLines(expected)) << query << found.substr(0, 300);
    EXPECT_EQ(held_, 0);
  }
  EXPECT_GT(found_count, 10);
}

double CpuSecondsOfThread() {
  timespec time;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

TEST_F(SpillQueryTest, AsksOftenWhetherItIsInterrupted) {
  for (const std::string_view query : kQueries) {
    // Cancelled at some places on its way.
    for (const double at : {0.05, 0.2}) {
      const double start = CpuSecondsOfThread();
      double last = start;
      double longest = 0;
      ExecutionEnvironment environment = Tight(4 << 20);
      environment.interrupted = [&]() -> absl::Status {
        const double now = CpuSecondsOfThread();
        longest = std::max(longest, now - last);
        last = now;
        return now - start > at ? absl::CancelledError("enough") : absl::OkStatus();
      };
      Query(TextOf(query, 30'000, 300), environment);
      longest = std::max(longest, CpuSecondsOfThread() - last);
      EXPECT_LT(longest, 0.1) << query;
      EXPECT_EQ(held_, 0);
      EXPECT_EQ(space_->bytes(), 0);
      EXPECT_TRUE(SpillFiles().empty());
    }
  }
}

}  // namespace
}  // namespace sonde::sql
