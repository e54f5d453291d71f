// Slices by themselves, and logs that are read from an HBase in this process, which passes over nothing: all choice is the reader's.
#include "engine/hbase/log/log_reader.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <vector>

#include "absl/time/clock.h"
#include "base/random.h"
#include "hbase/fake_hbase_test_support.h"

namespace sonde {
namespace {

using hbase::FakeHBase;

absl::Time Soon() { return absl::Now() + absl::Seconds(60); }

TEST(LogSliceTest, KeepsTheFirstOfWhatThereIsRoomFor) {
  SeededRandom random(3);
  for (int round = 0; round < 200; ++round) {
    const LogPlace start{static_cast<int64_t>(random.Uniform(20)), 0}, end{60, 0};
    LogSlice slice(start, end, 1'000);
    std::map<LogPlace, std::string> all;
    for (int i = 0; i < 40; ++i) {
      const LogPlace place{static_cast<int64_t>(random.Uniform(80)),
                           static_cast<uint32_t>(random.Uniform(3))};
      const std::string bytes(random.Uniform(300), 'x');
      if (!all.contains(place)) slice.Add(place, bytes);
      if (place >= start && place < end) all.try_emplace(place, bytes);
    }
    // All there is before the end, which is the first place that had no room.
    std::map<LogPlace, std::string> wanted(all.begin(), all.lower_bound(slice.end()));
    EXPECT_EQ(slice.pieces(), wanted);
    EXPECT_TRUE(slice.bytes() <= 1'000 || slice.pieces().size() == 1);
    EXPECT_TRUE(slice.end() == end || all.contains(slice.end()));
  }
}

class LogReaderTest : public testing::Test {
 protected:
  void Put(const std::string& row, int64_t position, const std::vector<std::string>& pieces) {
    hbase::RowChange change{.row = row};
    std::deque<std::string> bytes;
    PutRecord({.pieces = pieces}, position, &change, &bytes);
    ASSERT_TRUE(client_->rows()->Apply(FakeHBase::kTableName, {&change, 1}, Soon())[0].ok());
    for (uint32_t i = 0; i < pieces.size(); ++i) all_[{position, i}] = pieces[i];
  }

  FakeHBase hbase_;
  std::unique_ptr<hbase::Client> client_ =
      *hbase::Client::Create({.roots = hbase_.roots(), .timeout = absl::Seconds(2)});
  std::map<LogPlace, std::string> all_;
};

TEST_F(LogReaderTest, GivesRecordsInTheOrderOfPositions) {
  hbase_.Split("row5", 1);
  hbase_.SetCellsOfPart(20);
  SeededRandom random(5);
  constexpr int64_t kStart = 1'700'000'000'000'000;
  int64_t position = kStart;
  for (int i = 0; i < 100; ++i) {
    // Now and then nothing happens for a long time.
    position += 1 + static_cast<int64_t>(random.Uniform(random.Uniform(20) == 0 ? 40'000'000'000 : 1'000));
    std::vector<std::string> pieces;
    for (uint64_t n = random.Uniform(3); n != UINT64_MAX; --n)
      pieces.push_back(std::string(random.Uniform(60), 'p'));
    Put(fmt::format("row{}", random.Uniform(10)), position, pieces);
  }
  for (const size_t slice_bytes : {size_t{400}, size_t{5'000}, kLogSliceBytesMax}) {
    LogReader reader(client_.get(), slice_bytes);
    for (int round = 0; round < 4; ++round) {
      // From anywhere to anywhere, with a stop now and then, as readers do.
      LogPlace at{round == 0 ? 0 : kStart + static_cast<int64_t>(random.Uniform(position - kStart)), 0};
      const int64_t through =
          round == 0 ? INT64_MAX
                     : at.position + static_cast<int64_t>(random.Uniform(position - at.position + 5));
      auto wanted = all_.lower_bound(at);
      bool stopped = true;
      while (stopped) {
        stopped = false;
        const absl::Status status = reader.Read(
            FakeHBase::kTableName, RowRange::All(), at, through, position,
            [&](const RowLog::Piece& piece) {
              EXPECT_NE(wanted, all_.end());
              if (wanted == all_.end()) return false;
              EXPECT_EQ(piece.position, wanted->first.position);
              EXPECT_EQ(piece.index, wanted->first.index);
              EXPECT_EQ(piece.bytes, wanted->second);
              ++wanted;
              at = {piece.position, piece.index + 1};
              stopped = random.Uniform(8) == 0;
              return !stopped;
            },
            Soon());
        ASSERT_TRUE(status.ok()) << status;
        if (HasFailure()) return;
      }
      EXPECT_TRUE(wanted == all_.end() || wanted->first.position > through);
    }
  }
}

TEST_F(LogReaderTest, WhatIsLeftOfASliceIsReadOnce) {
  for (int i = 0; i < 100; ++i) Put(fmt::format("row{}", i % 7), 1'000 + i, {"piece"});
  LogReader reader(client_.get());
  LogPlace at{0, 0};
  int pieces = 0;
  const auto one = [&](const RowLog::Piece& piece) {
    at = {piece.position + 1, 0};
    ++pieces;
    return false;
  };
  for (int i = 0; i < 100; ++i)
    ASSERT_TRUE(reader.Read(FakeHBase::kTableName, RowRange::All(), at, 5'000, 5'000, one, Soon()).ok());
  EXPECT_EQ(pieces, 100);
  EXPECT_LE(reader.slices(), 2u);
  // What is above the frontier may get company.
  LogReader other(client_.get());
  for (int i = 0; i < 5; ++i) {
    at = {0, 0};
    ASSERT_TRUE(other.Read(FakeHBase::kTableName, RowRange::All(), at, 5'000, 1'050, one, Soon()).ok());
  }
  EXPECT_EQ(other.slices(), 5u);
}

TEST_F(LogReaderTest, ReadsThroughFaults) {
  hbase_.Split("row3", 1);
  for (int i = 0; i < 200; ++i) Put(fmt::format("row{}", i % 6), 1'000 + i, {"piece"});
  hbase_.SetFaults({.lost_calls = 30, .lost_answers = 30, .refusals = 30, .moves = 30});
  LogReader reader(client_.get(), 2'000);
  int64_t last = 0;
  int count = 0;
  const absl::Status status = reader.Read(
      FakeHBase::kTableName, RowRange::All(), {0, 0}, 5'000, 5'000,
      [&](const RowLog::Piece& piece) {
        EXPECT_GT(piece.position, last);
        last = piece.position;
        ++count;
        return true;
      },
      Soon());
  EXPECT_TRUE(status.ok()) << status;
  EXPECT_EQ(count, 200);
}

}  // namespace
}  // namespace sonde
