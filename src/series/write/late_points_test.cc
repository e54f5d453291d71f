#include "series/write/late_points.h"

#include <gtest/gtest.h>

#include "series/schema/schema_parser.h"

namespace sonde::series {
namespace {

constexpr int64_t kNoon = 18690 * kMicrosPerDay + 12 * kMicrosPerHour;  // 2021-03-04
using Texts = std::vector<std::string>;

SeriesSchema Parse(std::string_view retention) {
  return ParseSchema(
             "series: s\ntags: { h: string }\nfields: { x: int }\nkey: [h, bucket]\nbucket: day\n"
             "retention: { " +
                 std::string(retention) + " }\nderive:\n  - rollup: { table: r, every: 1h, retention: 5y }\n",
             "s.yaml")
      .value();
}

TEST(TooLateForRollups, NamesThePiecesThatLackPoints) {
  const SeriesSchema schema = Parse("max_age: 2h");
  const int64_t now = kNoon + 30 * kMicrosPerMinute;
  // Alive, but its hour began before what is kept.
  EXPECT_EQ(
      TooLateForRollups(schema, now - 2 * kMicrosPerHour + 1, now),
      Texts{"points before 2021-03-04T11:00:00Z are not in roll-up 'r': of their pieces of one hour, some "
            "points are forgotten already (max_age 2h)"});
  EXPECT_EQ(TooLateForRollups(schema, kNoon - kMicrosPerHour, now), Texts{});
  EXPECT_EQ(TooLateForRollups(schema, kNoon - 2 * kMicrosPerHour, kNoon), Texts{});
  EXPECT_EQ(TooLateForRollups(schema, kTimeEndMicros, now), Texts{});  // no point at all
  EXPECT_EQ(TooLateForRollups(Parse("max_versions: all"), 0, now), Texts{});
}

}  // namespace
}  // namespace sonde::series
