#include "table/row_turns.h"

#include <gtest/gtest.h>

#include <future>

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
