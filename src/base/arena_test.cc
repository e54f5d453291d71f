#include "base/arena.h"

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>

namespace sonde {
namespace {

TEST(Arena, GivesMemoryThatStaysUntilItIsCleared) {
  Arena arena;
  std::string_view first = arena.Copy("first");
  for (int i = 0; i < 10'000; ++i) {
    int64_t* const numbers = arena.New<int64_t>(i % 100);
    for (int k = 0; k < i % 100; ++k) numbers[k] = i;
    EXPECT_EQ(reinterpret_cast<uintptr_t>(numbers) % alignof(std::max_align_t), 0u);
  }
  EXPECT_EQ(first, "first");
  EXPECT_GE(arena.UsedBytes(), 10'000u * 49 * 8);
  EXPECT_LE(arena.UsedBytes(), arena.MemoryBytes());
}

// Or else a batch that is bounded by what it has used would never begin again.
TEST(Arena, HasUsedNothingOnceItIsCleared) {
  Arena arena;
  for (int i = 0; i < 2'000; ++i) arena.Copy(std::string(1'000, 'x'));
  arena.Clear();
  EXPECT_EQ(arena.UsedBytes(), 0u);
  EXPECT_GT(arena.MemoryBytes(), 0u);
  arena.Copy("x");
  EXPECT_GT(arena.UsedBytes(), 0u);
  EXPECT_LT(arena.UsedBytes(), 1'000u);
}

TEST(Arena, GivesBackWhatIsLarge) {
  Arena arena;
  arena.Copy(std::string(8 << 20, 'x'));
  arena.Clear();
  EXPECT_EQ(arena.MemoryBytes(), 0u);
  EXPECT_EQ(arena.Copy("x"), "x");
}

TEST(Arena, MovesWithWhatItGave) {
  Arena arena;
  const std::string_view text = arena.Copy("text");
  Arena other = std::move(arena);
  EXPECT_EQ(text, "text");
  EXPECT_EQ(arena.Copy("again"), "again");  // NOLINT(bugprone-use-after-move): it is empty, and goes on
  EXPECT_EQ(other.Copy("more"), "more");
  EXPECT_EQ(text, "text");
}

}  // namespace
}  // namespace sonde
