#include "work/at_once.h"

#include <gtest/gtest.h>

#include <atomic>
#include <vector>

namespace sonde {
namespace {

TEST(ForEachAtOnce, DoesEachOnce) {
  for (const size_t count : {0, 1, 2, 7, 1'000}) {
    std::vector<std::atomic<int>> calls(count);
    ForEachAtOnce(count, 8, [&](size_t i) { ++calls[i]; });
    for (const std::atomic<int>& one : calls) EXPECT_EQ(one, 1);
  }
}

TEST(ForEachAtOnce, IsSeveralAtOnceAndNoMore) {
  std::atomic<int> now = 0, most = 0;
  ForEachAtOnce(12, 3, [&](size_t i) {
    const int mine = ++now;
    for (int seen = most; seen < mine && !most.compare_exchange_weak(seen, mine);) continue;
    while (i < 3 && most < 3) continue;  // the first three wait for each other
    --now;
  });
  EXPECT_EQ(most, 3);
}

}  // namespace
}  // namespace sonde
