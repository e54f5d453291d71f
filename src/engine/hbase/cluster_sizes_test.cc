#include "engine/hbase/cluster_sizes.h"

#include <gtest/gtest.h>

namespace sonde {
namespace {

const std::vector<RangeStats> kRegions = {{"g", 60}, {"p", 0}, {"", 30}};

TEST(ClusterSizesTest, SharesARegionOutBetweenTheKeysInIt) {
  using Shares = std::vector<uint64_t>;
  EXPECT_EQ(ShareOut(kRegions, {""}, ""), (Shares{90}));
  EXPECT_EQ(ShareOut(kRegions, {"", "g", "p"}, ""), (Shares{60, 0, 30}));
  EXPECT_EQ(ShareOut(kRegions, {"", "b", "d", "r"}, ""), (Shares{20, 20, 35, 15}));
  EXPECT_EQ(ShareOut(kRegions, {"b"}, "d"), (Shares{20}));
  EXPECT_EQ(ShareOut(kRegions, {"a", "q"}, "s"), (Shares{30 + 10, 10}));
  EXPECT_EQ(ShareOut(kRegions, {"h"}, "k"), (Shares{0}));
}

TEST(ClusterSizesTest, CutsRangesWhereRegionsEnd) {
  const DividedRanges all = DivideByRegions(kRegions, {RowRange::All()});
  ASSERT_EQ(all.parts.size(), 3u);
  EXPECT_EQ(all.parts[0], (std::vector<RowRange>{{"", "g"}}));
  EXPECT_EQ(all.parts[1], (std::vector<RowRange>{{"g", "p"}}));
  EXPECT_EQ(all.parts[2], (std::vector<RowRange>{{"p", ""}}));
  EXPECT_TRUE(all.rest.empty());
  const DividedRanges some = DivideByRegions(kRegions, {{"a", "b"}, {"c", "h"}});
  ASSERT_EQ(some.parts.size(), 2u);
  EXPECT_EQ(some.parts[0], (std::vector<RowRange>{{"a", "b"}, {"c", "g"}}));
  EXPECT_EQ(some.parts[1], (std::vector<RowRange>{{"g", "h"}}));
  std::vector<RangeStats> many;
  for (char a = 'a'; a <= 'z'; ++a) {
    for (int i = 0; i < 50; ++i) many.push_back({{a, static_cast<char>('A' + i)}, 1});
  }
  many.push_back({"", 1});
  const DividedRanges divided = DivideByRegions(many, {RowRange::All()});
  EXPECT_EQ(divided.parts.size(), ClusterSizes::kPartsMax);
  EXPECT_EQ(divided.rest.size(), many.size() - ClusterSizes::kPartsMax);
}

}  // namespace
}  // namespace sonde
