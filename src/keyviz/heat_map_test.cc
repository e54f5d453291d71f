#include "keyviz/heat_map.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace sonde {
namespace {

constexpr int64_t kStart = 1'700'000'000 - 1'700'000'000 % (4 * 3600);

class HeatMapTest : public testing::Test {
 protected:
  HeatMapTest()
      : directory_(std::filesystem::path(testing::TempDir()) / fmt::format("heat-map-{}", getpid())) {
    std::filesystem::remove_all(directory_);
    history_ = *AccessHistory::Open(directory_);
  }
  ~HeatMapTest() override {
    history_.reset();
    std::filesystem::remove_all(directory_);
  }

  void Append(int64_t second, const PartitionRef& partition, std::vector<uint64_t> reads) {
    std::vector<AccessCounts> counts;
    for (const uint64_t count : reads) {
      counts.push_back({.reads = count, .requests = 1, .latency_micros = 10 * count});
    }
    history_->Append({1, kStart + second, partition, std::move(counts), {}});
  }
  HeatMap Build(int64_t from, int64_t to, RowRange keys = {}, size_t columns_max = 1000,
                size_t rows_max = 1000, int64_t now = 0) {
    return *BuildHeatMap(*history_,
                         {.table = 1,
                          .start_seconds = kStart + from,
                          .end_seconds = kStart + to,
                          .keys = std::move(keys),
                          .columns_max = columns_max,
                          .rows_max = rows_max},
                         kStart + std::max(to, now), *parts_, keys_);
  }
  static std::vector<uint64_t> Reads(const HeatMap& map) {
    std::vector<uint64_t> reads;
    for (const AccessCounts& counts : map.counts) reads.push_back(counts.reads);
    return reads;
  }

  const std::filesystem::path directory_;
  std::unique_ptr<AccessHistory> history_;
  const PartitionRef parts_ = std::make_shared<Partition>(std::vector<std::string>{"", "g", "p"});
  KeySample keys_;
};

TEST_F(HeatMapTest, HasTimeAcrossAndKeysDown) {
  Append(0, parts_, {1, 2, 3});
  Append(2, parts_, {4, 5, 6});
  const HeatMap map = Build(0, 3);
  EXPECT_EQ(map.columns, 3);
  EXPECT_EQ(map.column_seconds, 1);
  EXPECT_EQ(map.row_starts, (std::vector<std::string>{"", "g", "p"}));
  EXPECT_EQ(Reads(map), (std::vector<uint64_t>{1, 2, 3, 0, 0, 0, 4, 5, 6}));
  EXPECT_EQ(ValueOf(map.at(2, 1), HeatMetric::kLatency), 50);
}

TEST_F(HeatMapTest, ColumnsAreJoinedToFit) {
  for (int second = 0; second < 100; ++second) Append(second, parts_, {1, 0, 0});
  const HeatMap map = Build(0, 100, {}, 10);
  EXPECT_EQ(map.columns, 10);
  EXPECT_EQ(map.column_seconds, 10);
  for (size_t column = 0; column < 10; ++column) EXPECT_EQ(map.at(column, 0).reads, 10);
}

TEST_F(HeatMapTest, RowsAreThinnedOutToFit) {
  Append(0, parts_, {1, 2, 3});
  const HeatMap map = Build(0, 1, {}, 10, 2);
  EXPECT_EQ(map.rows(), 2);
  EXPECT_EQ(map.at(0, 0).reads + map.at(0, 1).reads, 6);
}

TEST_F(HeatMapTest, AnEarlierTimeHasTheRowsOfAnotherMap) {
  Append(0, std::make_shared<Partition>(std::vector<std::string>{"", "c", "g", "p"}), {1, 2, 3, 4});
  Append(3600, parts_, {5, 6, 7});
  const HeatMap now = Build(3600, 3601);
  const absl::StatusOr<HeatMap> before = BuildHeatMap(
      *history_,
      {.table = 1, .start_seconds = kStart, .end_seconds = kStart + 1, .row_starts = now.row_starts},
      kStart + 3601, *parts_, keys_);
  ASSERT_TRUE(before.ok());
  EXPECT_EQ(before->row_starts, now.row_starts);
  EXPECT_EQ(Reads(*before), (std::vector<uint64_t>{3, 3, 4}));
}

TEST_F(HeatMapTest, KeysOutsideAreLeftOut) {
  Append(0, parts_, {100, 10, 1'000});
  const HeatMap map = Build(0, 1, {"g", "p"});
  EXPECT_EQ(map.row_starts, std::vector<std::string>{"g"});
  EXPECT_EQ(map.keys_end, "p");
  EXPECT_EQ(Reads(map), std::vector<uint64_t>{10});
}

TEST_F(HeatMapTest, OlderTimesComeFromCoarserTiers) {
  for (int second = 0; second < 120; ++second) Append(second, parts_, {1, 1, 1});
  EXPECT_EQ(Build(0, 120, {}, 1000, 1000, 3000).column_seconds, 1);
  HeatMap map = Build(0, 120, {}, 1000, 1000, 7200);
  EXPECT_EQ(map.column_seconds, 60);
  EXPECT_EQ(map.at(0, 0).reads, 60);
  map = Build(0, 1800, {}, 1000, 1000, 3 * 24 * 3600);
  EXPECT_EQ(map.column_seconds, 900);
  EXPECT_EQ(map.at(0, 0).reads, 120);
}

TEST_F(HeatMapTest, IsNeverLargerThanAskedFor) {
  Append(5, parts_, {1, 1, 1});
  for (const int64_t from : {0, 1, 7, 59, 61, 899}) {
    for (const int64_t span : {1, 7, 59, 100, 1000, 5000, 100'000, 2'000'000}) {
      for (const size_t columns_max : {1, 3, 100}) {
        const HeatMap map = Build(from, from + span, {}, columns_max);
        EXPECT_LE(map.columns, columns_max);
        EXPECT_GE(map.columns, 1);
        EXPECT_GE(map.start_seconds + map.column_seconds * static_cast<int64_t>(map.columns),
                  kStart + from + span);
      }
    }
  }
}

TEST_F(HeatMapTest, CountsTheKeysOfEachRow) {
  for (int i = 0; i < 30; ++i) {
    const std::string key = fmt::format("{}{}", i < 20 ? "a" : "h", i);
    keys_.Add(KeySample::HashOf(key), key, 0);
  }
  EXPECT_EQ(Build(0, 1).row_keys, (std::vector<double>{20, 10, 0}));
  EXPECT_EQ(Build(0, 1, {"a1", "h25"}).row_keys, (std::vector<double>{19, 5}));
}

TEST_F(HeatMapTest, OfThePastHasTheDivisionAndTheKeysOfItsTime) {
  const auto then = std::make_shared<const Partition>(std::vector<std::string>{"", "a", "b"},
                                                      std::vector<uint64_t>{1, 40, 9});
  Append(0, parts_, {1, 2, 3});
  Append(1, then, {1, 2, 3});
  for (int i = 0; i < 30; ++i) {
    const std::string key = fmt::format("now{}", i);
    keys_.Add(KeySample::HashOf(key), key, kStart + 1'000);
  }
  for (const int64_t now : {1'000, 50 * 3'600}) {
    const HeatMap map = Build(0, 3, {}, 1000, 1000, now);
    EXPECT_EQ(map.row_starts, then->starts());
    EXPECT_EQ(map.row_keys, (std::vector<double>{1, 40, 9}));
  }
}

}  // namespace
}  // namespace sonde
