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

TEST(TooLateForRollups, NamesWhatIsForgotten) {
  const SeriesSchema schema = Parse("max_age: 2h");
  // Alive, though its hour began before what is kept.
  EXPECT_EQ(TooLateForRollups(schema, kNoon, kNoon + 2 * kMicrosPerHour), Texts{});
  EXPECT_EQ(
      TooLateForRollups(schema, kNoon - 1, kNoon + 2 * kMicrosPerHour),
      Texts{"points before 2021-03-04T12:00:00Z are not in roll-ups: they are forgotten already (max_age "
            "2h)"});
  EXPECT_EQ(TooLateForRollups(schema, kTimeEndMicros, kNoon), Texts{});  // no point at all
  EXPECT_EQ(TooLateForRollups(Parse("max_versions: all"), 0, kNoon), Texts{});
}

TEST(TooLateForRollups, NamesFamiliesThatAreKeptForDifferentTimes) {
  const SeriesSchema schema =
      ParseSchema(
          "series: s\ntags: { h: string }\nfields: { x: int, y: { type: int, family: short } }\n"
          "key: [h, bucket]\nbucket: day\nretention: { max_age: 30d }\nfamilies: { short: { max_age: 2h } }\n"
          "derive:\n  - rollup: { table: r, every: 1h, retention: 5y }\n",
          "s.yaml")
          .value();
  EXPECT_EQ(TooLateForRollups(schema, kNoon - 1, kNoon + 2 * kMicrosPerHour),
            Texts{"points before 2021-03-04T12:00:00Z are not in roll-ups, with family 'short': they are "
                  "forgotten already (max_age 2h)"});
}

}  // namespace
}  // namespace sonde::series
