// Aggregates over frames: the same as those of the rows of each frame by themselves.
#include <gtest/gtest.h>

#include <string>
#include <string_view>

#include "sql/exec/exec_test_support.h"

namespace sonde::sql {
namespace {

// Rows with NULL, NaN and sums that are exact only if each number is; x is 51, 52, ... 2550.
constexpr std::string_view kRows =
    "(SELECT x, IF(MOD(x, 5) = 0, NULL, MOD(x * 7919, 1009) - 500) AS i, IF(MOD(x, 6) = 0, NULL, IF(MOD(x, "
    "601) = "
    "0, CAST('nan' AS FLOAT64), IF(MOD(x, 3) = 0, 1e15, 0.1) * (MOD(x * 31, 17) - 8))) AS d, CONCAT('t', "
    "CAST(MOD(x "
    "* 17, 103) AS STRING)) AS s, DIV(x, 4) AS k FROM (SELECT u * 50 + v AS x FROM UNNEST(GENERATE_ARRAY(1, "
    "50)) u, "
    "UNNEST(GENERATE_ARRAY(1, 50)) v))";

constexpr std::string_view kAggregates[] = {
    "SUM({}.i)",        "SUM({}.d)",         "AVG({}.i)",     "AVG({}.d)",
    "COUNT({}.d)",      "COUNT(*)",          "MIN({}.d)",     "MAX({}.s)",
    "MIN({}.s)",        "COUNTIF({}.i > 3)", "BIT_XOR({}.i)", "LOGICAL_AND({}.i IS NULL)",
    "STDDEV_POP({}.i)", "STRING_AGG({}.s)"};

std::string Of(std::string_view aggregate, const std::string& name) {
  std::string text(aggregate);
  const size_t at = text.find("{}.");
  return at == std::string::npos ? text : text.replace(at, 3, name.empty() ? "" : name + ".");
}

class FramedAggregateTest : public ExecTest {
 protected:
  // `condition`: which rows q are in the frame of row p.
  void ExpectFrames(const std::string& frame, const std::string& condition) {
    for (const std::string_view aggregate : kAggregates) {
      const std::string rows(kRows);
      const std::string found =
          Query("SELECT x, " + Of(aggregate, "") + " OVER (" + frame + ") FROM " + rows + " ORDER BY x");
      const std::string expected = Query("SELECT x, (SELECT " + Of(aggregate, "q") + " FROM " + rows +
                                         " q WHERE " + condition + ") FROM " + rows + " p ORDER BY x");
      EXPECT_TRUE(found == expected) << aggregate << " OVER (" << frame << ")\n"
                                     << found.substr(0, 300) << "\n"
                                     << expected.substr(0, 300);
    }
  }
};

TEST_F(FramedAggregateTest, LongFramesOfRows) {
  ExpectFrames("ORDER BY x ROWS BETWEEN 400 PRECEDING AND 300 FOLLOWING",
               "q.x BETWEEN p.x - 400 AND p.x + 300");
}

TEST_F(FramedAggregateTest, LongFramesOfKeys) {
  ExpectFrames("ORDER BY k RANGE BETWEEN 150 PRECEDING AND 10 PRECEDING",
               "q.k BETWEEN p.k - 150 AND p.k - 10");
}

TEST_F(FramedAggregateTest, FramesThatEndWithThePartition) {
  ExpectFrames("PARTITION BY MOD(x, 2) ORDER BY x ROWS BETWEEN CURRENT ROW AND UNBOUNDED FOLLOWING",
               "q.x >= p.x AND MOD(q.x, 2) = MOD(p.x, 2)");
}

TEST_F(FramedAggregateTest, ShortFrames) {
  ExpectFrames("ORDER BY x ROWS BETWEEN 3 PRECEDING AND 70 FOLLOWING", "q.x BETWEEN p.x - 3 AND p.x + 70");
}

// Lists do not go by parts; a frame has all its rows, in their order.
TEST_F(FramedAggregateTest, ListsOfFrames) {
  const std::string rows(kRows);
  EXPECT_EQ(
      Query("SELECT COUNTIF(a[OFFSET(0)] = GREATEST(x - 300, 51) AND a[ORDINAL(ARRAY_LENGTH(a))] = LEAST(x + "
            "300, "
            "2550) AND ARRAY_LENGTH(a) = LEAST(x + 300, 2550) - GREATEST(x - 300, 51) + 1) FROM (SELECT x, "
            "ARRAY_AGG(x) OVER (ORDER BY x ROWS BETWEEN 300 PRECEDING AND 300 FOLLOWING) AS a FROM " +
            rows + ")"),
      "2500\n");
}

}  // namespace
}  // namespace sonde::sql
