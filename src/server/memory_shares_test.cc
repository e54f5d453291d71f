#include "server/memory_shares.h"

#include <gtest/gtest.h>

#include <atomic>

#include "absl/time/clock.h"
#include "absl/time/time.h"

namespace sonde {
namespace {

constexpr int64_t kMiB = 1 << 20;

TEST(MemoryShares, TheCacheHasHalfUntilOthersNeedThat) {
  for (const int64_t memory : {64 * kMiB, 1024 * kMiB, 65'536 * kMiB}) {
    EXPECT_EQ(CacheShare(memory, 0, 0), memory / 2);
    EXPECT_EQ(CacheShare(memory, memory / 4, memory / 4), memory / 2);
    for (int64_t taken = 0; taken <= memory * 13 / 16; taken += memory / 16) {
      EXPECT_LE(CacheShare(memory, taken, 0) + taken, memory) << taken;  // and it gives way beforehand
      EXPECT_LE(CacheShare(memory, 0, taken) + taken, memory) << taken;  // to what nobody has announced, too
    }
    EXPECT_EQ(CacheShare(memory, memory, memory), memory / 16);
  }
}

TEST(MemoryKeeper, TellsTheCacheWhenSomethingLargeHasItsPlace) {
  MemoryKeeper keeper(256 * kMiB);
  std::atomic<int64_t> cache_max = 0;
  keeper.Start({.small_bytes = [] { return 16 * kMiB; },
                .cache_bytes = [] { return int64_t{0}; },
                .set_cache_max = [&](int64_t bytes) { cache_max = bytes; }});
  EXPECT_EQ(cache_max, 128 * kMiB);
  {
    absl::StatusOr<LargeRoom::Place> place = keeper.room()->Take("A value", 150 * kMiB);
    ASSERT_TRUE(place.ok()) << place.status();
    EXPECT_LE(cache_max, 80 * kMiB);
  }
  EXPECT_GT(cache_max, 100 * kMiB);
  keeper.Stop();
}

TEST(MemoryKeeper, TheCacheGivesWayToWhatNobodyHasAnnounced) {
  std::atomic<int64_t> taken = 150 * kMiB, cached = 60 * kMiB;
  std::atomic<int64_t> cache_max = 0;
  MemoryKeeper keeper(256 * kMiB);
  keeper.Start({.small_bytes = [] { return int64_t{0}; },
                .cache_bytes = [&] { return cached.load(); },
                .allocator_bytes = [&] { return AllocatorBytes{taken + cached, taken + cached}; },
                .set_cache_max = [&](int64_t bytes) { cache_max = bytes; }});
  const auto comes_to = [&](int64_t bytes) {
    for (int i = 0; i < 1'000 && cache_max != bytes; ++i) absl::SleepFor(absl::Milliseconds(10));
    return cache_max == bytes;
  };
  EXPECT_TRUE(comes_to(90 * kMiB)) << cache_max;
  taken = 220 * kMiB;
  EXPECT_TRUE(comes_to(20 * kMiB)) << cache_max;
  keeper.Stop();
}

}  // namespace
}  // namespace sonde
