#include "keyviz/history.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace sonde {
namespace {

using testing::ElementsAre;

constexpr int64_t kStart = 1'700'000'000 - 1'700'000'000 % (4 * 3600);

class HistoryTest : public testing::Test {
 protected:
  HistoryTest()
      : directory_(std::filesystem::path(testing::TempDir()) / fmt::format("history-{}", getpid())) {
    std::filesystem::remove_all(directory_);
    Reopen();
  }
  ~HistoryTest() override { std::filesystem::remove_all(directory_); }

  void Reopen() {
    history_.reset();
    history_ = *AccessHistory::Open(directory_);
  }
  void Append(int64_t second, PartitionRef partition, std::vector<uint64_t> reads, TableId table = 1) {
    std::vector<AccessCounts> counts;
    for (const uint64_t count : reads) counts.push_back({.reads = count});
    history_->Append({table, kStart + second, std::move(partition), std::move(counts), {}});
  }
  // "second: reads of buckets", in order.
  std::vector<std::string> Read(size_t tier, int64_t from, int64_t to, TableId table = 1) {
    std::vector<std::string> columns;
    EXPECT_TRUE(history_
                    ->Read(tier, table, kStart + from, kStart + to,
                           [&](const Column& column) {
                             std::string text = fmt::format("{}:", column.start_seconds - kStart);
                             for (size_t i = 0; i < column.counts.size(); ++i) {
                               text +=
                                   fmt::format(" {}{}", column.partition->start(i), column.counts[i].reads);
                             }
                             columns.push_back(text);
                           })
                    .ok());
    return columns;
  }

  const std::filesystem::path directory_;
  std::unique_ptr<AccessHistory> history_;
  const PartitionRef two_ = std::make_shared<Partition>(std::vector<std::string>{"", "m"});
  const PartitionRef three_ = std::make_shared<Partition>(std::vector<std::string>{"", "m", "x"});
};

TEST_F(HistoryTest, KeepsSecondsMinutesAndQuartersAcrossRestarts) {
  for (int second = 0; second < 120; ++second) Append(second, two_, {1, 2});
  Append(1000, two_, {5, 0});
  const auto check = [&] {
    EXPECT_THAT(Read(0, 0, 2), ElementsAre("0: 1 m2", "1: 1 m2"));
    EXPECT_THAT(Read(1, 0, 10'000), ElementsAre("0: 60 m120", "60: 60 m120", "960: 5 m0"));
    EXPECT_THAT(Read(2, 0, 10'000), ElementsAre("0: 120 m240", "900: 5 m0"));
  };
  check();
  Reopen();
  check();
  // A quarter that was begun before the restart has two columns, to be added up.
  Append(1001, two_, {1, 0});
  EXPECT_THAT(Read(2, 900, 10'000), ElementsAre("900: 5 m0", "900: 1 m0"));
}

TEST_F(HistoryTest, EachColumnHasThePartitionOfItsTime) {
  Append(0, two_, {1, 2});
  Append(1, three_, {3, 4, 5});
  Append(2, two_, {6, 7});
  EXPECT_THAT(Read(0, 0, 9), ElementsAre("0: 1 m2", "1: 3 m4 x5", "2: 6 m7"));
  EXPECT_THAT(Read(1, 0, 9), ElementsAre("0: 10 m18"));
}

TEST_F(HistoryTest, KeepsTheFactsOfEachTier) {
  for (int second = 0; second < 120; ++second) {
    ColumnFacts facts{.keys = 40, .ops = 100, .order = {1, 10, 9, 0}, .rows = {{"hot", 20, 1}}};
    if (second % 2 == 0) facts.rows.push_back({fmt::format("row{}", second), 2, 0});
    if (second == 70) facts.AddScan("report", 1, 5'000, 5'000);
    history_->Append({1, kStart + second, two_, {{.reads = 90}, {.writes = 10}}, std::move(facts)});
  }
  const auto check = [&] {
    for (size_t tier = 0; tier < kTiers.size(); ++tier) {
      ColumnFacts facts;
      int columns = 0;
      ASSERT_TRUE(history_
                      ->ReadFacts(tier, 1, kStart, kStart + 900,
                                  [&](int64_t, const ColumnFacts& column) {
                                    facts.Add(column);
                                    ++columns;
                                  })
                      .ok());
      facts.Trim();
      EXPECT_EQ(columns, std::vector<int>({120, 2, 1})[tier]);
      EXPECT_EQ(facts.keys, 40);
      EXPECT_EQ(facts.ops, 12'000);
      EXPECT_EQ(facts.order.above_all, 1'080);
      ASSERT_EQ(facts.rows.size(), 1) << tier;
      EXPECT_EQ(facts.rows[0].reads, 2'400);
      EXPECT_EQ(facts.rows[0].writes, 120);
      ASSERT_EQ(facts.scanners.size(), 1);
      EXPECT_EQ(facts.scanners[0].rows, 5'000);
    }
    EXPECT_THAT(*history_->ListTables(0, kStart, kStart + 900), ElementsAre(1));
    EXPECT_THAT(*history_->ListTables(0, kStart + 900, kStart + 1'800), ElementsAre());
    EXPECT_EQ((*history_->LastPartition(1, 1, kStart, kStart + 900))->starts(), two_->starts());
    EXPECT_EQ(*history_->LastPartition(1, 1, kStart + 900, kStart + 1'800), nullptr);
  };
  check();
  Reopen();
  check();
}

TEST_F(HistoryTest, TablesDoNotMix) {
  Append(0, two_, {1, 2}, 1);
  Append(0, two_, {3, 4}, 2);
  EXPECT_THAT(Read(0, 0, 9, 1), ElementsAre("0: 1 m2"));
  EXPECT_THAT(Read(0, 0, 9, 2), ElementsAre("0: 3 m4"));
  EXPECT_THAT(Read(0, 0, 9, 3), ElementsAre());
}

TEST_F(HistoryTest, WhatIsOldIsDeleted) {
  Append(0, two_, {1, 2});
  const auto files = [&] {
    return std::distance(std::filesystem::directory_iterator(directory_),
                         std::filesystem::directory_iterator());
  };
  history_->Expire(kStart + 3600);
  EXPECT_EQ(files(), 3);
  history_->Expire(kStart + 3600 + 601);
  EXPECT_EQ(files(), 2);
  history_->Expire(kStart + 2 * 24 * 3600);
  EXPECT_EQ(files(), 1);
  history_->Expire(kStart + 17 * 24 * 3600);
  EXPECT_EQ(files(), 0);
}

TEST_F(HistoryTest, ATornEndIsCutOff) {
  Append(0, two_, {1, 2});
  history_.reset();
  const std::filesystem::path file = directory_ / fmt::format("1s-{}.log", kStart);
  const auto whole = std::filesystem::file_size(file);
  for (uintmax_t size = 0; size <= whole; ++size) {
    std::filesystem::resize_file(file, size);
    Reopen();
    Append(1, two_, {3, 4});
    const std::vector<std::string> columns = Read(0, 0, 9);
    ASSERT_FALSE(columns.empty()) << size;
    EXPECT_EQ(columns.back(), "1: 3 m4") << size;
    EXPECT_EQ(columns.size(), size == whole ? 2 : 1) << size;
    history_.reset();
    std::filesystem::remove_all(directory_);
    Reopen();
    Append(0, two_, {1, 2});
    history_.reset();
  }
  Reopen();
}

TEST_F(HistoryTest, DamageIsNoCrash) {
  for (int second = 0; second < 20; ++second)
    second % 2 == 0 ? Append(second, two_, {1, 2}) : Append(second, three_, {1, 2, 3});
  history_.reset();
  const std::filesystem::path file = directory_ / fmt::format("1s-{}.log", kStart);
  const std::string whole = *ReadWholeFile(file);
  for (size_t at = 0; at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x41);
    std::ofstream(file, std::ios::binary) << damaged;
    Reopen();
    EXPECT_LT(Read(0, 0, 100).size(), 20) << at;
  }
}

}  // namespace
}  // namespace sonde
