#include "engine/rocks/settle/settling_schedule.h"

#include <gtest/gtest.h>

#include "engine/rocks/store/fragment_merge.h"

namespace sonde {
namespace {

TEST(SettlingSchedule, IsDueWhenTheHeadIsLargeOldOrHidesMuch) {
  const SettlingSchedule::Options options{.head_cells_min = 1000, .head_bytes_min = 1'000'000};
  const int64_t start = 1, minute = 60'000'000, hour = 60 * minute;
  const auto is_due = [&](HeadLoad load, uint64_t page_cells, int64_t age_micros, bool busy = false) {
    load.since_micros = start;
    return SettlingSchedule::IsDue(load, page_cells, start + age_micros, busy, options);
  };
  EXPECT_FALSE(SettlingSchedule::IsDue({}, 0, hour, /*busy=*/false, options)) << "nothing was written";
  EXPECT_FALSE(is_due({.cells = 999}, 0, minute));
  EXPECT_TRUE(is_due({.cells = 1000}, 0, minute));
  EXPECT_TRUE(is_due({.cells = 1, .bytes = 1'000'000}, 0, minute)) << "large values";
  EXPECT_FALSE(is_due({.cells = 1000}, 8008, minute)) << "less than an eighth";
  EXPECT_TRUE(is_due({.cells = 1001}, 8008, minute));
  EXPECT_FALSE(is_due({.cells = 3999}, 0, minute, /*busy=*/true));
  EXPECT_TRUE(is_due({.cells = 4000}, 0, minute, /*busy=*/true));
  EXPECT_TRUE(is_due({.cells = 1, .bytes = 1'000'000}, 0, minute, /*busy=*/true));
  constexpr uint64_t kLong = kCombinedBytesMax;
  EXPECT_TRUE(is_due({.cells = 1, .bytes = 2 * kLong, .long_bytes = kLong}, 1'000'000, minute));
  EXPECT_FALSE(is_due({.cells = 1, .bytes = kLong, .long_bytes = kLong - 1}, 1'000'000, minute));
  EXPECT_FALSE(is_due({.cells = 1, .bytes = 2 * kLong + 2, .long_bytes = kLong}, 1'000'000, minute))
      << "little of it is long";
  EXPECT_TRUE(is_due({.cells = 1, .bytes = 2 * kLong + 2, .long_bytes = kLong, .has_full_row = true},
                     1'000'000, minute));
  EXPECT_FALSE(is_due({.cells = 100}, 6400, hour - 1));
  EXPECT_TRUE(is_due({.cells = 100}, 6400, hour));
  EXPECT_FALSE(is_due({.cells = 99}, 6400, hour));
  EXPECT_TRUE(is_due({.cells = 1}, 1'000'000, 24 * hour));
  EXPECT_FALSE(is_due({.cells = 1, .deletes = 9'999}, 1'000'000, minute));
  EXPECT_TRUE(is_due({.cells = 1, .deletes = 10'000}, 1'000'000, minute));
}

TEST(SettlingSchedule, IsDueEarlyWhenAReadHasMetALongEntry) {
  EXPECT_FALSE(SettlingSchedule::IsDueEarly({.cells = 10'000, .bytes = 10'000'000}));
  EXPECT_FALSE(SettlingSchedule::IsDueEarly({.longest_read_bytes = (256 << 10) - 1}));
  EXPECT_TRUE(SettlingSchedule::IsDueEarly({.longest_read_bytes = 256 << 10}));
}

}  // namespace
}  // namespace sonde
