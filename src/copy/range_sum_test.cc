#include "copy/range_sum.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

constexpr int64_t kNow = 1'000'000;

TableSchema Schema() {
  TableSchema schema;
  schema.families = {{.name = "all"},
                     {.name = "newest", .gc_rule = {GcRule::MaxVersions{1}}},
                     {.name = "young", .gc_rule = {GcRule::MaxAge{1'000}}}};
  return schema;
}

RangeSum SumOf(const std::vector<ReadRow>& rows) {
  RangeSummer summer(Schema(), kNow);
  for (const ReadRow& row : rows) summer.Add(row);
  return summer.sum();
}

TEST(RangeSumTest, CountsOnlyWhatTheRulesKeepAtTheMoment) {
  const ReadRow row{"r",
                    {{"all", "q", 5'000, "a"},
                     {"all", "q", 1'000, "b"},
                     {"newest", "q", 2'000, "c"},
                     {"newest", "q", 1'000, "d"},
                     {"newest", "z", 1'000, "e"},
                     {"young", "q", kNow, "f"},
                     {"young", "q", kNow - 2'000, "g"}}};
  const RangeSum sum = SumOf({row, {"s", {{"young", "q", 0, "h"}}}});
  EXPECT_EQ(sum.rows, 1);
  EXPECT_EQ(sum.cells, 5);
  const ReadRow kept{"r",
                     {{"all", "q", 5'000, "a"},
                      {"all", "q", 1'000, "b"},
                      {"newest", "q", 2'000, "c"},
                      {"newest", "z", 1'000, "e"},
                      {"young", "q", kNow, "f"}}};
  EXPECT_EQ(sum, SumOf({kept}));
}

TEST(RangeSumTest, DiffersWhereverACellDoes) {
  const RangeSum sum = SumOf({{"r", {{"all", "q", 1, "v"}}}});
  for (const ReadRow& other : {ReadRow{"s", {{"all", "q", 1, "v"}}}, ReadRow{"r", {{"all", "p", 1, "v"}}},
                               ReadRow{"r", {{"all", "q", 2, "v"}}}, ReadRow{"r", {{"all", "q", 1, "w"}}},
                               ReadRow{"r", {{"all", "qv", 1, ""}}}, ReadRow{"r", {{"newest", "q", 1, "v"}}},
                               ReadRow{"rall", {{"", "q", 1, "v"}}}}) {
    EXPECT_NE(SumOf({other}).hash, sum.hash) << other.row_key;
  }
  EXPECT_NE(SumOf({{"r", {{"all", "q", 1, "v"}}}, {"s", {{"all", "q", 1, "v"}}}}),
            SumOf({{"r", {{"all", "q", 1, "v"}, {"all", "r", 1, "v"}}}}));
}

}  // namespace
}  // namespace sonde
