#include "table/row_turns.h"

#include <gtest/gtest.h>

#include <future>
#include <numeric>
#include <string>
#include <thread>

namespace sonde {
namespace {

constexpr int64_t kNow = 1'600'000'000'000'000;
constexpr TableId kTable = 1;

TEST(RowTurnsTest, TimeDoesNotGoBackForARow) {
  ManualClock clock(kNow);
  RowTurns turns(&clock);
  EXPECT_EQ(RowTurn(&turns, kTable, "a").now_micros(), kNow);
  clock.Advance(-5'000'000);
  EXPECT_EQ(RowTurn(&turns, kTable, "a").now_micros(), kNow);
  clock.Set(kNow + 1);
  EXPECT_EQ(RowTurn(&turns, kTable, "a").now_micros(), kNow + 1);
}

TEST(RowTurnsTest, RowsMayRepeat) {
  ManualClock clock(kNow);
  RowTurns turns(&clock);
  const std::vector<std::string_view> rows = {"b", "a", "b", "a"};
  EXPECT_EQ(RowTurn(&turns, kTable, rows).now_micros(), kNow);
  EXPECT_EQ(RowTurn(&turns, kTable, absl::Span<const std::string_view>()).now_micros(), kNow);
}

TEST(RowTurnsTest, WhoDoesNotWaitTakesWhatNobodyHas) {
  ManualClock clock(kNow);
  RowTurns turns(&clock);
  {
    const RowTurn turn(&turns, kTable, "a");
    RowTurnsNow now(&turns, kTable);
    EXPECT_FALSE(now.Take("a"));
    EXPECT_TRUE(now.Take("b"));
    EXPECT_TRUE(now.Take("b")) << "it has the turn already";
    EXPECT_FALSE(RowTurnsNow(&turns, kTable).Take("b"));
    EXPECT_TRUE(RowTurnsNow(&turns, kTable + 1).Take("a"));
  }
  EXPECT_TRUE(RowTurnsNow(&turns, kTable).Take("a"));
  EXPECT_TRUE(RowTurnsNow(&turns, kTable).Take("b"));
}

TEST(RowTurnsTest, WhoDoesNotWaitTakesNoTurnOfALaterTime) {
  ManualClock clock(kNow);
  RowTurns turns(&clock);
  {
    const RowTurn turn(&turns, kTable, "a");
  }
  clock.Advance(-1);
  EXPECT_FALSE(RowTurnsNow(&turns, kTable).Take("a"));
  clock.Advance(1);
  EXPECT_TRUE(RowTurnsNow(&turns, kTable).Take("a"));
}

// So many rows that any two requests would share a stripe of a lock.
TEST(RowTurnsTest, RowsOfOthersAreNotWaitedFor) {
  ManualClock clock(kNow);
  RowTurns turns(&clock);
  std::vector<std::string> keys;
  for (int i = 0; i < 100'000; ++i) keys.push_back(std::to_string(i));
  const std::vector<std::string_view> rows(keys.begin(), keys.end());
  const absl::Span<const std::string_view> all(rows);
  const RowTurn first(&turns, kTable, all.subspan(0, 50'000));
  auto second = std::async(std::launch::async, [&] {
    {
      const RowTurn others(&turns, kTable, all.subspan(50'000));
    }
    const RowTurn of_another_table(&turns, kTable + 1, all);
  });
  EXPECT_EQ(second.wait_for(std::chrono::seconds(60)), std::future_status::ready);
}

TEST(RowTurnsTest, EveryoneHasTurnsInTheEnd) {
  constexpr int kThreads = 8, kRounds = 2'000;
  ManualClock clock(kNow);
  RowTurns turns(&clock);
  const std::vector<std::string_view> keys = {"a", "b", "c", "d", "e"};
  std::vector<int64_t> counts(keys.size());  // guarded by the turns of the keys
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < kRounds; ++i) {
        const size_t one = (t + i) % keys.size(), other = (t * 3 + i * 7) % keys.size();
        const std::vector<std::string_view> rows = {keys[one], keys[other]};
        const RowTurn turn(&turns, kTable, rows);
        ++counts[one];
        if (other != one) ++counts[other];
      }
    });
  }
  int64_t expected = 0;
  for (int t = 0; t < kThreads; ++t) {
    for (int i = 0; i < kRounds; ++i) {
      expected += (t + i) % keys.size() == (t * 3 + i * 7) % keys.size() ? 1 : 2;
    }
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), int64_t{0}), expected);
}

TEST(RowTurnsTest, ATurnWaitsForThatOfItsRow) {
  ManualClock clock(kNow);
  RowTurns turns(&clock);
  std::future<int64_t> second;
  {
    const RowTurn first(&turns, kTable, "a");
    second = std::async(std::launch::async, [&] { return RowTurn(&turns, kTable, "a").now_micros(); });
    EXPECT_EQ(second.wait_for(std::chrono::milliseconds(20)), std::future_status::timeout);
  }
  EXPECT_EQ(second.get(), kNow);
}

}  // namespace
}  // namespace sonde
