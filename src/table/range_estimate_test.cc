#include "table/range_estimate.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/memory/memory_engine.h"

namespace sonde {
namespace {

constexpr TableId kTable = 1;

class RangeEstimateTest : public testing::Test {
 protected:
  void SetUp() override { ASSERT_TRUE(engine_->CreateTable({.id = kTable, .families = {{.id = 1}}}).ok()); }
  void Put(const std::string& row_key, size_t value_bytes) {
    const std::string value(value_bytes, 'v');
    FamilyDelta family{.family = 1};
    family.puts.push_back({.qualifier = "q", .timestamp_micros = 1, .value = value});
    RowDelta delta;
    delta.families.push_back(std::move(family));
    ASSERT_TRUE(engine_->Apply(kTable, std::vector<RowChange>{{row_key, std::move(delta)}}).ok());
  }
  RangeEstimate Estimate(const std::vector<RowRange>& ranges) {
    const auto estimate = EstimateRanges(engine_.get(), kTable, NormalizeRanges(ranges));
    EXPECT_TRUE(estimate.ok() && estimate->has_value());
    return estimate.ok() ? estimate->value_or(RangeEstimate()) : RangeEstimate();
  }

  const std::unique_ptr<MemoryEngine> engine_ = MemoryEngine::Create();
};

TEST_F(RangeEstimateTest, CountsFewRows) {
  EXPECT_EQ(Estimate({{"", ""}}).rows, 0);
  for (int i = 0; i < 20; ++i) Put(fmt::format("r{:02}", i), 10);
  for (const auto& [ranges, rows] :
       std::vector<std::pair<std::vector<RowRange>, double>>{{{{"", ""}}, 20},
                                                             {{{"r05", "r10"}}, 5},
                                                             {{{"r05", "r07"}, {"r18", ""}}, 4},
                                                             {{{"s", ""}}, 0},
                                                             {{}, 0}}) {
    EXPECT_EQ(Estimate(ranges).rows, rows);
    EXPECT_TRUE(Estimate(ranges).is_exact);
  }
}

TEST_F(RangeEstimateTest, GoesByTheBytesOfManyRows) {
  for (int i = 0; i < 20'000; ++i) Put(fmt::format("r{:05}", i), 50 + i % 7);
  EXPECT_NEAR(Estimate({{"", ""}}).rows, 20'000, 400);
  EXPECT_FALSE(Estimate({{"", ""}}).is_exact);
  EXPECT_NEAR(Estimate({{"r01000", "r06000"}}).rows, 5'000, 100);
  EXPECT_NEAR(Estimate({{"r01000", "r01500"}, {"r10000", "r18000"}}).rows, 8'500, 200);
  // More ranges than are measured.
  std::vector<RowRange> pairs;
  for (int i = 0; i < 20'000; i += 4)
    pairs.push_back({fmt::format("r{:05}", i), fmt::format("r{:05}", i + 2)});
  EXPECT_NEAR(Estimate(pairs).rows, 10'000, 500);
}

}  // namespace
}  // namespace sonde
